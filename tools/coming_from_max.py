"""Coming from MAX: writes docs/howto/coming-from-max.md from the table of names beside it.

    python tools/coming_from_max.py [--check]

With ``--check`` it writes nothing and exits 1 if the page is stale.
"""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from realta import F

ROOT: Final = Path(__file__).resolve().parent.parent
NAMES: Final = ROOT / "docs" / "howto" / "coming-from-max.toml"
PAGE: Final = ROOT / "docs" / "howto" / "coming-from-max.md"
INTRO: Final = """<!-- Written by tools/coming_from_max.py; do not edit. -->
# Coming from MAX

`realta` has the names of MAX 26.7's `max.experimental`, with the same order of arguments. What
differs in a default or in a meaning is said here, name by name; where MAX departs from the array
API and from NumPy, those are followed.

```python
>>> import realta
>>> from realta import F, Tensor
>>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
>>> F.sum(x).item()
10.0
>>> F.sum(x, axis=-1, keepdims=True).tolist()  # what MAX's F.sum(x) gives
[[3.0], [7.0]]

```

These hold everywhere:

- Reductions reduce all axes unless told otherwise, and drop them.
- A store moves the handle to a new version; whoever read the old one keeps it.
- Arguments that MAX takes as enums are text.
- Functions that MAX has on one kind of device are on all of them.
- `out_dim=`, a name for an extent that depends on values, is `size=`, a number: the result is
  padded to it, and counted.
- Elementwise functions take their operands by place, not by keyword: `F.add(x, y)`.
- Operands promote and broadcast by the rules of [numerics](../spec/numerics.md).

"""
Entry = Mapping[str, str]


def read(path: Path = NAMES) -> dict[str, list[Entry]]:
    """The table: functions, members of tensors, layers."""
    found: dict[str, list[Entry]] = tomllib.loads(path.read_text(encoding="utf-8"))
    return found


def called(name: str) -> str:
    """A function of `F` with its arguments, without annotations."""
    expected = inspect.signature(getattr(F, name))
    plain = [p.replace(annotation=p.empty) for p in expected.parameters.values()]
    return f"F.{name}{inspect.Signature(plain)}"


def cell(text: str) -> str:
    """Text in a table."""
    return text.replace("|", "\\|")


def row(*cells: str) -> str:
    """A line of a table."""
    return "| " + " | ".join(map(cell, cells)) + " |"


def table(heads: tuple[str, ...], rows: list[str]) -> list[str]:
    """A table's lines."""
    return [row(*heads), "|" + "---|" * len(heads), *rows, ""]


def functions(entries: list[Entry]) -> list[str]:
    """The section of functions."""
    present = [e for e in entries if "absent" not in e]
    absent = [e for e in entries if "absent" in e]
    lines = [
        "## Functions\n",
        f"Of the {len(entries)} names of MAX's `F`, {len(present)} are here.\n",
    ]
    rows = [row(f"`{called(e['name'])}`", e.get("differs", "")) for e in present]
    lines += table(("function", "differs from MAX"), rows)
    lines.append("### Functions that are absent\n")
    return lines + table(
        ("MAX", "of", "why"), [row(f"`F.{e['name']}`", e["absent"], e["why"]) for e in absent]
    )


def others(title: str, entries: list[Entry]) -> list[str]:
    """A section of names that are here under the same or another name, or not at all."""
    rows = [
        row(
            f"`{e['name']}`",
            f"`{e['here']}`" if "here" in e else "absent",
            e.get("differs", e.get("why", "")),
        )
        for e in entries
    ]
    return [f"## {title}\n", *table(("MAX", "here", "differs, or why it is absent"), rows)]


def page() -> str:
    """The whole page."""
    found = read()
    lines = [
        *functions(found["function"]),
        *others("Tensors", found["member"]),
        *others("Layers", found["layer"]),
    ]
    return INTRO + "\n".join(lines).rstrip() + "\n"


def main(arguments: list[str]) -> int:
    """Writes the page, or only says that it is stale."""
    text = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in arguments:
        print(f"stale: {PAGE.relative_to(ROOT)}; run: python tools/coming_from_max.py")
        return 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
