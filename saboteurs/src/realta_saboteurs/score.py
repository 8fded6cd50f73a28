"""Score: the share of mutants that are caught, as text, as JSON and as a page of the docs.

It fails if the share is below 98 % or a survivor has no reason in ``survivors.toml``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from realta_saboteurs.contract_mutants import CONTRACT_MUTANTS
from realta_saboteurs.mutants import mutant_ids, summary, tells_of, tried

__all__ = ["page", "run"]

_WANTED: Final = 0.98
_SAMPLED: Final = 20


def page(found: dict[str, Any]) -> str:
    """The page of the docs that says how strong the suite is."""
    lines = [
        "# How strong the suite is",
        "",
        "A suite that passes everything is worth nothing, so this one is tested with backends that",
        "are wrong on purpose. Some are written by hand, each after a mistake that real compilers",
        "and drivers make; `nox -s saboteurs` shows that the declared checks fail, and no others.",
        "The others, *mutants*, are generated: every op of the registry that a backend sees, wrong",
        f"in every way that fits it, and {len(CONTRACT_MUTANTS)} ways in which methods of the",
        "contract go wrong. `nox -s mutants` tries all of them and writes this page.",
        "",
        f"**{found['caught']} of {found['mutants']} mutants are caught: {found['share']:.2%}.**",
        "",
        "| mutation | what goes wrong | mutants | caught |",
        "|---|---|--:|--:|",
    ]
    for name, counts in found["operators"].items():
        lines.append(f"| {name} | {tells_of(name)} | {counts['mutants']} | {counts['caught']} |")
    lines += ["", "## Survivors", "", "| mutant | why nothing catches it |", "|---|---|"]
    lines += [f"| `{name}` | {reason} |" for name, reason in found["survivors"].items()]
    return "\n".join(lines) + "\n"


def run(sample: bool, jobs: int, json_file: Path | None, page_file: Path | None) -> int:
    """Tries mutants and writes what was found; returns the exit code.

    Args:
        sample: every twentieth mutant only.
        jobs: processes to share the work.
        json_file: where to write the counts.
        page_file: where to write the page of the docs.
    """
    ids = mutant_ids()[:: _SAMPLED if sample else 1]
    found = summary(list(tried(ids, jobs)))
    out = sys.stdout
    for name, counts in found["operators"].items():
        out.write(f"{name:22} {counts['caught']:4} of {counts['mutants']:4}\n")
    for name, reason in found["survivors"].items():
        out.write(f"survives: {name}: {reason or 'nobody knows why'}\n")
    out.write(f"{found['caught']} of {found['mutants']} mutants are caught: {found['share']:.2%}\n")
    if json_file:
        json_file.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if page_file:
        page_file.write_text(page(found), "utf-8")
    unexplained = not all(found["survivors"].values())
    # A sample of forty cannot be held to a share: one known survivor is more than 2 % of it.
    return int(unexplained or (not sample and found["share"] < _WANTED))
