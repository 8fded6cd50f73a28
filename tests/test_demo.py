"""The demo: run as a person runs it, its claims read from what it prints and from its page."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "digits"
MODES = {"eager", "region", "lazy", "compiled"}
COLUMNS = ["device", "mode", "graphs compiled", "kernels run", "peak kB", "median ms", "right"]
TEST_IMAGES = 360


class Page(HTMLParser):
    """What the tests look at: images, their captions, drawings, and everything that is fetched."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.images: list[str] = []
        self.captions: list[str] = []
        self.drawings: list[str] = []
        self.addresses: list[str] = []
        self.tags: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        self._inside.append(tag)
        if tag == "img":
            self.images.append(given["alt"])
            self._inside.pop()
        if tag == "svg":
            self.drawings.append("")
        self.addresses += [given[name] for name in ("src", "href", "srcset") if name in given]

    def handle_endtag(self, tag):
        if tag in self._inside:
            while self._inside.pop() != tag:
                pass

    def handle_data(self, data):
        if "figcaption" in self._inside:
            self.captions.append(data)
        if "svg" in self._inside:
            self.drawings[-1] += data + "\n"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo prints and the page it writes, from one run in an empty folder."""
    folder = tmp_path_factory.mktemp("demo")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REALTA_")}
    done = subprocess.run(
        [sys.executable, str(DEMO / "demo.py")],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, (folder / "demo.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def table(demo):
    """The printed table, a dict for each row."""
    lines = iter(demo[0].splitlines())
    for line in lines:
        if re.split(r"  +", line.strip()) == COLUMNS:
            break
    rows = []
    for line in lines:
        cells = line.split()
        if len(cells) != len(COLUMNS):
            break
        rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def test_every_mode_runs_on_every_device_present(table):
    devices = {row["device"] for row in table}
    assert {"numpy:0", "reference:0"} <= devices
    for device in devices:
        assert {row["mode"] for row in table if row["device"] == device} == MODES


def test_lazy_construction_allocates_nothing(demo, table):
    for device in {row["device"] for row in table}:
        found = re.search(
            rf"^{device}: built lazily, (\d+) parameters unrealized, (\d+) bytes allocated$",
            demo[0],
            re.MULTILINE,
        )
        assert found is not None
        assert found.groups() == ("6", "0")


def test_every_mode_is_right_in_97_percent(table):
    assert all(float(row["right"].rstrip("%")) >= 97.0 for row in table)


def test_fused_modes_run_fewer_kernels_where_there_is_fusion(table):
    kernels = {(row["device"], row["mode"]): int(row["kernels run"]) for row in table}
    compiled = {(row["device"], row["mode"]): int(row["graphs compiled"]) for row in table}
    for mode in ("region", "compiled"):
        assert kernels["numpy:0", mode] < kernels["numpy:0", "eager"]
        assert compiled["numpy:0", mode] == 1
    assert all(float(row["peak kB"]) > 0 for row in table)


def test_modes_are_checked_for_equal_bits(demo):
    assert "All modes gave the same bits." in demo[0]
    assert "fell back" not in demo[0]


def test_a_layer_is_explained(demo):
    _, _, explained = demo[0].partition("One layer on ")
    for op in ("permute", "matmul", "relu"):
        assert op in explained or {"matmul": "dot_general", "relu": "max"}.get(op, "") in explained
    assert "kernel" in explained


def test_the_page_shows_every_image_with_its_prediction(demo):
    page = Page(demo[1])
    assert len(page.images) == len(page.captions) == TEST_IMAGES
    wrong = [caption for caption in page.captions if "is" in caption]
    assert len(wrong) <= TEST_IMAGES * 0.03
    for alt, caption in zip(page.images, page.captions, strict=True):
        label = alt.removeprefix("the digit ")
        assert caption == label or caption.endswith(f"(is {label})")


def test_the_page_draws_the_graph_with_its_fusion_groups(demo):
    page = Page(demo[1])
    assert len(page.drawings) >= 2
    fused = next(d for d in page.drawings if "contraction" in d)
    assert re.search(r"^kernel 0: ", fused, re.MULTILINE)
    assert "dot_general" in fused or "matmul" in fused


def test_the_page_needs_no_network(demo):
    page = Page(demo[1])
    assert all(address.startswith("data:") for address in page.addresses)
    assert not {"script", "link", "iframe", "object", "embed"} & set(page.tags)
    assert "url(http" not in demo[1]
    assert "@import" not in demo[1]


def test_the_data_say_where_they_come_from():
    page = (DEMO / "data" / "README.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in page
    assert "make_digits.py" in page
    files = {path.name: path.stat().st_size for path in (DEMO / "data").glob("*.safetensors")}
    assert set(files) == {"digits_test.safetensors", "mlp.safetensors"}
    assert sum(files.values()) < 400_000
