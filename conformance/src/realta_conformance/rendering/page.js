const box = document.getElementById("search");
box.addEventListener("input", () => {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of document.querySelectorAll("[data-text]")) {
    item.hidden = !words.every((word) => item.dataset.text.includes(word));
  }
  for (const part of document.querySelectorAll("section.level")) {
    part.hidden = !part.querySelector("[data-text]:not([hidden])");
  }
});
