"""Site twins: beside each page of the site its Markdown, and `llms.txt`, which lists them.

A hook of mkdocs. The page at `explain/fusion/` has its twin at `explain/fusion.md`. Where a page
takes docstrings in (`::: name`), the twin holds them.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["index", "on_post_build", "summary", "twin"]

_DIRECTIVE = re.compile(r"^::: ([\w.]+)\n((?: {4}.*\n|\n(?= {4}))*)", re.MULTILINE)


def on_post_build(config: Any) -> None:
    """Writes the twins and the index into the built site."""
    source, site = Path(config["docs_dir"]), Path(config["site_dir"])
    for _, _, name in _pages(config["nav"]):
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(twin((source / name).read_text(encoding="utf-8")), encoding="utf-8")
    (site / "llms.txt").write_text(index(config), encoding="utf-8")


def index(config: Mapping[str, Any]) -> str:
    """The text of llms.txt: the parts of the site, each with its pages and first sentences."""
    base = config.get("site_url") or ""
    lines = [f"# {config['site_name']}", "", f"> {config['site_description']}."]
    last = None
    for part, title, name in _pages(config["nav"]):
        if part != last:
            lines += ["", f"## {part}", ""]
            last = part
        text = (Path(config["docs_dir"]) / name).read_text(encoding="utf-8")
        lines.append(f"- [{title}]({base}{name}): {summary(text)}")
    return "\n".join(lines) + "\n"


def summary(text: str) -> str:
    """The first sentence of a page, without links and on one line."""
    plain = re.sub(r"<!--.*?-->|^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    paragraphs = (p.strip() for p in plain.split("\n\n"))
    first = next((p for p in paragraphs if p and p[0] not in "#|-:"), "")
    first = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(first.split()))
    return re.split(r"(?<=[.:]) (?=[A-Z`])", first)[0].removesuffix(":")


def twin(text: str) -> str:
    """A page's Markdown, with docstrings in the place of what takes them in."""
    return (
        _DIRECTIVE.sub(lambda found: _documented(found[1], found[2]), text + "\n").rstrip() + "\n"
    )


def _documented(name: str, options: str) -> str:
    """Signature and docstring of a thing, and of a class's public members."""
    thing = pkgutil.resolve_name(name)
    label = re.search(r"toc_label: (\S+)", options)
    parts = [_entry(label[1] if label else name, thing)]
    if inspect.isclass(thing) and "members: false" not in options:
        for member, value in inspect.getmembers(thing):
            if not member.startswith("_") and inspect.getdoc(value) and callable(value):
                parts.append(_entry(member, value))
    return "\n".join(parts)


def _entry(name: str, thing: Any) -> str:
    try:
        signature = str(inspect.signature(thing))
    except (TypeError, ValueError):
        signature = ""
    doc = inspect.getdoc(thing) or ""
    return f"```text\n{name}{signature}\n```\n\n{doc}\n"


def _pages(nav: Sequence[Any], part: str = "Start") -> Iterator[tuple[str, str, str]]:
    """Part, title and file of each page."""
    for entry in nav:
        for title, target in entry.items():
            if isinstance(target, str):
                yield part, title, target
            else:
                yield from _pages(target, title)
