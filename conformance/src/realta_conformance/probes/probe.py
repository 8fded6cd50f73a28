"""Probe: one promise of the contract, tried out on a device.

A probe is a generator of findings. Its docstring's first line says what is promised; the rest is
shown with a failure, as what to look at.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from realta_conformance.device import Device

__all__ = ["Finding", "Probe", "probe", "probes_of"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe found.

    Args:
        name: what was tried, unique within the probe; empty if it tries one thing.
        wrong: what is wrong; empty if the promise holds.
        dtype: dtype it was tried with, if any.
        skipped: why it does not apply here; empty if it does.
    """

    name: str = ""
    wrong: str = ""
    dtype: str = ""
    skipped: str = ""


Function = Callable[[Device], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Probe:
    """A probe of a level.

    Args:
        level: its level.
        name: its name in ids.
        function: what tries it.
        promise: one sentence.
        help: what to look at if it fails.
    """

    level: str
    name: str
    function: Function
    promise: str
    help: str


_PROBES: Final[dict[str, list[Probe]]] = {}


def probe(
    level: str, *, unless: Callable[[Device], str] | None = None
) -> Callable[[Function], Function]:
    """Registers a generator of findings as a probe of a level.

    Args:
        level: the level.
        unless: why the probe does not apply to a device; empty if it does.
    """

    def register(function: Function) -> Function:
        text = inspect.cleandoc(function.__doc__ or "").partition("\n\n")
        name = function.__name__.replace("_", "-")
        help_ = " ".join(text[2].split())
        tried = function if unless is None else _applied(function, unless)
        _PROBES.setdefault(level, []).append(Probe(level, name, tried, text[0], help_))
        return tried

    return register


def _applied(function: Function, unless: Callable[[Device], str]) -> Function:
    @functools.wraps(function)
    def tried(device: Device) -> Iterator[Finding]:
        if reason := unless(device):
            yield Finding(skipped=reason)
        else:
            yield from function(device)

    return tried


def probes_of(level: str) -> tuple[Probe, ...]:
    """The probes of a level."""
    return tuple(_PROBES.get(level, ()))
