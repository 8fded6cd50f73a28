"""Resampling: which elements of an axis make an element of its resized form, and how much of each.

Coordinates are fractions of integers, so that rounding is exact where it decides. Sources: ONNX's
``Resize`` for the coordinates, Keys 1981 (a = -0.75) for the cubic filter.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError

__all__ = [
    "COORDINATES",
    "ROUNDINGS",
    "Array",
    "check_choice",
    "cubic_taps",
    "linear_taps",
    "nearest",
]

COORDINATES: Final = ("half_pixel", "align_corners", "asymmetric", "half_pixel_1D")
ROUNDINGS: Final = ("half_down", "half_up", "floor", "ceil")
_CUBIC: Final = -0.75
Array = np.ndarray[Any, np.dtype[Any]]
Fraction = tuple[Array, int]


def check_choice(name: str, value: int, choices: tuple[str, ...]) -> None:
    """Raises ArgumentError unless a number names one of the choices."""
    if isinstance(value, bool) or value not in range(len(choices)):
        listed = ", ".join(f"{n} ({choice})" for n, choice in enumerate(choices))
        raise ArgumentError(f"{name}={value!r} is not {listed}", fix="choose one of them")


def _coordinates(extent: int, size: int, mode: int) -> Fraction:
    """Where each new element lies on the old axis: numerators, and their one denominator > 0."""
    place = np.arange(size, dtype=np.int64)
    name = COORDINATES[mode]
    if name == "align_corners":
        return (place * (extent - 1), size - 1) if size > 1 else (place, 1)
    if name == "asymmetric":
        return place * extent, size
    if name == "half_pixel_1D" and size == 1:
        return place, 1
    return (2 * place + 1) * extent - size, 2 * size


def nearest(extent: int, size: int, mode: int, rounding: int) -> Array:
    """The index of the old element that each new one takes."""
    above, below = _coordinates(extent, size, mode)
    name = ROUNDINGS[rounding]
    if name == "half_down":
        index = -((below - 2 * above) // (2 * below))
    elif name == "half_up":
        index = (2 * above + below) // (2 * below)
    else:
        index = above // below if name == "floor" else -(-above // below)
    return np.asarray(np.clip(index, 0, extent - 1))


def linear_taps(extent: int, size: int, mode: int, antialias: bool) -> tuple[Array, Array]:
    """Indices and float64 weights, both (new elements, taps), of a tent filter.

    Without antialiasing, or where the axis grows, the tent reaches to the neighbours; else it is
    as wide as the axis shrinks, and what lies outside is left out.
    """
    above, below = _coordinates(extent, size, mode)
    scale = (extent - 1) / max(size - 1, 1) if mode == 1 else extent / size
    if antialias and scale > 1:
        return _tent(above / below, scale, extent)
    floor = above // below
    rest = (above - floor * below) / below
    index = np.stack([floor, floor + 1], axis=1)
    return np.clip(index, 0, extent - 1), np.stack([1 - rest, rest], axis=1)


def _tent(centre: Array, reach: float, extent: int) -> tuple[Array, Array]:
    first = np.ceil(centre - reach).astype(np.int64)
    index = first[:, None] + np.arange(int(2 * reach) + 1)
    weight = np.maximum(1 - np.abs(index - centre[:, None]) / reach, 0)
    weight = np.where((index >= 0) & (index < extent), weight, 0)
    weight = weight / weight.sum(axis=1, keepdims=True)
    # A tap of no weight reads an element that has one anyway: an infinity elsewhere stays there.
    inside = np.clip(index, 0, extent - 1)
    heaviest = np.take_along_axis(inside, weight.argmax(axis=1)[:, None], axis=1)
    return np.where(weight > 0, inside, heaviest), weight


def cubic_taps(extent: int, size: int) -> tuple[Array, Array]:
    """Indices and float64 weights, both (new elements, 4), of the cubic filter; edges repeat."""
    above, below = _coordinates(extent, size, 0)
    floor = above // below
    rest = (above - floor * below) / below
    index = floor[:, None] + np.arange(-1, 3)
    near, a = np.stack([rest, 1 - rest], axis=1), _CUBIC
    inner = ((a + 2) * near - (a + 3)) * near * near + 1
    far = near + 1
    outer = ((a * far - 5 * a) * far + 8 * a) * far - 4 * a
    weight = np.stack([outer[:, 0], inner[:, 0], inner[:, 1], outer[:, 1]], axis=1)
    return np.clip(index, 0, extent - 1), weight
