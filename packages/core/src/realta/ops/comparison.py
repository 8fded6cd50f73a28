"""Comparisons: operands of one dtype and shape, bool results; NaN is unequal to everything."""

from __future__ import annotations

from typing import Final

import numpy as np

from realta.ops.conversion import in_single
from realta.ops.opdef import Algebra, define
from realta.ops.rules import comparison
from realta.ops.samples import elementwise_samples
from realta.types import COMPUTABLE

__all__: list[str] = []

_SYMMETRIC: Final = Algebra(commutative=True)

for _name, _function, _doc, _algebra in (
    ("equal", np.equal, "x == y; -0 equals 0, NaN nothing.", _SYMMETRIC),
    ("not_equal", np.not_equal, "x != y; True if either is NaN.", _SYMMETRIC),
    ("less", np.less, "x < y; False if either is NaN.", None),
    ("less_equal", np.less_equal, "x <= y; False if either is NaN.", None),
    ("greater", np.greater, "x > y; False if either is NaN.", None),
    ("greater_equal", np.greater_equal, "x >= y; False if either is NaN.", None),
):
    define(
        _name,
        operands=("x", "y"),
        rule=comparison,
        reference=in_single(_function),
        doc=_doc,
        dtypes=COMPUTABLE,
        algebra=_algebra,
        samples=elementwise_samples(2, "small"),
        level="core",
    )
