"""Expected: the true result of an op and how far from it a result may be.

For one op on exact operands the bound is its row of spec 5a. For a graph, or a composite whose
bound is composed, an error is carried along with every value: each op passes on the errors of its
operands, by evaluating itself at their ends, and adds its own row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from realta.graph import Graph, Node
from realta.ops import OpDef, OpKind, as_arrays, get_op
from realta.ops.tolerances import allowance
from realta.passes import expand
from realta.types import DType, TensorType, as_dtype

from realta_conformance.formats import FORMATS, Array, round_to, ulp, wide
from realta_conformance.truth import Value, op_value

__all__ = ["Expected", "expect", "expect_graph"]

_FLOAT32: Final = as_dtype("float32")
_FLOAT64: Final = as_dtype("float64")
_NARROWER: Final = FORMATS[_FLOAT64].eps / FORMATS[_FLOAT32].eps
_MOST_CORNERS: Final = 3
_LINEAR: Final = frozenset(
    {
        "reshape",
        "permute",
        "broadcast",
        "slice",
        "pad",
        "concat",
        "barrier",
        "gather",
        "update_slice",
    }
)


@dataclass(slots=True, eq=False)
class Expected:
    """What a result must be.

    Args:
        type: its type.
        high: the truth: float64 for float dtypes, the dtype itself for the others.
        low: what is to be added to ``high``, if the truth is no double.
        error: the allowed distance from it; None means the correctly rounded truth and nothing
            else.
        free: where anything goes (sign bits of NaN and what follows from them).
    """

    type: TensorType
    high: Array
    low: Array | None = None
    error: Array | None = None
    free: Array | None = None

    @property
    def dtype(self) -> DType:
        """Dtype of the result."""
        return self.type.dtype

    def rounded(self) -> Array:
        """The truth rounded to the dtype, as float64 (or as it is, for other dtypes)."""
        return round_to(self.dtype, self.high, self.low) if self.dtype.is_float else self.high


def expect(
    op: OpDef,
    operands: Sequence[Array],
    types: Sequence[TensorType],
    attrs: Mapping[str, Any],
) -> tuple[Expected, ...]:
    """The results of one op on exact operands.

    Args:
        op: any op of the registry.
        operands: arrays in the storage of their dtypes.
        types: their types.
        attrs: all attributes of the call.
    """
    with np.errstate(all="ignore"):
        return _expect(op, operands, types, attrs)


def _expect(
    op: OpDef,
    operands: Sequence[Array],
    types: Sequence[TensorType],
    attrs: Mapping[str, Any],
) -> tuple[Expected, ...]:
    results = op.result_types(tuple(types), op.make_attrs(attrs))
    exact = [wide(x) for x in operands]
    fine = any(t.dtype is _FLOAT64 for t in results)
    values = op_value(op, exact, types, results, attrs, fine=fine)
    if values is None:
        values = _unknown(op, exact, types, results, attrs)
    return tuple(
        Expected(
            t, high, low, _allowed(op, exact, attrs, high, t), _free(op, exact, types, t, attrs)
        )
        for t, (high, low) in zip(results, values, strict=True)
    )


def _allowed(
    op: OpDef, exact: Sequence[Array], attrs: Mapping[str, Any], high: Array, type_: TensorType
) -> Array | None:
    """The bound of spec 5a, doubled where a float64 truth could not be found in more digits."""
    if op.exact or not type_.dtype.is_float:
        return None
    error = allowance(op, exact, attrs, high, type_.dtype)
    rough = not all(np.isfinite(x).all() for x in exact if x.dtype.kind == "f")
    return 2 * error if rough and type_.dtype is _FLOAT64 and not op.primitive else error


def _unknown(
    op: OpDef,
    exact: Sequence[Array],
    types: Sequence[TensorType],
    results: Sequence[TensorType],
    attrs: Mapping[str, Any],
) -> list[Value]:
    """The truth of an op not written down here: by its decomposition, else its reference."""
    full = op.make_attrs(attrs)
    if op.lowering is not None:
        given = [exactly(t, x) for t, x in zip(types, exact, strict=True)]
        with np.errstate(all="ignore"):
            return [(e.high, None) for e in _Tracker().expand(op, given, full)]
    with np.errstate(all="ignore"):
        found = as_arrays(op.reference(*exact, **full))
    return [(wide(v), None) for v in found]


def _free(
    op: OpDef,
    exact: Sequence[Array],
    types: Sequence[TensorType],
    result: TensorType,
    attrs: Mapping[str, Any],
) -> Array | None:
    """Where anything goes.

    That is the sign and the payload of a NaN, which nothing specifies, and sums and products that
    overflow on the way in one order and not in another.
    """
    if op.name in ("signbit", "bitcast") and exact[0].dtype.kind == "f":
        return np.isnan(exact[0])
    if op.name == "copysign":
        return np.isnan(exact[1])
    ordered = op.name in ("sum", "cumsum", "prod", "cumprod", "mean") and result.dtype.is_float
    if not ordered or not exact[0].size:
        return None
    accumulator = _FLOAT32 if result.dtype.is_half else result.dtype
    size = np.where(np.isfinite(exact[0]), np.abs(exact[0]), 1.0)
    if "prod" in op.name:
        size = np.maximum(size, 1.0)
    largest = FORMATS[accumulator].largest
    nan = op_value(
        op, [np.where(np.isnan(exact[0]), np.nan, 1.0)], types, [result], attrs, fine=False
    )
    if "prod" in op.name:
        small = np.minimum(np.where(exact[0] == 0, 1.0, np.abs(exact[0])), 1.0)
        under = op_value(
            op, [np.where(np.isnan(small), 1.0, small)], types, [result], attrs, fine=False
        )
        vanishes = under is not None and under[0][0] < FORMATS[accumulator].tiny
    over = op_value(
        op, [size / 4 if "prod" not in op.name else size], types, [result], attrs, fine=False
    )
    if nan is None or over is None:
        return None
    free = over[0][0] > largest / 4
    if "prod" in op.name:
        free = free | vanishes
    return np.asarray(free & ~np.isnan(nan[0][0]))


class _Tracker:
    """Evaluates ops on values that carry errors; the emitter of decompositions.

    float64 is tracked with the rows and the eps of float32, and its errors are scaled down at the
    end: bounds are linear in eps, and differences of float64 numbers cannot see their own rounding.

    Args:
        rounds: whether every op rounds at its boundary, as exact devices promise.
    """

    def __init__(self, rounds: bool = False) -> None:
        self.rounds = rounds

    def __getattr__(self, name: str) -> Callable[..., Any]:
        op = get_op(name)

        def write(*values: Expected, **attrs: Any) -> Any:
            results = self.call(op, values, op.make_attrs(attrs))
            return results[0] if len(results) == 1 else results

        return write

    def const(self, value: float, like: Expected) -> Expected:
        """A constant of a value's dtype and shape."""
        dtype = like.dtype
        array = np.full(like.high.shape, value, np.float64 if dtype.is_float else dtype.numpy)
        return exactly(like.type, round_to(dtype, array) if dtype.is_float else array)

    def type_of(self, value: Expected) -> TensorType:
        """The type of a value."""
        return value.type

    def call(self, op: OpDef, values: Sequence[Expected], attrs: Any) -> tuple[Expected, ...]:
        """One op on tracked values."""
        if op.lowering is not None and op.kind is not OpKind.ELEMENTWISE:
            return self.expand(op, values, attrs)
        types = tuple(v.type for v in values)
        results = op.result_types(types, attrs)
        operands = [v.high for v in values]
        found = op_value(op, operands, types, results, attrs, fine=False)
        if found is None:
            return self.expand(op, values, attrs)
        out = []
        for n, (type_, (high, _)) in enumerate(zip(results, found, strict=True)):
            error = _passed_on(op, values, types, results, attrs, n, high)
            if type_.dtype.is_float:
                error = error + self.own_error(op, operands, attrs, high, error, type_.dtype)
                high = round_to(type_.dtype, high) if self.rounds else high
            out.append(Expected(type_, high, None, error))
        return tuple(out)

    def own_error(
        self,
        op: OpDef,
        operands: Sequence[Array],
        attrs: Any,
        high: Array,
        passed: Array,
        dtype: DType,
    ) -> Array:
        """What an op adds to the errors of its operands."""
        if op.name in _LINEAR or op.kind in (OpKind.MOVEMENT, OpKind.CREATION):
            return np.zeros(high.shape)
        rows = _FLOAT32 if dtype is _FLOAT64 else dtype
        step = ulp(rows, high)
        if op.exact:
            # With exact operands its result is known; else both may round to different sides.
            return np.where((passed > 0) | (not self.rounds), step, 0.0)
        error = allowance(op, [wide(x) for x in operands], attrs, high, rows)
        return np.asarray(np.nan_to_num(error) + (0.5 * step if self.rounds else 0.0))

    def expand(self, op: OpDef, values: Sequence[Expected], attrs: Any) -> tuple[Expected, ...]:
        """A composite through its decomposition."""
        return tuple(expand(self, op, tuple(values), attrs))


def exactly(type_: TensorType, high: Array) -> Expected:
    """A value that carries no error."""
    return Expected(type_, high, None, np.zeros(np.shape(high)))


def _error_of(value: Expected) -> Array:
    return np.zeros(value.high.shape) if value.error is None else value.error


def _passed_on(
    op: OpDef,
    values: Sequence[Expected],
    types: Sequence[TensorType],
    results: Sequence[TensorType],
    attrs: Mapping[str, Any],
    number: int,
    high: Array,
) -> Array:
    """How far result ``number`` moves when the operands move by their errors."""
    errors = [_error_of(v) for v in values]
    inexact = [n for n, e in enumerate(errors) if np.any(e > 0)]
    if not inexact:
        return np.zeros(high.shape)
    highs = [v.high for v in values]
    if op.name in _LINEAR:
        given = [
            e if values[n].type.dtype is types[0].dtype else highs[n] for n, e in enumerate(errors)
        ]
        moved = op_value(op, given, types, results, attrs, fine=False)
        return np.asarray(moved[number][0], np.float64) if moved else np.zeros(high.shape)
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(_Call(op, highs, errors, types, results, attrs))
    return _at_corners(op, highs, errors, inexact, types, results, attrs, number, high)


def _at_corners(
    op: OpDef,
    highs: Sequence[Array],
    errors: Sequence[Array],
    inexact: Sequence[int],
    types: Sequence[TensorType],
    results: Sequence[TensorType],
    attrs: Mapping[str, Any],
    number: int,
    high: Array,
) -> Array:
    """The largest change of an elementwise result with operands at the ends of their errors."""
    worst = np.zeros(high.shape)
    for signs in itertools.product((-1.0, 1.0), repeat=len(inexact)):
        moved = list(highs)
        for n, sign in zip(inexact, signs, strict=True):
            if moved[n].dtype.kind == "b":
                moved[n] = np.where(errors[n] > 0, sign > 0, moved[n])
            else:
                moved[n] = moved[n] + sign * errors[n]
        found = op_value(op, moved, types, results, attrs, fine=False)
        value = found[number][0] if found else high
        with np.errstate(all="ignore"):
            if high.dtype.kind == "b":
                change = np.where(value != high, np.inf, 0.0)
            else:
                change = np.abs(wide(value) - wide(high))
                same = (value == high) | (np.isnan(wide(value)) & np.isnan(wide(high)))
                change = np.where(same, 0.0, change)
        worst = np.fmax(worst, np.where(np.isnan(change), np.inf, change))
    return worst


@dataclass(frozen=True, slots=True)
class _Call:
    """An op on operands with errors."""

    op: OpDef
    highs: Sequence[Array]
    errors: Sequence[Array]
    types: Sequence[TensorType]
    results: Sequence[TensorType]
    attrs: Mapping[str, Any]

    def value(self, *operands: Array, op: OpDef | None = None) -> Array:
        """The op's first result on other operands."""
        found = op_value(op or self.op, operands, self.types, self.results, self.attrs, fine=False)
        return found[0][0] if found else np.zeros(self.results[0].static_shape)


def _sum_passes(call: _Call) -> Array:
    return call.value(call.errors[0])


def _extreme_passes(call: _Call) -> Array:
    return call.value(call.errors[0], op=get_op("max"))


def _dot_passes(call: _Call) -> Array:
    x, y = [np.where(np.isfinite(v), np.abs(v), 0.0) for v in call.highs]
    return call.value(x + call.errors[0], call.errors[1]) + call.value(call.errors[0], y)


def _window_passes(call: _Call) -> Array:
    if call.attrs["reduce"] == "mul":
        size = np.abs(call.highs[0])
        return call.value(size + call.errors[0]) - call.value(size)
    if call.attrs["reduce"] == "add":
        return call.value(call.errors[0])
    attrs = {**call.attrs, "reduce": "max"}
    found = op_value(call.op, call.errors[:1], call.types, call.results, attrs, fine=False)
    return np.maximum(found[0][0], 0.0) if found else np.zeros(call.results[0].static_shape)


def _sort_passes(call: _Call) -> Array:
    top = call.errors[0].max(axis=call.attrs["axis"], keepdims=True)
    return np.broadcast_to(top, call.results[0].static_shape)


def _prod_passes(call: _Call) -> Array:
    size = np.abs(call.highs[0])
    return call.value(size + call.errors[0]) - call.value(size)


_SPECIAL: Final[Mapping[str, Callable[[_Call], Array]]] = {
    "sum": _sum_passes, "cumsum": _sum_passes, "prod": _prod_passes, "cumprod": _prod_passes,
    "max": _extreme_passes, "min": _extreme_passes, "dot_general": _dot_passes,
    "sort": _sort_passes, "mean": _sum_passes, "conv_general": _dot_passes,
    "reduce_window": _window_passes,
}  # fmt: skip


def expect_graph(
    graph: Graph, inputs: Sequence[Array], *, rounds: bool = True
) -> tuple[Expected, ...]:
    """The outputs of a graph with bounds composed from those of its ops.

    A float64 graph is evaluated in float64 itself, so its bounds are doubled.

    Args:
        graph: the graph.
        inputs: its inputs in the storage of their dtypes.
        rounds: whether every op rounds at its boundary. Then ops that are exact have one right
            result, bit for bit, in any company.
    """
    given = [exactly(v.type, wide(x)) for v, x in zip(graph.inputs, inputs, strict=True)]
    wide_graph = any(v.type.dtype is _FLOAT64 for v in (*graph.inputs, *graph.nodes))
    with np.errstate(all="ignore"):
        outputs = _outputs(_Tracker(rounds), graph, given)
    for n, found in enumerate(outputs):
        error = _error_of(found) * (2 * _NARROWER if wide_graph else 1.0)
        exact = not found.dtype.is_float or not np.any(error > 0)
        outputs[n] = Expected(found.type, found.high, None, None if exact else error)
        if not found.dtype.is_float and np.any(error > 0):
            outputs[n].free = error > 0
    return tuple(outputs)


def _outputs(tracker: _Tracker, graph: Graph, given: Sequence[Expected]) -> list[Expected]:
    values: dict[Any, Expected] = dict(zip(graph.inputs, given, strict=True))
    for node in graph.nodes:
        values.update(zip(node.outputs, _tracked(tracker, node, values), strict=True))
    return [values[v] for v in graph.outputs]


def _controlled(
    tracker: _Tracker, node: Node, operands: Sequence[Expected]
) -> tuple[Expected, ...]:
    """Control flow step by step; what decides must be known exactly."""
    if node.op.name == "cond":
        chosen = "then" if _decides(operands[0]) else "otherwise"
        return tuple(_outputs(tracker, node.attrs[chosen], operands[1:]))
    count = node.attrs["carried"]
    state, captured = list(operands[:count]), operands[count:]
    while _decides(_outputs(tracker, node.attrs["predicate"], [*state, *captured])[0]):
        state = _outputs(tracker, node.attrs["body"], [*state, *captured])
    return tuple(state)


def _decides(value: Expected) -> bool:
    if np.any(_error_of(value) > 0):
        raise ValueError("a case of control flow decides by a value that is not exact")
    return bool(value.high)


def _tracked(tracker: _Tracker, node: Node, values: Mapping[Any, Expected]) -> tuple[Expected, ...]:
    if node.op.kind is OpKind.CONTROL:
        return _controlled(tracker, node, [values[v] for v in node.operands])
    if node.op.name == "constant":
        array = wide(node.attrs["value"].array)
        return (exactly(node.types[0], array),)
    return tracker.call(node.op, [values[v] for v in node.operands], node.attrs)
