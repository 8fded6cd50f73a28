"""Expectations: the failures that a backend declares, by op, dtype and check, each with its reason.

They live with the backend, in ``conformance.toml``, and are strict both ways: a failure that is not
declared fails the run, and so does a declaration of which every case ran and none failed.

::

    [[expect]]
    op = "exp"  # or "*"
    dtype = "float16"  # or "*"
    check = "values"  # a check of the report; a crash and a hang are checks of their own
    reason = "the vendor's exp is off by 4 ulp"
    level = "math"  # may be left out, as all below
    outcome = "fail"  # or "crash", "hang", "flaky"; flaky needs a link
    link = "https://example.org/tickets/123"
    until = "0.3"  # the version of the suite that does not accept the entry any more
    when = { device = "acme:*", driver = "acme-2.*", os = "linux" }  # patterns, all must match
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from realta.errors import ArgumentError

from realta_conformance.device import Description
from realta_conformance.outcome import CHECKS, Outcome
from realta_conformance.units import Unit, singled_out
from realta_conformance.versions import SUITE, at_least

__all__ = ["Expectation", "Usage", "apply", "in_force", "isolated", "read"]

_REQUIRED: Final = ("op", "dtype", "check", "reason")
_OPTIONAL: Final = ("level", "outcome", "link", "until", "when")
_OUTCOMES: Final = ("fail", "crash", "hang", "flaky")
_CONDITIONS: Final = ("device", "driver", "os")
_RAN: Final = ("passed", "failed")


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
        outcome: ``fail``, ``crash``, ``hang``, or ``flaky`` for what fails now and then.
        link: where it is being dealt with.
        until: the version of the suite from which it is not accepted any more.
        when: patterns for ``device``, ``driver`` (the fingerprint) and ``os``; pairs.
    """

    op: str
    dtype: str
    check: str
    reason: str
    level: str = ""
    line: int = 0
    outcome: str = "fail"
    link: str = ""
    until: str = ""
    when: tuple[tuple[str, str], ...] = ()

    def about(self, level: str, op: str, dtype: str) -> bool:
        """Whether it is about an op and a dtype at a level."""
        right = self.op in ("*", op) and self.dtype in ("*", dtype)
        return right and self.level in ("", level)

    def covers(self, outcome: Outcome) -> bool:
        """Whether it is about this outcome."""
        about = self.about(outcome.level, outcome.op, outcome.dtype)
        return about and self.check == outcome.check

    def holds_on(self, device: Description) -> bool:
        """Whether it is in force on a device."""
        names = {
            "device": (device.name, device.info.name),
            "driver": (device.fingerprint,),
            "os": (sys.platform,),
        }
        return all(any(fnmatchcase(n, pattern) for n in names[key]) for key, pattern in self.when)

    @property
    def expired(self) -> bool:
        """Whether this version of the suite does not accept it any more."""
        return bool(self.until) and at_least(SUITE, self.until)

    def __str__(self) -> str:
        return f"{self.op} × {self.dtype} × {self.check}"


@dataclass(slots=True)
class Usage:
    """What became of an expectation in a run.

    Args:
        expectation: the expectation.
        ran: whether something that it is about ran.
        met: whether something failed as it says.
    """

    expectation: Expectation
    ran: bool = field(default=False)
    met: bool = field(default=False)

    @property
    def stale(self) -> bool:
        """Whether it ran and nothing failed; what is flaky may pass."""
        return self.ran and not self.met and self.expectation.outcome != "flaky"


def read(path: Path) -> tuple[Expectation, ...]:
    """The expectations of a file.

    Raises:
        ArgumentError: the file is missing, is no TOML, an entry lacks a field, has an unknown one
            or one that has expired.
    """
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("expect", [])
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be read: {error}", fix="give the path of a file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ArgumentError(f"{path} is no TOML: {error}", fix="mend the line it names") from None
    return tuple(_entry(f"{path}, entry {n}", n, entry) for n, entry in enumerate(entries, 1))


def _entry(where: str, number: int, entry: dict[str, Any]) -> Expectation:
    outcome = str(entry.get("outcome", "fail"))
    if outcome in CHECKS:  # a crash and a hang are checks of their own
        entry = {"check": outcome, **entry}
    missing = [name for name in _REQUIRED if not str(entry.get(name, "")).strip()]
    if missing:
        raise ArgumentError(
            f"an expectation has no {missing[0]}", where=where,
            fix=f"give {', '.join(_REQUIRED)}; every declared failure has a reason",
        )  # fmt: skip
    unknown = sorted(set(entry) - {*_REQUIRED, *_OPTIONAL})
    if unknown:
        raise ArgumentError(
            f"an expectation has an unknown field {unknown[0]!r}", where=where,
            fix=f"the fields are {', '.join((*_REQUIRED, *_OPTIONAL))}",
        )  # fmt: skip
    when = entry.get("when", {})
    found = Expectation(
        str(entry["op"]), str(entry["dtype"]), str(entry["check"]), str(entry["reason"]),
        str(entry.get("level", "")), number, outcome, str(entry.get("link", "")),
        str(entry.get("until", "")),
        tuple(sorted((k, str(v)) for k, v in when.items())) if isinstance(when, dict) else (),
    )  # fmt: skip
    _check_entry(found, where, when)
    return found


def _check_entry(entry: Expectation, where: str, when: object) -> None:
    """Refuses what no run could make sense of."""
    if entry.check not in CHECKS:
        raise ArgumentError(
            f"there is no check {entry.check!r}", where=where,
            fix=f"use one of {', '.join(CHECKS)}",
        )  # fmt: skip
    if entry.outcome not in _OUTCOMES:
        raise ArgumentError(
            f"there is no outcome {entry.outcome!r}", where=where,
            fix=f"use one of {', '.join(_OUTCOMES)}",
        )  # fmt: skip
    if entry.outcome == "flaky" and not entry.link:
        raise ArgumentError(
            "a flaky expectation has no link", where=where,
            fix="link to where it is being dealt with; what is flaky is a fault all the same",
        )  # fmt: skip
    if not isinstance(when, dict) or set(when) - set(_CONDITIONS):
        raise ArgumentError(
            f"`when` is {when!r}", where=where,
            fix=f"give a table of patterns for {', '.join(_CONDITIONS)}",
        )  # fmt: skip
    if entry.expired:
        raise ArgumentError(
            f"the expectation {entry} was accepted until suite {entry.until}, this is {SUITE}",
            where=where, fix="mend what fails, or write a later version and the reason for it",
        )  # fmt: skip


def in_force(expectations: Iterable[Expectation], device: Description) -> tuple[Expectation, ...]:
    """Those that hold on a device."""
    return tuple(e for e in expectations if e.holds_on(device))


def isolated(unit: Unit, expectations: Sequence[Expectation]) -> list[Unit]:
    """A unit in parts, so that cases that are to crash or to hang take no others with them."""
    deadly = [e for e in expectations if e.check in ("crash", "hang")]
    wanted = [any(e.about(unit.level, op, dtype) for e in deadly) for op, dtype in unit.owners]
    return singled_out(unit, wanted) if any(wanted) and len(wanted) > 1 else [unit]


def apply(
    outcomes: Iterable[Outcome], expectations: Iterable[Expectation]
) -> tuple[list[Outcome], list[Usage]]:
    """Turns declared failures into declared outcomes.

    Returns:
        The outcomes, and what became of each expectation.
    """
    usages = [Usage(e) for e in expectations]
    found: list[Outcome] = []
    for outcome in outcomes:
        if outcome.kind in _RAN:
            about = (outcome.level, outcome.op, outcome.dtype)
            refusal = outcome.check == "refusal"
            for usage in usages:
                same = refusal is (usage.expectation.check == "refusal")
                usage.ran = usage.ran or (same and usage.expectation.about(*about))
        if outcome.kind == "failed":
            match = next((u for u in usages if u.expectation.covers(outcome)), None)
            if match is not None:
                match.met = True
                reason = f"{match.expectation.reason} [{outcome.reason}]"
                outcome = replace(outcome, kind="declared", reason=reason)
        found.append(outcome)
    return found, usages
