"""Windows: reduce_window, each window of an operand reduced to one element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from realta.ops.accumulation import accumulator, fold
from realta.ops.conversion import Array, convert, quiet
from realta.ops.elementwise_binary import maximum, minimum
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import check_choice
from realta.ops.window_geometry import check_sizes, padded, window_count, windows
from realta.types import NUMERIC, DType, TensorType, as_dtype

__all__ = ["REDUCTIONS", "window_unit"]

Sizes = tuple[int, ...]
REDUCTIONS: Final = ("add", "mul", "max", "min")
"""Values of the attribute ``reduce``, named as those of scatter."""


def window_unit(reduce: str, dtype: DType) -> Any:
    """What padding holds: the value that changes no result, or the dtype's outermost one."""
    if reduce in ("add", "mul"):
        return int(reduce == "mul")
    if dtype.is_float:
        return -np.inf if reduce == "max" else np.inf
    info = np.iinfo(dtype.numpy)
    return info.min if reduce == "max" else info.max


def _rule(
    x: TensorType,
    *,
    window: Sizes,
    strides: Sizes,
    low: Sizes,
    high: Sizes,
    dilation: Sizes,
    reduce: str,
) -> TensorType:
    check_choice("reduce", reduce, REDUCTIONS)
    for name, sizes, least in (
        ("window", window, 1), ("strides", strides, 1), ("dilation", dilation, 1),
        ("low", low, 0), ("high", high, 0),
    ):  # fmt: skip
        check_sizes(name, sizes, x.rank, least)
    lines = zip(x.shape, window, strides, low, high, dilation, strict=True)
    return x.with_shape(
        tuple(
            # Nothing along an axis is no window of padding: the axis stays empty.
            d if w == s == 1 and not a and not b else window_count(n, d, w, s, a, b, step)
            for n, (d, w, s, a, b, step) in enumerate(lines)
        )
    )


_COMBINE: Final[Mapping[str, Callable[..., Any]]] = {
    "add": np.add, "mul": np.multiply, "max": maximum, "min": minimum,
}  # fmt: skip


@quiet
def _reduce_window(
    x: Array,
    *,
    window: Sizes,
    strides: Sizes,
    low: Sizes,
    high: Sizes,
    dilation: Sizes,
    reduce: str,
) -> Array:
    dtype = as_dtype(x.dtype)
    unit = window_unit(reduce, dtype)
    source = padded(accumulator(x), low, high, (1,) * x.ndim, unit)
    view = windows(source, window, strides, dilation)
    return convert(fold(_COMBINE[reduce], unit, view, tuple(range(x.ndim, 2 * x.ndim))), dtype)


def _sample(
    x: Sizes,
    window: Sizes,
    strides: Sizes,
    low: Sizes = (),
    high: Sizes = (),
    dilation: Sizes = (),
    *,
    reduce: str = "add",
    domain: str = "any",
    note: str = "",
) -> Sample:
    attrs = {
        "window": window, "strides": strides, "low": low or (0,) * len(x),
        "high": high or (0,) * len(x), "dilation": dilation or (1,) * len(x), "reduce": reduce,
    }  # fmt: skip
    return Sample((x,), attrs, domain, note=note)


def _samples(reduce: str) -> tuple[Sample, ...]:
    domain = "unit" if reduce == "mul" else "any"

    def sample(*sizes: Sizes, note: str = "") -> Sample:
        return _sample(*sizes, reduce=reduce, domain=domain, note=note)

    return (
        sample((1, 5, 7, 3), (1, 3, 3, 1), (1, 2, 2, 1)),
        sample((1, 5, 6, 2), (1, 2, 3, 1), (1, 1, 2, 1), (0, 1, 0, 0), (0, 0, 2, 0), note="uneven"),
        sample((2, 9), (1, 3), (1, 1), (0, 2), (0, 1), (1, 2), note="dilated"),
        sample((7, 3), (2, 1), (3, 1), note="stride over window"),
        sample((0, 4), (1, 2), (1, 1), note="an empty batch"),
        sample((1025,), (17,), (1,), (16,), (0,), note="long line"),
        sample((3, 2, 33), (2, 2, 33), (1, 1, 1), note="whole axes"),
        sample((), (), (), note="0-d"),
    )


define(
    "reduce_window",
    rule=_rule,
    reference=_reduce_window,
    doc=(
        "Each window of an operand reduced to one element. All attributes have one entry for each "
        "axis. Padding holds what changes no result: 0 for add, 1 for mul, -inf or the smallest "
        "integer for max. NaN wins, and -0 is under 0; half types add and multiply in float32 and "
        "round once."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "window": Attr("ints", doc="the extents of a window"),
        "strides": Attr("ints", doc="how far apart windows start"),
        "low": Attr("ints", doc="how much padding there is before each axis"),
        "high": Attr("ints", doc="how much padding there is after each axis"),
        "dilation": Attr("ints", doc="how far apart the elements of a window are"),
        "reduce": Attr("str", doc="add, mul, max or min"),
    },
    dtypes=NUMERIC,
    samples=(
        *_samples("add"),
        *_samples("max"),
        *_samples("min")[:3],
        *_samples("mul")[:3],
        _sample((2, 33), (1, 4), (1, 1), (0, 3), (0, 3), reduce="max", domain="special"),
        _sample((2, 33), (1, 4), (1, 1), (0, 3), (0, 3), reduce="min", domain="special"),
    ),
    tolerance="window",
    level="math",
)
