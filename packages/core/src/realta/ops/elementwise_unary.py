"""Unary elementwise ops that are exact: signs, roundings, roots, bits and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.ops.conversion import Array, in_single
from realta.ops.opdef import Algebra, TypeRule, define
from realta.ops.rules import elementwise, predicate
from realta.ops.samples import elementwise_samples
from realta.types import FLOATS, INTEGERS, NUMERIC, DType, bool_

__all__: list[str] = []

_BOOLS: Final = frozenset({bool_})


def _unary(
    name: str,
    function: Callable[[Array], Any],
    doc: str,
    *,
    dtypes: frozenset[DType] = FLOATS,
    rule: TypeRule = elementwise,
    algebra: Algebra | None = None,
    level: str = "math",
    domain: str = "any",
) -> None:
    define(
        name,
        rule=rule,
        reference=in_single(function),
        doc=doc,
        dtypes=dtypes,
        algebra=algebra,
        samples=elementwise_samples(1, domain, special=dtypes is not _BOOLS),
        level=level,
    )


_REPEATS: Final = Algebra(idempotent=True)
_UNDOES: Final = Algebra(involution=True)

_unary(
    "neg", np.negative, "The operand with its sign changed; integers wrap, also unsigned ones.",
    dtypes=NUMERIC, algebra=_UNDOES, level="core",
)  # fmt: skip
_unary(
    "abs", np.abs, "The magnitude; the lowest signed integer stays as it is.",
    dtypes=NUMERIC, algebra=_REPEATS, level="core",
)  # fmt: skip
_unary(
    "sign", np.sign, "-1, 0 or 1 by the operand's sign; NaN for NaN, a zero for either zero.",
    dtypes=NUMERIC, algebra=_REPEATS,
)  # fmt: skip
_unary("floor", np.floor, "The next integer below.", algebra=_REPEATS)
_unary("ceil", np.ceil, "The next integer above.", algebra=_REPEATS)
_unary("trunc", np.trunc, "The next integer towards zero.", algebra=_REPEATS)
_unary("round", np.rint, "The nearest integer; halfway cases go to the even one.", algebra=_REPEATS)
_unary(
    "sqrt", np.sqrt, "The square root, correctly rounded; NaN for negative operands, -0 for -0.",
    level="core", domain="positive",
)  # fmt: skip
_unary(
    "logical_not", np.logical_not, "True where the operand is False.",
    dtypes=_BOOLS, algebra=_UNDOES, level="core",
)  # fmt: skip
_unary(
    "bitwise_not", np.invert, "Every bit inverted; on bool the logical negation.",
    dtypes=INTEGERS | _BOOLS, algebra=_UNDOES,
)  # fmt: skip
_unary("is_nan", np.isnan, "Whether it is NaN.", rule=predicate)
_unary("is_inf", np.isinf, "Whether it is an infinity of either sign.", rule=predicate)
_unary("is_finite", np.isfinite, "Whether it is neither NaN nor an infinity.", rule=predicate)
_unary(
    "signbit", np.signbit, "Whether the sign bit is set: True for -0; of NaN unspecified.",
    rule=predicate,
)  # fmt: skip
