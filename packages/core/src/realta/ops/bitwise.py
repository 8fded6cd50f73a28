"""Bitwise ops and shifts on integers; the bitwise ones also on bool, where they are logical."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.ops import integer_arithmetic as integer
from realta.ops.conversion import quiet
from realta.ops.opdef import Algebra, define
from realta.ops.rules import elementwise
from realta.ops.samples import elementwise_samples
from realta.types import INTEGERS, bool_

__all__: list[str] = []

_NOTHING = {"int": 0, "uint": 0, "bool": 0}
_ALL_BITS = {"int": -1, "bool": 1}  # of an unsigned integer it depends on the width

_OPERATIONS: Final[tuple[tuple[str, Callable[..., Any], str, Algebra], ...]] = (
    ("bitwise_and", np.bitwise_and, "Bits set in both operands.",
     Algebra(commutative=True, associative=True, idempotent=True,
             left_unit=_ALL_BITS, right_unit=_ALL_BITS, zero=_NOTHING)),
    ("bitwise_or", np.bitwise_or, "Bits set in either operand.",
     Algebra(commutative=True, associative=True, idempotent=True,
             left_unit=_NOTHING, right_unit=_NOTHING, zero=_ALL_BITS)),
    ("bitwise_xor", np.bitwise_xor, "Bits set in one operand only.",
     Algebra(commutative=True, associative=True, left_unit=_NOTHING, right_unit=_NOTHING)),
)  # fmt: skip

for _name, _function, _doc, _algebra in _OPERATIONS:
    define(
        _name,
        operands=("x", "y"),
        rule=elementwise,
        reference=quiet(_function),
        doc=_doc,
        dtypes=INTEGERS | {bool_},
        algebra=_algebra,
        samples=elementwise_samples(2),
        level="math",
    )

for _name, _function, _doc in (
    (
        "shift_left",
        integer.shift_left,
        "x shifted left; by a negative amount, or by its width or more, 0.",
    ),
    (
        "shift_right",
        integer.shift_right,
        (
            "x shifted right, keeping its sign; by its width or more 0, or -1 if negative; by a "
            "negative amount 0."
        ),
    ),
):
    define(
        _name,
        operands=("x", "amount"),
        rule=elementwise,
        reference=quiet(_function),
        doc=_doc,
        dtypes=INTEGERS,
        algebra=Algebra(right_unit={"int": 0, "uint": 0}),
        samples=elementwise_samples(2, ("any", "small")),
        level="math",
    )
