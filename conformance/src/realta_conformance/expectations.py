"""Expectations: the failures that a backend declares, by op, dtype and check, each with its reason.

They live with the backend, in ``conformance.toml``, and are strict both ways: a failure that is not
declared fails the run, and so does a declaration that nothing fails any more.

::

    [[expect]]
    op = "exp"  # or "*"
    dtype = "float16"  # or "*"
    check = "values"  # a check of the report
    level = "math"  # may be left out
    reason = "the vendor's exp is off by 4 ulp; their ticket 123"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from realta.errors import ArgumentError

from realta_conformance.outcome import CHECKS, Outcome

__all__ = ["Expectation", "apply", "read"]

_REQUIRED: Final = ("op", "dtype", "check", "reason")
_KNOWN: Final = frozenset({*_REQUIRED, "level"})


@dataclass(frozen=True, slots=True)
class Expectation:
    """One declared failure.

    Args:
        op: op or probe it is about; ``*`` for all.
        dtype: name of a dtype; ``*`` for all.
        check: the check that fails.
        reason: why.
        level: its level; empty for all.
        line: number of the entry in its file, for messages.
    """

    op: str
    dtype: str
    check: str
    reason: str
    level: str = ""
    line: int = 0

    def covers(self, outcome: Outcome) -> bool:
        """Whether it is about this outcome."""
        return (
            self.op in ("*", outcome.op)
            and self.dtype in ("*", outcome.dtype)
            and self.check == outcome.check
            and self.level in ("", outcome.level)
        )

    def __str__(self) -> str:
        return f"{self.op} × {self.dtype} × {self.check}"


def read(path: Path) -> tuple[Expectation, ...]:
    """The expectations of a file.

    Raises:
        ArgumentError: the file is missing, is no TOML, or an entry lacks a field or has an unknown
            one.
    """
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("expect", [])
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be read: {error}", fix="give the path of a file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(f"{path} is no TOML: {error}", fix="mend the line it names") from None
    return tuple(_entry(path, n, entry) for n, entry in enumerate(entries, 1))


def _entry(path: Path, number: int, entry: dict[str, Any]) -> Expectation:
    where = f"{path}, entry {number}"
    missing = [name for name in _REQUIRED if not str(entry.get(name, "")).strip()]
    if missing:
        raise ArgumentError(
            f"an expectation has no {missing[0]}", where=where,
            fix=f"give {', '.join(_REQUIRED)}; every declared failure has a reason",
        )  # fmt: skip
    unknown = sorted(set(entry) - _KNOWN)
    if unknown:
        raise ArgumentError(
            f"an expectation has an unknown field {unknown[0]!r}", where=where,
            fix=f"the fields are {', '.join(sorted(_KNOWN))}",
        )  # fmt: skip
    if entry["check"] not in CHECKS:
        raise ArgumentError(
            f"there is no check {entry['check']!r}", where=where,
            fix=f"use one of {', '.join(CHECKS)}",
        )  # fmt: skip
    return Expectation(
        str(entry["op"]), str(entry["dtype"]), str(entry["check"]), str(entry["reason"]),
        str(entry.get("level", "")), number,
    )  # fmt: skip


def apply(
    outcomes: Iterable[Outcome], expectations: Iterable[Expectation]
) -> tuple[list[Outcome], list[Expectation]]:
    """Turns declared failures into declared outcomes.

    Returns:
        The outcomes, and the expectations that are stale: what they are about ran, and nothing
        failed.
    """
    given = list(expectations)
    used: set[int] = set()
    ran: set[int] = set()
    found: list[Outcome] = []
    for outcome in outcomes:
        if outcome.kind == "failed":
            match = next((n for n, e in enumerate(given) if e.covers(outcome)), None)
            if match is not None:
                used.add(match)
                outcome = replace(
                    outcome, kind="declared", reason=f"{given[match].reason} [{outcome.reason}]"
                )
        for n, expectation in enumerate(given):
            about = expectation.op in ("*", outcome.op) and expectation.dtype in (
                "*",
                outcome.dtype,
            )
            if about and expectation.level in ("", outcome.level) and outcome.kind != "blocked":
                ran.add(n)
        found.append(outcome)
    return found, [e for n, e in enumerate(given) if n in ran and n not in used]
