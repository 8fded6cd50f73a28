"""Window arguments: sizes, padding and layouts as functions of windows take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import apply
from realta.tensor import Tensor

__all__ = [
    "Sizes", "channels_first", "channels_last", "check_fits", "check_rank", "from_channels_last",
    "per_axis", "per_side",
]  # fmt: skip

Sizes = tuple[int, ...]
_INPUTS: Final = {1: ("NLC", "NCL"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW", "NHWC", "NCHW")}
"""Layouts of operands by axes of places; 3-D ones may leave the D out, as in MAX."""


def _integers(name: str, value: Any, counts: Sequence[int], least: int) -> Sizes:
    given = tuple(value) if hasattr(value, "__iter__") else (value,)
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in given)
    allowed = " or ".join(map(str, sorted({1, *counts})))
    if not whole or len(given) not in {1, *counts}:
        raise ArgumentError(
            f"{name}={value!r} is not {allowed} integer(s)", fix=f"give {allowed} integer(s)"
        )
    if any(n < least for n in given):
        raise ArgumentError(
            f"{name}={value!r} has a number below {least}", fix=f"give numbers from {least} up"
        )
    return given


def per_axis(name: str, value: int | Sequence[int], axes: int, least: int = 1) -> Sizes:
    """One size for each axis of places, from one for all or a sequence.

    Raises:
        ArgumentError: a wrong number of sizes, or one that is too small.
    """
    given = _integers(name, value, (axes,), least)
    return given * axes if len(given) == 1 else given


def per_side(name: str, value: int | Sequence[int], axes: int) -> tuple[Sizes, Sizes]:
    """Sizes before and after each axis: one for all, one an axis, or before, after, before ….

    Raises:
        ArgumentError: a wrong number of sizes, or a negative one.
    """
    given = _integers(name, value, (axes, 2 * axes), 0)
    if len(given) == 2 * axes:
        return given[::2], given[1::2]
    sides = given * axes if len(given) == 1 else given
    return sides, sides


def channels_first(name: str, layout: str, axes: int) -> bool:
    """Whether an operand's channels are axis 1; else they are the last axis.

    Raises:
        ArgumentError: no layout of that many axes has that name.
    """
    choices = _INPUTS[axes]
    if layout not in choices:
        raise ArgumentError(
            f"{name} has no input layout {layout!r}", fix=f"use {' or '.join(choices[:2])}"
        )
    return layout[1] == "C"


def check_rank(name: str, what: str, tensor: Tensor, rank: int, layout: str) -> None:
    """Raises ShapeError unless a tensor has as many axes as its layout."""
    if tensor.rank != rank:
        raise ShapeError(
            f"{name} takes {what} of {rank} axes ({layout}), got {tensor.type}",
            fix="reshape it, or add an axis with F.unsqueeze",
        )


def check_fits(
    name: str, extents: Sequence[Any], window: Sequence[Any], dilation: Sizes,
    padding: tuple[Sizes, Sizes], first: bool,
) -> None:  # fmt: skip
    """Raises ShapeError, with the caller's axis, unless a window fits each axis of places."""
    lines = zip(extents, window, dilation, *padding, strict=True)
    for n, (extent, elements, apart, low, high) in enumerate(lines):
        over = (elements - 1) * apart + 1
        if isinstance(extent, int) and isinstance(over, int) and low + extent + high < over:
            raise ShapeError(
                f"a window of {name} over {over} elements does not fit axis {n + 1 + first} of "
                f"{extent} elements with a padding of {low} and {high}",
                fix="use a smaller window or more padding; check the layout",
            )


def channels_last(tensor: Tensor, first: bool) -> Tensor:
    """The tensor with axis 1 brought last, if the channels are there."""
    if not first:
        return tensor
    return apply("permute", tensor, axes=(0, *range(2, tensor.rank), 1))


def from_channels_last(tensor: Tensor, first: bool) -> Tensor:
    """The tensor with its last axis brought to axis 1, if that is where channels belong."""
    if not first:
        return tensor
    return apply("permute", tensor, axes=(0, tensor.rank - 1, *range(1, tensor.rank - 1)))
