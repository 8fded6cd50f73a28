"""Reductions: the axes named are combined and removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.ops.accumulation import fold
from realta.ops.conversion import Array, quiet, widened
from realta.ops.elementwise_binary import maximum, minimum
from realta.ops.opdef import Algebra, Attr, OpKind, Sample, define
from realta.ops.rules import reduced
from realta.ops.samples import samples_for
from realta.types import COMPUTABLE, NUMERIC, DType, bool_, int64

__all__: list[str] = []

_AXES: Final = Attr("ints", doc="the axes to reduce, counted from the start; none reduces nothing")
_BOOLS: Final = frozenset({bool_})
_REGROUPS: Final = Algebra(associative=True)

_SHAPES: Final = ((), (1,), (17,), (1025,), (3, 33), (3, 33), (2, 3, 17), (5, 2, 4), (3, 1, 2))
_REDUCED: Final = ((), (0,), (0,), (0,), (1,), (0,), (0, 2), (0, 1, 2), ())
_OVER_NOTHING: Final = (Sample(((2, 0),), {"axes": (1,)}, note="reduces no elements"),)
_NOTHING_LEFT: Final = (Sample(((0, 2),), {"axes": (1,)}, note="no results"),)


def _reduction(
    name: str,
    combine: Callable[[Array, Array], Array],
    unit: float | None,
    doc: str,
    *,
    scalar: str,
    dtypes: frozenset[DType] = NUMERIC,
    tolerance: str = "exact",
    level: str = "core",
    domain: str = "any",
    algebra: Algebra | None = None,
) -> None:
    @quiet
    def reference(x: Array, *, axes: tuple[int, ...]) -> Array:
        return fold(combine, 0.0 if unit is None else unit, x, axes)

    attrs = [{"axes": axes} for axes in _REDUCED]
    special = (Sample(((4, 16),), {"axes": (1,)}, "special", note="NaN and infinities"),)
    define(
        name,
        rule=reduced(name, identity=unit is not None),
        reference=reference,
        doc=doc,
        kind=OpKind.REDUCE,
        attrs={"axes": _AXES},
        dtypes=dtypes,
        algebra=algebra,
        samples=(
            *samples_for(_SHAPES, attrs, domain=domain),
            *_NOTHING_LEFT,
            *(() if unit is None else _OVER_NOTHING),
            *(() if dtypes is _BOOLS else special),
        ),
        tolerance=tolerance,
        level=level,
        scalar=scalar,
    )


_reduction(
    "sum", np.add, 0.0,
    "The sum in the operand's dtype: integers wrap, half types accumulate in float32 and round "
    "once; 0 over nothing.",
    scalar="add", tolerance="sum",
)  # fmt: skip
_reduction(
    "prod", np.multiply, 1.0,
    "The product in the operand's dtype: integers wrap, half types accumulate in float32 and round "
    "once; 1 over nothing.",
    scalar="mul", tolerance="prod", level="math", domain="unit",
)  # fmt: skip
_reduction(
    "max", maximum, None, "The largest element; NaN if there is one, and 0 over -0.",
    scalar="max", dtypes=COMPUTABLE, algebra=_REGROUPS,
)  # fmt: skip
_reduction(
    "min", minimum, None, "The smallest element; NaN if there is one, and -0 under 0.",
    scalar="min", dtypes=COMPUTABLE, algebra=_REGROUPS,
)  # fmt: skip
_reduction(
    "any", np.logical_or, False, "Whether an element is True; False over nothing.",
    scalar="logical_or", dtypes=_BOOLS, level="math", algebra=_REGROUPS,
)  # fmt: skip
_reduction(
    "all", np.logical_and, True, "Whether all elements are True; True over nothing.",
    scalar="logical_and", dtypes=_BOOLS, level="math", algebra=_REGROUPS,
)  # fmt: skip

_ARG_SHAPES: Final = ((1,), (33,), (1025,), (3, 17), (17, 3), (2, 3, 4), (0, 2))
_ARG_AXES: Final = (0, 0, 0, 1, 0, 1, 1)


def _argument(name: str, find: Callable[..., Any], doc: str) -> None:
    def reference(x: Array, *, axis: int) -> Array:
        return np.asarray(find(widened(x), axis=axis), dtype=np.int64)

    attrs = [{"axis": axis} for axis in _ARG_AXES]
    define(
        name,
        rule=reduced(name, identity=False, dtype=int64),
        reference=reference,
        doc=doc,
        kind=OpKind.REDUCE,
        attrs={"axis": Attr("int", doc="the axis to search along, counted from the start")},
        dtypes=COMPUTABLE,
        samples=(
            *samples_for(_ARG_SHAPES, attrs, domain="small"),
            Sample(((4, 33),), {"axis": 1}, "special", note="the first NaN wins"),
        ),
        level="math",
        scalar=name,
    )


_argument(
    "argmax", np.argmax,
    "The int64 index of the largest element along an axis, the first of equals; the first NaN "
    "wins.",
)  # fmt: skip
_argument(
    "argmin", np.argmin,
    "The int64 index of the smallest element along an axis, the first of equals; the first NaN "
    "wins.",
)  # fmt: skip
