"""Mutations: what can be changed about an op's results, as data; each is tried on every op it fits.

A mutation changes the results that a healthy backend gives for one op, the way a slip in a kernel
or in a code generator would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from realta.backend import Node
from realta.backend.reference import call_reference
from realta.graph import Builder
from realta.ops import OpDef, OpKind, as_arrays, find_op
from realta.passes import Decompose, evaluate_graph
from realta_conformance.case import cases_of

from realta_saboteurs.fault import Array

__all__ = ["MUTATIONS", "Mutation", "truth_of"]

Results = tuple[Array, ...]
_COUNTERPARTS: Final = {
    "less": "less_equal", "less_equal": "less", "greater": "greater_equal",
    "greater_equal": "greater", "equal": "not_equal", "not_equal": "equal",
    "maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max",
    "argmax": "argmin", "argmin": "argmax", "cummax": "cummin", "cummin": "cummax",
    "any": "all", "all": "any",
}  # fmt: skip
"""Ops that differ from another one by the direction of a comparison."""
_WRONG_NEUTRALS: Final[Mapping[str, Callable[[Array], Array]]] = {
    "sum": lambda x: x + 1, "prod": lambda x: x * 2, "cumsum": lambda x: x + 1,
    "cumprod": lambda x: x * 2, "max": lambda x: np.maximum(x, 0),
    "min": lambda x: np.minimum(x, 0), "cummax": lambda x: np.maximum(x, 0),
    "cummin": lambda x: np.minimum(x, 0), "any": lambda x: np.ones_like(x),
    "all": lambda x: np.zeros_like(x), "dot_general": lambda x: x + 1,
    "conv_general": lambda x: x + 1,
}  # fmt: skip
_ROUNDING_KINDS: Final = (
    OpKind.ELEMENTWISE, OpKind.REDUCE, OpKind.SCAN, OpKind.CONTRACTION, OpKind.OPAQUE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutation:
    """One way to go wrong.

    Args:
        name: its name.
        tells: what goes wrong, in one sentence.
        fits: whether an op can go wrong so.
        change: ``change(node, operands, right)``: the wrong results; ``right`` are the right ones.
    """

    name: str
    tells: str
    fits: Callable[[OpDef], bool]
    change: Callable[[Node, Sequence[Array], Results], Results]


def truth_of(node: Node, operands: Sequence[Array]) -> Results:
    """The results of a node; a composite's by way of its decomposition."""
    if node.op.primitive:
        return as_arrays(call_reference(node, *operands))
    builder = Builder("whole")
    inputs = [builder.input(v.type, f"x{n}") for n, v in enumerate(node.operands)]
    graph = builder.finish(*builder.add_node(node.op, tuple(inputs), node.attrs).outputs)
    with np.errstate(all="ignore"):
        return tuple(evaluate_graph(Decompose(lambda node: False).run(graph), list(operands)))


def _neutral(node: Node, operands: Sequence[Array], right: Results) -> Results:
    with np.errstate(all="ignore"):
        return (_WRONG_NEUTRALS[node.op.name](right[0]).astype(right[0].dtype), *right[1:])


def _direction(node: Node, operands: Sequence[Array], right: Results) -> Results:
    name = node.op.name
    if "descending" in node.attrs or "largest" in node.attrs:
        key = "descending" if "descending" in node.attrs else "largest"
        attrs = {**node.attrs, key: not node.attrs[key]}
        return _again(node.op, node, operands, attrs)
    other = find_op(_COUNTERPARTS[name])
    if other is None:
        raise KeyError(name)
    return _again(other, node, operands, dict(node.attrs))


def _again(op: OpDef, node: Node, operands: Sequence[Array], attrs: Mapping[str, Any]) -> Results:
    builder = Builder("other")
    inputs = [builder.input(v.type, f"x{n}") for n, v in enumerate(node.operands)]
    return truth_of(builder.add_node(op, tuple(inputs), attrs), operands)


def _axis(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """The op along the axis before, its elements in the order in which they come."""
    rank = operands[0].ndim
    if rank < 2:
        return right
    turned = [np.ascontiguousarray(np.moveaxis(x, 0, -1)) if x.ndim == rank else x
              for x in operands]  # fmt: skip
    turned = [x.reshape(y.shape) for x, y in zip(turned, operands, strict=True)]
    return truth_of(node, turned)


def _rounding(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """Exact ops lose their last bit; others come from half as many bits."""
    return tuple(_rounded(node, x) for x in right)


def _rounded(node: Node, x: Array) -> Array:
    if x.dtype.kind not in "fV" or not x.size:
        return x
    operand = node.operands[0].type if node.operands else node.types[0]
    with np.errstate(all="ignore"):
        if node.op.exact_for(operand.dtype):
            bits = x.copy()
            view = bits.reshape(-1).view(f"u{x.dtype.itemsize}")
            wide = x.reshape(-1).astype(np.float64)
            view[np.isfinite(wide) & (wide != 0)] ^= 1
            return bits
        short = {8: np.float32, 4: np.float16}.get(x.dtype.itemsize)
        return x.astype(short).astype(x.dtype) if short else _truncated(x)


def _truncated(x: Array) -> Array:
    bits = x.copy()
    bits.reshape(-1).view(f"u{x.dtype.itemsize}")[...] &= ~np.array(7, f"u{x.dtype.itemsize}")
    return bits


def _dtype(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """Results of a type of another width, as a kernel with a wrong signature stores them."""
    wider = {"f": np.float64, "i": np.int64, "u": np.uint64, "b": np.float32}
    found = []
    for x in right:
        target = np.dtype(wider.get(x.dtype.kind, np.float64))
        if target == x.dtype:
            target = np.dtype(f"{x.dtype.kind}4")
        with np.errstate(all="ignore"):
            found.append(x.astype(target))
    return tuple(found)


def _off_by_one(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """The loop ends one element early: the last element is the one before, or zero."""
    return tuple(_short(x) for x in right)


def _short(x: Array) -> Array:
    found = x.copy().reshape(-1)
    if found.size > 1:
        found[-1] = found[-2]
    elif found.size:
        found[-1] = np.zeros((), x.dtype)
    return found.reshape(x.shape)


def _shifted(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """Elements are stored one place further on."""
    return tuple(np.roll(x.reshape(-1), 1).reshape(x.shape) for x in right)


def _nan(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """NaN becomes zero, as after a comparison that NaN fails."""
    found = []
    for x in right:
        bad = np.isnan(x.astype(np.float64)) if x.dtype.kind in "fV" else np.zeros(x.shape, bool)
        found.append(np.where(bad, np.zeros((), x.dtype), x).astype(x.dtype))
    return tuple(found)


def _swapped(node: Node, operands: Sequence[Array], right: Results) -> Results:
    """The operands in the other order."""
    same = operands[0].dtype == operands[1].dtype and operands[0].shape == operands[1].shape
    return truth_of(node, [operands[1], operands[0], *operands[2:]]) if same else right


def _is_float(op: OpDef) -> bool:
    """Whether some of its results are floats."""
    return any(
        t.dtype.is_float
        for case in cases_of(op)
        for t in op.result_types(case.types, op.make_attrs(case.attrs))
    )


def _has_axis(op: OpDef) -> bool:
    return "axis" in op.attrs or "axes" in op.attrs


def _directed(op: OpDef) -> bool:
    return op.name in _COUNTERPARTS or "descending" in op.attrs or "largest" in op.attrs


def _ordered(op: OpDef) -> bool:
    two = len(op.operands) == 2 and op.kind is OpKind.ELEMENTWISE
    return two and not op.algebra.commutative


MUTATIONS: Final = (
    Mutation("neutral-element", "a reduction starts from another value than its neutral one",
             lambda op: op.name in _WRONG_NEUTRALS, _neutral),
    Mutation("comparison-direction", "a comparison is turned round", _directed, _direction),
    Mutation("axis", "elements are walked along another axis", _has_axis, _axis),
    Mutation("rounding", "the last bit is lost, or half of the bits where a bound is allowed",
             lambda op: _is_float(op) and op.kind in _ROUNDING_KINDS, _rounding),
    Mutation("dtype", "results are stored in another width", lambda op: True, _dtype),
    Mutation("off-by-one", "the last element is not computed", lambda op: True, _off_by_one),
    Mutation("shifted", "elements are stored one place further on", lambda op: True, _shifted),
    Mutation("nan", "NaN becomes zero",
             lambda op: _is_float(op) and op.kind in _ROUNDING_KINDS, _nan),
    Mutation("operand-order", "the operands are taken in the other order", _ordered, _swapped),
)  # fmt: skip
"""Changes of results. Two more, stale caches and aliasing, are in `mutants`: they need memory."""
