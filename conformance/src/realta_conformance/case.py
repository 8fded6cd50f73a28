"""Case: one thing to compute on a device, with its operands and what must come out.

The id names the level, the op, the dtype and the sample: ``core/add-f32-17-special``. Ids are API:
expectation files, reports and replay commands are built on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from realta.errors import RealtaError
from realta.graph import Builder, Graph, Value, all_nodes, parse
from realta.ops import OpDef, OpKind, Sample, all_ops
from realta.types import DTYPES, DType, TensorType, tensor_type

from realta_conformance.expected import Expected, expect, expect_graph
from realta_conformance.formats import Array, native, round_to
from realta_conformance.values import draw, generator

__all__ = ["Case", "GraphCase", "OpCase", "cases_of", "graph_case", "op_cases"]


@dataclass(slots=True, eq=False)
class Case:
    """One computation.

    Args:
        id: its name.
        level: the level it belongs to.
        op: the op, or the pattern, that coverage counts it under.
        dtype: the dtype that coverage counts it under.
        types: types of its operands.
        note: what it is there to catch.
    """

    id: str
    level: str
    op: str
    dtype: DType
    types: tuple[TensorType, ...]
    note: str
    _first: tuple[Any, Any] | None = field(default=None, init=False)

    @property
    def exact(self) -> bool:
        """Whether its results are correctly rounded, so that no way taken changes a bit."""
        raise NotImplementedError

    @property
    def elements(self) -> int:
        """Elements of its largest operand (or result, of a single op)."""
        return max((t.size for t in self.types), default=0)

    def operands(self, turn: int = 0) -> list[Array]:
        """Operands in the storage of their dtypes.

        Args:
            turn: 0 for the first call, 1 for a second one with other values.
        """
        raise NotImplementedError

    def expected(self, operands: Sequence[Array]) -> tuple[Expected, ...]:
        """What must come out for these operands."""
        raise NotImplementedError

    def write(self, builder: Builder, values: Sequence[Value]) -> tuple[Value, ...]:
        """Writes the computation into a graph; returns its results."""
        raise NotImplementedError

    def calls(self) -> tuple[tuple[list[Array], tuple[Expected, ...]], ...]:
        """Operands and results of a first and of a second call; the truth is found once."""
        if self._first is None:
            first, second = self.operands(0), self.operands(1)
            self._first = ((first, self.expected(first)), (second, self.expected_second(second)))
        return self._first

    def expected_second(self, operands: Sequence[Array]) -> tuple[Expected, ...]:
        """What must come out of the second call."""
        return self.expected(operands)

    def graph(self) -> Graph:
        """The computation as a graph of its own."""
        builder = Builder(self.id.replace("/", "_").replace("-", "_"))
        inputs = [builder.input(t, f"x{n}") for n, t in enumerate(self.types)]
        outputs = self.write(builder, inputs)
        return builder.finish(*outputs)


@dataclass(slots=True, eq=False)
class OpCase(Case):
    """One op of the registry on one sample."""

    definition: OpDef
    sample: Sample
    attrs: Mapping[str, Any]
    domains: tuple[str, ...]

    @property
    def exact(self) -> bool:
        return self.definition.exact_for(self.dtype)

    @property
    def elements(self) -> int:
        results = self.definition.result_types(self.types, self.definition.make_attrs(self.attrs))
        return max(t.size for t in (*self.types, *results))

    @property
    def mirrored(self) -> bool:
        """Whether a second call may take the first one's operands backwards, and its truth too."""
        same = len({t.static_shape for t in self.types}) == 1
        return same and self.definition.kind is OpKind.ELEMENTWISE

    def operands(self, turn: int = 0) -> list[Array]:
        if turn and self.mirrored:
            return [np.ascontiguousarray(x.ravel()[::-1]).reshape(x.shape) for x in self.operands()]
        seed = generator(self.id, turn)
        pairs = zip(self.types, self.domains, strict=True)
        return [
            draw(d, t.dtype, t.static_shape, seed=seed, number=n, turn=turn, extent=self._extent())
            for n, (t, d) in enumerate(pairs)
        ]

    def _extent(self) -> int | None:
        """Length of the axis that an operand of indices points into."""
        for name in ("extent", "depth"):
            if name in self.attrs:
                return int(self.attrs[name]) or None
        axis = self.attrs.get("axis")
        return None if axis is None else self.types[0].static_shape[axis]

    def expected(self, operands: Sequence[Array]) -> tuple[Expected, ...]:
        return expect(self.definition, operands, self.types, self.attrs)

    def expected_second(self, operands: Sequence[Array]) -> tuple[Expected, ...]:
        if not self.mirrored:
            return self.expected(operands)
        return tuple(_backwards(e) for e in self.expected(self.operands()))

    def calls(self) -> tuple[tuple[list[Array], tuple[Expected, ...]], ...]:
        if self._first is None and self.mirrored:
            first = self.operands(0)
            truth = self.expected(first)
            self._first = ((first, truth), (self.operands(1), tuple(map(_backwards, truth))))
        return Case.calls(self)

    def write(self, builder: Builder, values: Sequence[Value]) -> tuple[Value, ...]:
        return builder.add_node(self.definition, tuple(values), self.attrs).outputs


def _backwards(value: Expected) -> Expected:
    def turn(x: Array | None) -> Array | None:
        return None if x is None else np.ascontiguousarray(x.ravel()[::-1]).reshape(x.shape)

    high = turn(value.high)
    if high is None:
        raise TypeError("a truth has values")
    return Expected(value.type, high, turn(value.low), turn(value.error), turn(value.free))


@dataclass(slots=True, eq=False)
class GraphCase(Case):
    """A graph of several ops, from its text."""

    source: Graph
    domains: tuple[str, ...]
    rounds: bool
    given: tuple[Any, ...]

    @property
    def exact(self) -> bool:
        return all(
            n.op.exact_for(n.op.data_dtype([v.type for v in n.operands], n.types))
            for n in all_nodes(self.source)
        )

    def operands(self, turn: int = 0) -> list[Array]:
        if self.given:
            arrays = [_written(v, t) for v, t in zip(self.given, self.types, strict=True)]
            return [_turned(x) for x in arrays] if turn else arrays
        seed = generator(self.id, turn)
        return [
            draw(d, t.dtype, t.static_shape, seed=seed, number=n, turn=turn)
            for n, (t, d) in enumerate(zip(self.types, self.domains, strict=True))
        ]

    def expected(self, operands: Sequence[Array]) -> tuple[Expected, ...]:
        return expect_graph(self.source, operands, rounds=self.rounds)

    def write(self, builder: Builder, values: Sequence[Value]) -> tuple[Value, ...]:
        known: dict[Value, Value] = dict(zip(self.source.inputs, values, strict=True))
        for node in self.source.nodes:
            copy = builder.add_node(node.op, tuple(known[v] for v in node.operands), node.attrs)
            known.update(zip(node.outputs, copy.outputs, strict=True))
        return tuple(known[v] for v in self.source.outputs)


def _turned(x: Array) -> Array:
    return np.ascontiguousarray(x.ravel()[::-1]).reshape(x.shape)


def _numbers(value: Any) -> Any:
    """Nested lists in which ``"nan"`` and ``"-inf"`` stand for themselves."""
    if isinstance(value, list):
        return [_numbers(v) for v in value]
    return float(value) if isinstance(value, str) else value


def _written(value: Any, type_: TensorType) -> Array:
    """An operand from its written form: nested lists, or ``{"fill": number}``."""
    if isinstance(value, dict):
        array = np.full(type_.static_shape, value["fill"])
    else:
        array = np.array(_numbers(value)).reshape(type_.static_shape)
    if type_.dtype.is_float:
        return native(type_.dtype, round_to(type_.dtype, array.astype(np.float64)))
    return native(type_.dtype, array)


def _operand_types(op: OpDef, sample: Sample, dtype: DType) -> tuple[TensorType, ...]:
    fixed = sample.dtypes or (None,) * len(sample.shapes)
    return tuple(
        tensor_type(dtype if given is None else given, tuple(shape), "")
        for shape, given in zip(sample.shapes, fixed, strict=True)
    )


def _domains(sample: Sample) -> tuple[str, ...]:
    if isinstance(sample.domain, str):
        return (sample.domain,) * len(sample.shapes)
    return sample.domain


def _shape_name(sample: Sample) -> str:
    names = ["x".join(map(str, shape)) or "scalar" for shape in sample.shapes]
    unique = list(dict.fromkeys(names))
    return "-".join(names if len(unique) > 1 else unique) or "none"


@cache
def cases_of(op: OpDef) -> tuple[OpCase, ...]:
    """The cases of one op: its samples times its dtypes, where they fit."""
    return tuple(_cases_of(op))


def _cases_of(op: OpDef) -> Iterator[OpCase]:
    for dtype in DTYPES:
        if dtype not in op.dtypes:
            continue
        taken: dict[str, int] = {}
        for sample in op.samples:
            types = _operand_types(op, sample, dtype)
            try:
                attrs = op.make_attrs(sample.attrs_for(dtype))
                results = op.result_types(types, attrs)
            except RealtaError:
                continue  # an attribute or an operand dtype that this dtype does not go with
            domains = _domains(sample)
            kind = next((d for d in domains if d == "special"), "")
            name = "-".join(filter(None, (op.name, dtype.short, _shape_name(sample), kind)))
            taken[name] = taken.get(name, 0) + 1
            if taken[name] > 1:
                name = f"{name}-{taken[name]}"
            counted = op.data_dtype(types, results)
            yield OpCase(
                id=f"{op.level}/{name}", level=op.level, op=op.name, dtype=counted, types=types,
                note=sample.note, definition=op, sample=sample, attrs=attrs, domains=domains,
            )  # fmt: skip


def op_cases(level: str | None = None) -> Iterator[OpCase]:
    """The cases of every op of a level, or of all of them, in the order of the registry."""
    for op in all_ops():
        if level in (None, op.level) and op.name != "transfer":
            yield from cases_of(op)


def graph_case(
    name: str,
    level: str,
    text: str,
    dtype: DType,
    domains: Sequence[str] = ("any",),
    note: str = "",
    *,
    rounds: bool = True,
    given: Sequence[Any] = (),
) -> GraphCase:
    """A case from graph text.

    Args:
        name: its name; the id adds the level and the dtype.
        level: its level.
        text: the graph, in which ``$T`` stands for the dtype.
        dtype: the dtype.
        domains: value domain of each input, or one for all.
        note: what it catches.
        rounds: whether the device promises that every op rounds at its boundary.
        given: operands in written form, instead of drawn ones.
    """
    graph = parse(text.replace("$T", dtype.short))
    types = tuple(v.type for v in graph.inputs)
    values = tuple(domains) if len(domains) == len(types) else (domains[0],) * len(types)
    return GraphCase(
        id=f"{level}/{name}-{dtype.short}", level=level, op=name, dtype=dtype, types=types,
        note=note, source=graph, domains=values, rounds=rounds, given=tuple(given),
    )  # fmt: skip
