"""Samples: operand shapes and value domains that every op of a family is tried with.

The extents 17, 33 and 1025 are one beyond common block and vector lengths; 0-d and empty operands
have no elements to spare for a wrong index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from realta.ops.opdef import Sample
from realta.types import DType

__all__ = ["elementwise_samples", "samples_for"]


def elementwise_samples(
    operands: int,
    domain: str | tuple[str, ...] = "any",
    *,
    special: bool = True,
    attrs: Mapping[str, Any] | None = None,
    dtypes: tuple[DType | None, ...] = (),
) -> tuple[Sample, ...]:
    """Samples of an elementwise op: 0-d, empty, block edges, several axes, special values."""
    if not attrs and not dtypes:
        return _plain_samples(operands, domain, special)
    return _elementwise_samples(operands, domain, special, attrs or {}, dtypes)


@cache
def _plain_samples(
    operands: int, domain: str | tuple[str, ...], special: bool
) -> tuple[Sample, ...]:
    # Most elementwise ops have one of few such lists, which are part of every import.
    return _elementwise_samples(operands, domain, special, {}, ())


def _elementwise_samples(
    operands: int,
    domain: str | tuple[str, ...],
    special: bool,
    attrs: Mapping[str, Any],
    dtypes: tuple[DType | None, ...],
) -> tuple[Sample, ...]:
    given = MappingProxyType(dict(attrs))

    def sample(shape: tuple[int, ...], values: str | tuple[str, ...], note: str) -> Sample:
        return Sample((shape,) * operands, given, values, dtypes, note)

    found = [
        sample((), domain, "0-d"),
        sample((0, 3), domain, "no elements"),
        sample((17,), domain, "block edge"),
        sample((1025,), domain, "block edge"),
        sample((3, 33), domain, "several axes"),
    ]
    if special:
        found.append(sample((64,), "special", "NaN, infinities, signed zeros, extremes"))
    return tuple(found)


def samples_for(
    shapes: Sequence[tuple[int, ...]],
    attrs: Sequence[Mapping[str, Any]],
    *,
    domain: str | tuple[str, ...] = "any",
) -> tuple[Sample, ...]:
    """One sample per pair of a shape and attributes, for ops of one operand."""
    return tuple(
        Sample((shape,), given, domain) for shape, given in zip(shapes, attrs, strict=True)
    )
