"""Random graphs: written op by op from the registry, with operands drawn for them.

Every op that is a case of the conformance suite takes part, on the shapes and attributes of its
samples; what other ops computed is brought into their shapes by moving elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, TypeVar

import numpy as np
from realta.errors import RealtaError
from realta.graph import Builder, Graph, Value
from realta.ops import OpDef, OpKind, all_ops
from realta.types import DTYPES, DType, tensor_type
from realta_conformance.case import cases_of
from realta_conformance.values import draw

__all__ = ["Array", "random_graph"]

T = TypeVar("T")
Array = np.ndarray[Any, np.dtype[Any]]
STEPS = (3, 9)
MOST = 6000
SHAPES = ((), (1,), (17,), (64,), (1025,), (3, 33), (8, 16), (1, 33), (5, 4, 7), (2, 1, 130))
DOMAINS = ("any", "any", "unit", "small", "positive", "special")
LEFT_OUT = {OpKind.CREATION, OpKind.CONTROL, OpKind.EFFECT, OpKind.RANDOM}
WEIGHTS = {OpKind.ELEMENTWISE: 12, OpKind.MOVEMENT: 4, OpKind.REDUCE: 4, OpKind.SCAN: 2}
OWN_OPERANDS = {"indices", "sorted", "probability"}
"""Domains of operands that are drawn for the op, and not computed by others."""


@cache
def ops_by_kind() -> dict[OpKind, list[OpDef]]:
    """The ops that take part: those that are cases of the suite and need no device or graph."""
    found: dict[OpKind, list[OpDef]] = {}
    for op in all_ops():
        if op.kind not in LEFT_OUT and "device" not in op.attrs and not op.graphs and cases_of(op):
            found.setdefault(op.kind, []).append(op)
    return found


class Writer:
    """Writes a random graph and draws its operands.

    Args:
        random: where randomness comes from.
    """

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.builder = Builder("fuzz")
        self.arrays: list[Array] = []
        self.values: list[Value] = []
        for _ in range(self.number(2, 4)):
            self.values.append(self.fresh(self.dtype(), self.pick(SHAPES), self.pick(DOMAINS)))

    def number(self, low: int, high: int) -> int:
        """A number from low to high."""
        return int(self.random.integers(low, high + 1))

    def pick(self, options: Sequence[T]) -> T:
        """One of several."""
        return options[self.number(0, len(options) - 1)]

    def dtype(self) -> DType:
        """A dtype, float32 more often than others."""
        computable = [d for d in DTYPES if not d.name.startswith("float8")]
        floats = [d for d in computable if d.is_float]
        return self.pick([*computable, *floats, *[d for d in floats if d.name == "float32"] * 8])

    def fresh(self, dtype: DType, shape: tuple[int, ...], domain: str) -> Value:
        """A new input."""
        return self.given(draw(domain, dtype, shape, seed=self.random), dtype)

    def given(self, array: Array, dtype: DType) -> Value:
        """A new input with known values."""
        self.arrays.append(array)
        name = f"x{len(self.arrays) - 1}"
        return self.builder.input(tensor_type(dtype, array.shape, ""), name)

    def step(self) -> None:
        """One more op, with what it takes to bring its operands into shape."""
        table = ops_by_kind()
        kinds = [kind for kind in table for _ in range(WEIGHTS.get(kind, 1))]
        op = self.pick(table[self.pick(kinds)])
        case = self.pick(cases_of(op))
        if any(prod(t.static_shape) == 0 for t in case.types) and self.number(0, 9):
            return
        shape = self.pick(self.values[-5:]).type.static_shape
        drawn = case.operands() if OWN_OPERANDS & set(case.domains) else []
        operands = []
        for n, type in enumerate(case.types):
            if case.domains[n] in OWN_OPERANDS:
                operands.append(self.given(drawn[n], type.dtype))
                continue
            wanted = shape if op.kind is OpKind.ELEMENTWISE else type.static_shape
            operands.append(self.fit(self.of(type.dtype), wanted))
        made = self.builder.add_node(op, tuple(operands), case.attrs)
        self.values += [v for v in made.outputs if v.type.size <= MOST and v.type.rank <= 5]

    def of(self, dtype: DType) -> Value:
        """A value of a dtype, recent ones more often; cast from another one if there is none."""
        found = [v for v in self.values if v.type.dtype is dtype]
        if found and self.number(0, 7):
            return self.pick(found + found[-2:] * 2)
        value = self.pick(self.values)
        return value if value.type.dtype is dtype else self.builder.cast(value, dtype=dtype)

    def fit(self, value: Value, shape: tuple[int, ...]) -> Value:
        """The elements of a value under another shape: repeated, cut, or as they are."""
        have, size, wanted = value.type.static_shape, value.type.size, prod(shape)
        write = self.builder
        if have == shape:
            return value
        if broadcasts(have, shape):
            spread: Value = write.broadcast(value, shape=shape)
            return spread
        if not size:
            return self.fresh(value.type.dtype, shape, "any")
        if size < wanted:
            count = -(-wanted // size)
            rows = write.broadcast(write.reshape(value, shape=(1, size)), shape=(count, size))
            flat: Value = write.reshape(rows, shape=(count * size,))
        else:
            flat = write.reshape(value, shape=(size,))
        total = flat.type.size
        if total != wanted:
            start = self.number(0, total - wanted)
            flat = write.slice(flat, start=(start,), stop=(start + wanted,), step=(1,))
        if shape != (wanted,):
            flat = write.reshape(flat, shape=shape)
        return flat

    def finish(self) -> Graph:
        """The graph: its last value and some others are its results."""
        inputs = set(self.builder.inputs)
        made = [v for v in self.values if v not in inputs] or self.builder.nodes[-1].outputs
        chosen = {made[-1]: None}
        for _ in range(self.number(0, 2)):
            chosen[self.pick(made)] = None
        return self.builder.finish(*chosen)


def broadcasts(have: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether a shape stretches to another one."""
    pairs = zip(reversed(have), reversed(shape), strict=False)
    return len(have) <= len(shape) and all(a in (1, b) for a, b in pairs)


def random_graph(seed: int) -> tuple[Graph, list[Array]] | None:
    """The graph of a seed and its operands; None if no op came of it."""
    writer = Writer(np.random.default_rng(seed))
    for _ in range(writer.number(*STEPS)):
        try:
            writer.step()
        except RealtaError:
            continue  # operands that do not go together
    return (writer.finish(), writer.arrays) if writer.builder.nodes else None
