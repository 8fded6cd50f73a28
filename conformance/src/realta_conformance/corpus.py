"""Corpus: faults that real tensor libraries have had, and the cases that would find them here."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Row", "corpus_rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """One fault.

    Args:
        id: its id in the corpus.
        trigger: what brings it about.
        right: the right result.
        ops: ops that it is about.
        cases: ids of cases, or of probes, that would find it; a ``*`` stands for anything.
        later: why there is no case yet, where there is none.
    """

    id: str
    trigger: str
    right: str
    ops: tuple[str, ...]
    cases: tuple[str, ...]
    later: str


@cache
def corpus_rows() -> tuple[Row, ...]:
    """The rows of ``corpus.toml``."""
    text = files("realta_conformance").joinpath("corpus.toml").read_text("utf-8")
    return tuple(
        Row(
            row["id"],
            row["trigger"],
            row["right"],
            tuple(row.get("ops", [])),
            tuple(row.get("cases", [])),
            row.get("later", ""),
        )
        for row in tomllib.loads(text)["row"]
    )
