"""Packing: up to 64 cases in one graph, so that a slow compiler is asked once for all of them.

The cases of a pack share nothing. A pack that cannot be compiled or run is split in halves until
the guilty cases stand alone; a case that fails in a pack is run alone as well, and the report says
which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from realta.backend import Executable, Graph, TensorType
from realta.graph import Builder, Location, Node, Value
from realta.ops import OpKind
from realta.passes import Decompose

from realta_conformance.case import Case
from realta_conformance.device import Device
from realta_conformance.formats import Array

__all__ = ["MOST_CASES", "Pack", "launches_of", "lifted", "normal_graph", "pack", "packs_of"]

MOST_CASES: Final = 64
_IDLE: Final = frozenset({OpKind.MOVEMENT, OpKind.CREATION})


@dataclass(frozen=True, slots=True)
class Pack:
    """Several cases as one graph in normal form.

    Args:
        cases: the cases.
        graph: what the session is given.
        operands: arrays for the graph's inputs, in the first and in the second call.
        spans: for each case, where its results stand among the outputs.
        owners: for each node, the number of its case.
        inputs: for each case, where its operands stand among the inputs.
    """

    cases: tuple[Case, ...]
    graph: Graph
    operands: tuple[list[Array], list[Array]]
    spans: tuple[slice, ...]
    owners: tuple[int, ...]
    inputs: tuple[slice, ...]

    @property
    def input_types(self) -> list[TensorType]:
        """Types of the inputs."""
        return [v.type for v in self.graph.inputs]

    @property
    def output_types(self) -> list[TensorType]:
        """Types of the outputs."""
        return [v.type for v in self.graph.outputs]


def packs_of(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """The cases in portions of `MOST_CASES`."""
    return [tuple(cases[n : n + MOST_CASES]) for n in range(0, len(cases), MOST_CASES)]


def normal_graph(device: Device, graph: Graph) -> Graph:
    """A graph as a session gets it: composites that it does not claim are expanded."""
    return Decompose(device.claims).run(graph)


def lifted(device: Device, graph: Graph) -> tuple[Graph, list[Array]]:
    """A graph whose constants, where the session does not declare them, come in as inputs.

    Core does the same for such a session: it writes the bytes itself.
    """
    literals = [v for v in graph.nodes if v.op.name == "constant" and not device.declares(v)]
    if not literals:
        return graph, []
    rest = [v for v in graph.nodes if v not in literals]
    whole = Graph(graph.name, (*graph.inputs, *literals), graph.outputs, rest)
    return whole, [v.attrs["value"].array for v in literals]


def pack(device: Device, cases: Sequence[Case], *, constants: bool = False) -> Pack:
    """Writes cases into one graph.

    Args:
        device: whose claims decide what is decomposed.
        cases: the cases.
        constants: whether operands are literals of the graph and not inputs.
    """
    builder = Builder("cases")
    outputs: list[Value] = []
    marks, ends, starts = [0], [0], [0]
    first: list[Array] = []
    second: list[Array] = []
    for n, case in enumerate(cases):
        builder.where = Location(None, 0, f"{case.id}:{n}")
        calls = case.calls()
        values: list[Value] = []
        for k, (type_, array) in enumerate(zip(case.types, calls[0][0], strict=True)):
            if constants:
                values.append(builder.constant(array, type_))
                continue
            values.append(builder.input(type_, f"x{n}_{k}"))
        if not constants:
            first += calls[0][0]
            second += calls[1][0]
        outputs += case.write(builder, values)
        ends.append(len(outputs))
        starts.append(len(first))
        marks.append(n)
    graph, literals = lifted(device, normal_graph(device, builder.finish(*outputs)))
    first += literals
    second += literals
    owners = tuple(_owner(node) for node in graph.nodes)
    return Pack(
        tuple(cases), graph, (first, second), tuple(slice(a, b) for a, b in pairwise(ends)),
        owners, tuple(slice(a, b) for a, b in pairwise(starts)),
    )  # fmt: skip


def _owner(node: Node) -> int:
    where = node.location
    return where.line if where is not None else -1


def launches_of(packed: Pack, executable: Executable) -> list[int | None]:
    """For each case, how many reported kernels took part; None where nothing has to be launched.

    Movement, constants and results without elements may need no kernel at all. Kernels that are
    declared to run on the host count as none, and excuse the case.
    """
    counts: list[int | None] = [0] * len(packed.cases)
    for n in range(len(packed.cases)):
        nodes = [
            v for v, owner in zip(packed.graph.nodes, packed.owners, strict=True) if owner == n
        ]
        busy = [v for v in nodes if v.op.kind not in _IDLE and any(t.size for t in v.types)]
        if not busy or not any(t.size for t in packed.output_types[packed.spans[n]]):
            counts[n] = None
    for kernel in executable.kernels:
        for n in {packed.owners[k] for k in kernel.nodes if 0 <= k < len(packed.owners)}:
            held = counts[n]
            if kernel.host:
                counts[n] = held or None
            elif held is not None:
                counts[n] = held + 1
    return counts
