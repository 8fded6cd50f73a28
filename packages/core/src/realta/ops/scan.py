"""Scans: running reductions along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.ops import accumulation
from realta.ops.conversion import Array, quiet
from realta.ops.elementwise_binary import maximum, minimum
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import scan
from realta.types import NUMERIC, DType, as_dtype

__all__: list[str] = []


def _lowest(dtype: DType) -> Any:
    return -np.inf if dtype.is_float else np.iinfo(dtype.numpy).min


def _highest(dtype: DType) -> Any:
    return np.inf if dtype.is_float else np.iinfo(dtype.numpy).max


def _shifted(x: Array, axis: int, unit: Any) -> Array:
    """The array moved one element up along an axis, with the unit first."""
    if x.shape[axis] == 0:
        return x
    first = np.full_like(np.take(x, [0], axis), unit)
    return np.concatenate([first, np.take(x, range(x.shape[axis] - 1), axis)], axis)


_CALLS: Final[tuple[tuple[tuple[int, ...], int, bool, bool], ...]] = (
    # shape, axis, exclusive, reverse
    ((1,), 0, False, False),
    ((33,), 0, False, False),
    ((1025,), 0, False, False),
    ((3, 17), 1, True, False),
    ((17, 3), 0, False, True),
    ((2, 5, 3), 1, True, True),
    ((2, 0), 1, False, False),
    ((0, 3), 1, True, False),
)


def _scan(
    name: str,
    combine: Callable[[Array, Array], Array],
    unit: Callable[[DType], Any],
    doc: str,
    *,
    scalar: str,
    tolerance: str,
    domain: str = "any",
) -> None:
    @quiet
    def reference(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        forward = np.flip(x, axis) if reverse else x
        total = accumulation.scan(combine, forward, axis)
        if exclusive:
            total = _shifted(total, axis, unit(as_dtype(x.dtype)))
        return np.ascontiguousarray(np.flip(total, axis)) if reverse else total

    define(
        name,
        rule=scan,
        reference=reference,
        doc=doc,
        kind=OpKind.SCAN,
        attrs={
            "axis": Attr("int", doc="the axis to run along, counted from the start"),
            "exclusive": Attr("bool", False, "leave out the element itself; the unit comes first"),
            "reverse": Attr("bool", False, "run from the end to the start"),
        },
        dtypes=NUMERIC,
        samples=(
            *(
                Sample((shape,), {"axis": axis, "exclusive": e, "reverse": r}, domain)
                for shape, axis, e, r in _CALLS
            ),
            Sample(
                ((3, 16),),
                {"axis": 1, "exclusive": False, "reverse": False},
                "special",
                note="NaN and infinities",
            ),
        ),
        tolerance=tolerance,
        level="math",
        scalar=scalar,
    )


_scan(
    "cumsum", np.add, lambda _: 0,
    "Running sums along an axis, each as accurate as `sum`; half types accumulate in float32.",
    scalar="add", tolerance="cumsum",
)  # fmt: skip
_scan(
    "cumprod", np.multiply, lambda _: 1,
    "Running products along an axis; half types accumulate in float32.",
    scalar="mul", tolerance="cumprod", domain="unit",
)  # fmt: skip
_scan(
    "cummax", maximum, _lowest, "Running maxima along an axis; NaN from the first NaN on.",
    scalar="max", tolerance="exact",
)  # fmt: skip
_scan(
    "cummin", minimum, _highest, "Running minima along an axis; NaN from the first NaN on.",
    scalar="min", tolerance="exact",
)  # fmt: skip
