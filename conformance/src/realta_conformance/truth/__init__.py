"""Truth: what every op of the registry really is, in float64, exact integers or 40 digits.

Nothing here is shared with a backend or with the registry's references: NumPy serves for float64
functions and for moving elements, never for float32 arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from realta.ops import OpDef
from realta.types import TensorType

from realta_conformance.formats import Array, wide
from realta_conformance.truth.casts import bit_cast, cast, next_after
from realta_conformance.truth.composites import COMPOSITE_OPS, composite
from realta_conformance.truth.draws import DRAWS
from realta_conformance.truth.floats import FLOAT_OPS, RATIONAL_OPS, precise, rational
from realta_conformance.truth.integers import INTEGER_OPS, WIDTH_OPS, integer_result, wrap
from realta_conformance.truth.philox import philox_bits, philox_branch
from realta_conformance.truth.reductions import (
    contraction_rows,
    dot,
    extreme,
    index_of_extreme,
    rows_of,
    scan,
    total,
)
from realta_conformance.truth.structure import STRUCTURE_OPS
from realta_conformance.truth.windowed import conv_general, reduce_window

__all__ = ["Value", "known", "op_value"]

Value = tuple[Array, Array | None]
"""The truth as an array, and what is to be added to it (None for nothing)."""
Types = Sequence[TensorType]
Attributes = Mapping[str, Any]


def _reduction(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    x, dtype = arrays[0], results[0].dtype
    if name in ("argmax", "argmin"):
        return index_of_extreme(x, attrs["axis"], name == "argmax")
    axes = attrs["axes"]
    if name in ("any", "all"):
        rows = rows_of(x != 0, axes)
        return np.asarray(rows.any(axis=-1) if name == "any" else rows.all(axis=-1))
    if name in ("max", "min"):
        return extreme(x, axes, name == "max")
    return total(x, axes, dtype, multiply=name == "prod")


def _scan(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    return scan(name, arrays[0], results[0].dtype, **attrs)


def _dot_general(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    left, right, shape = contraction_rows(arrays[0], arrays[1], **attrs)
    dtype = results[0].dtype
    value = dot(left, right, exact=dtype.itemsize == 8).reshape(shape)
    if dtype.is_float:
        return value
    return value.astype(bool) if dtype.kind == "bool" else wrap(dtype, value)


def _conv_general(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    return conv_general(arrays[0], arrays[1], results[0].dtype, **attrs)


def _reduce_window(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    return reduce_window(arrays[0], results[0].dtype, **attrs)


def _iota(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    shape, axis = attrs["shape"], attrs["axis"]
    line = np.arange(shape[axis]).reshape([-1 if n == axis else 1 for n in range(len(shape))])
    return np.broadcast_to(line, shape)


def _top_level(table: Mapping[str, Any]) -> Callable[..., Any]:
    def call(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Any:
        return table[name](*arrays, **attrs)

    return call


def _matmul(arrays: Sequence[Array], name: str, results: Types, attrs: Attributes) -> Array:
    dtype = results[0].dtype
    value = np.matmul(arrays[0].astype(object), arrays[1].astype(object))
    return wrap(dtype, np.asarray(value, object))


Whole = Callable[[Sequence[Array], str, Types, Attributes], Any]
_WHOLE: Final[Mapping[str, Whole]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "any", "all", "argmax", "argmin"), _reduction),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin"), _scan),
    **dict.fromkeys(STRUCTURE_OPS, _top_level(STRUCTURE_OPS)),
    **dict.fromkeys(DRAWS, _top_level(DRAWS)),
    "dot_general": _dot_general,
    "conv_general": _conv_general,
    "reduce_window": _reduce_window,
    "iota": _iota,
    "philox_bits": lambda arrays, name, results, attrs: philox_bits(arrays[0], **attrs),
    "philox_branch": lambda arrays, name, results, attrs: philox_branch(*arrays, **attrs),
    "constant": lambda arrays, name, results, attrs: attrs["value"].array,
}
"""Ops whose elements depend on other elements, or on positions."""


def known(op: OpDef) -> bool:
    """Whether the truth of an op is written down here."""
    names = (*FLOAT_OPS, *RATIONAL_OPS, *_WHOLE, *COMPOSITE_OPS, *INTEGER_OPS, *WIDTH_OPS)
    return op.name in names or op.name in ("cast", "bitcast", "nextafter")


def _elementwise(
    op: OpDef, arrays: Sequence[Array], types: Types, results: Types, attrs: Attributes, fine: bool
) -> Value:
    floats = any(t.dtype.is_float for t in types)
    if not floats and (op.name in INTEGER_OPS or op.name in WIDTH_OPS):
        operand = types[-1].dtype
        return integer_result(op.name, tuple(arrays), operand, results[0].dtype), None
    if op.name == "nextafter":
        return next_after(arrays[0], arrays[1], types[0].dtype), None
    if op.name in RATIONAL_OPS:
        return rational(op.name, arrays[0], arrays[1])
    if fine:
        return precise(op.name, tuple(arrays), attrs)
    with np.errstate(all="ignore"):
        return np.asarray(FLOAT_OPS[op.name](*arrays, **attrs)), None


def op_value(
    op: OpDef,
    arrays: Sequence[Array],
    types: Types,
    results: Types,
    attrs: Attributes,
    *,
    fine: bool,
) -> list[Value] | None:
    """The true results of an op, or None for an op that is not written down here.

    Args:
        op: the op.
        arrays: operands; float dtypes as float64, others as they are.
        types: types of the operands.
        results: types of the results.
        attrs: attributes of the call.
        fine: whether float64 is not fine enough, since the result is float64 itself.
    """
    if not known(op):
        return None
    if op.name == "cast":
        return [(cast(arrays[0], types[0].dtype, results[0].dtype), None)]
    if op.name == "bitcast":
        return [(bit_cast(arrays[0], types[0].dtype, results[0].dtype), None)]
    whole = _WHOLE.get(op.name)
    if op.name == "matmul" and not results[0].dtype.is_float:
        whole = _matmul
    if whole is not None:
        found = whole(arrays, op.name, results, attrs)
        many = found if isinstance(found, tuple) else (found,)
        return [(_stored(v, t), None) for v, t in zip(many, results, strict=True)]
    if op.name in COMPOSITE_OPS:
        high, low = composite(op.name, tuple(arrays), attrs, fine)
        return [(high, low)]
    high, rest = _elementwise(op, arrays, types, results, attrs, fine)
    return [(_stored(high, results[0]), rest)]


def _stored(value: Array, type_: TensorType) -> Array:
    """Floats as float64, other values in their dtype."""
    if type_.dtype.is_float:
        return wide(np.asarray(value))
    return np.asarray(value).astype(type_.dtype.numpy)
