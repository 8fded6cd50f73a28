"""Byte sizes: how they are written in messages and read from the environment."""

from __future__ import annotations

import re
from typing import Final

from realta.errors import ArgumentError

__all__ = ["SMALL_BYTES", "format_bytes", "parse_bytes"]

SMALL_BYTES: Final = 1 << 16
"""Tensors up to this size may be memory that a host session makes itself, outside the pool."""

_UNITS: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_SUFFIXES: Final = {
    "": 1, "b": 1,
    "k": 1000, "kb": 1000, "kib": 1024,
    "m": 1000**2, "mb": 1000**2, "mib": 1024**2,
    "g": 1000**3, "gb": 1000**3, "gib": 1024**3,
    "t": 1000**4, "tb": 1000**4, "tib": 1024**4,
}  # fmt: skip
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)


def format_bytes(count: int) -> str:
    """A size as messages show it: ``512 B``, ``38.1 MiB``."""
    value = float(count)
    unit = 0
    while abs(value) >= 1024 and unit < len(_UNITS) - 1:
        value /= 1024
        unit += 1
    return f"{count} B" if unit == 0 else f"{value:.1f} {_UNITS[unit]}"


def parse_bytes(text: str, source: str) -> int:
    """The size that ``text`` gives, as ``2GB``, ``512MiB`` or a plain number of bytes.

    Args:
        text: the size.
        source: where it was given, for the message.

    Raises:
        ArgumentError: it is not a size.
    """
    match = _SIZE.fullmatch(text)
    factor = _SUFFIXES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ArgumentError(
            f"{text!r} is not a size in bytes",
            where=source,
            fix="write it like 512MiB, 2GB or 1000000",
        )
    return int(float(match[1]) * factor)
