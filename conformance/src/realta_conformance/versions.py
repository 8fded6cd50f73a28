"""Versions: of the suite and of the spec, and how they compare."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Final

__all__ = ["SUITE", "at_least", "version_of"]


def version_of(distribution: str) -> str:
    """The version of an installed distribution, or ``unknown``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"


SUITE: Final = version_of("realta-conformance")
"""The version of this suite."""


def at_least(version_: str, other: str) -> bool:
    """Whether a version is another one or later, by its numbers."""
    return _numbers(version_) >= _numbers(other)


def _numbers(text: str) -> tuple[int, ...]:
    parts = (part for part in text.split(".") if part.isdigit())
    found = [int(part) for part in parts]
    while found and not found[-1]:  # 1 and 1.0 are one version
        found.pop()
    return tuple(found)
