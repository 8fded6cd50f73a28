"""Schedule: a plan as calls in order over slots, with the temporaries between them.

Sizes are numbers, or symbolic extents where a graph has such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from numpy.typing import NDArray
from realta.backend import KernelReport, Value
from realta.fusion import Group, Plan, operations_of
from realta.graph import Graph, Node
from realta.types import TensorType

from realta_numpy.calls import FusedCall

__all__ = ["Schedule", "Step", "bytes_of", "peak_bytes"]


@dataclass(slots=True, eq=False)
class Step:
    """One call: the slots it reads and writes, and the temporaries that begin and end with it."""

    call: Any
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    begins: tuple[tuple[int, int], ...] = ()
    ends: tuple[int, ...] = ()


@dataclass(slots=True)
class _Layout:
    """Slots of a plan: inputs, then outputs, then constants and temporaries."""

    slots: dict[Value, int] = field(default_factory=dict)
    size: int = 0

    def add(self, value: Value | None) -> int:
        slot = self.size
        self.size += 1
        if value is not None:
            self.slots.setdefault(value, slot)
        return slot


class Schedule:
    """The calls of a plan.

    Args:
        plan: the kernels of a graph.
        calls_of: what runs a group: calls in order, each with the group that it computes.

    Attributes:
        layout: the slots.
        constants: slots that hold constants.
        copies: at the end: slot written, slot read, bytes.
        steps: the calls; a temporary begins with its slot and the number of its size.
        sizes: the bytes of temporaries, each size once.
    """

    def __init__(
        self, plan: Plan, calls_of: Callable[[Group, str], list[tuple[Group, Any]]]
    ) -> None:
        graph = plan.graph
        self.plan = plan
        self._inputs = len(graph.inputs)
        self._calls_of = calls_of
        self.layout = _Layout()
        self.constants: list[tuple[int, NDArray[Any]]] = []
        self.copies: list[tuple[int, int, Any]] = []
        self.steps: list[Step] = []
        self.sizes: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._groups: list[tuple[Group, list[Any]]] = []
        self._place_values(graph, plan)
        self._share_slots(plan)
        self._add_groups(plan)
        self._plan_temporaries(graph)

    def _place_values(self, graph: Graph, plan: Plan) -> None:
        layout = self.layout
        for value in graph.inputs:
            layout.add(value)
        computed = {v for group in plan.groups for v in group.outputs}
        for value in graph.outputs:
            known = value in layout.slots
            slot = layout.add(value if value in computed else None)
            if known or value not in computed:
                self.copies.append((slot, -1, bytes_of(value.type)))
        for node in plan.constants:
            self._add_constant(node)
        pending = list(self.copies)
        self.copies = []
        for slot, _, nbytes in pending:
            value = graph.outputs[slot - self._inputs]
            if value not in layout.slots and isinstance(value, Node):
                self._add_constant(value)
            self.copies.append((slot, layout.slots[value], nbytes))

    def _add_constant(self, node: Node) -> None:
        self.constants.append((self.layout.add(node), node.attrs["value"].array))

    def _add_groups(self, plan: Plan) -> None:
        for group in plan.groups:
            if self._only_renames(group):
                continue
            calls = []
            for part, call in self._calls_of(group, _name(group)):
                reads = tuple(self.layout.slots[v] for v in part.inputs)
                writes = tuple(self._slot(v) for v in part.outputs)
                self.steps.append(Step(call, reads, writes))
                calls.append(call)
            self._groups.append((group, calls))

    @property
    def launches(self) -> int:
        """How many kernels a run launches."""
        return len(self._groups)

    def reports(self, bound: Callable[[Group], Group]) -> tuple[KernelReport, ...]:
        """A report for each kernel.

        Args:
            bound: gives a group with numbers for its extents.
        """
        ordinal = {node: n for n, node in enumerate(self.plan.graph.nodes)}
        reports = []
        for group, calls in self._groups:
            sources = [call.source for call in calls if isinstance(call, FusedCall)]
            known = bound(group)
            reports.append(
                KernelReport(
                    _name(group),
                    tuple(sorted(ordinal[n] for n in group.nodes)),
                    sum(v.type.nbytes for v in known.inputs),
                    sum(v.type.nbytes for v in known.outputs),
                    group.reason,
                    "\n".join(sources),
                    operations=operations_of(known.nodes),
                )
            )
        return tuple(reports)

    def _share_slots(self, plan: Plan) -> None:
        """Lets what is then reshaped to an output be written right there."""
        slots = self.layout.slots
        for group in reversed(plan.groups):
            if _is_reshape(group) and group.inputs[0] not in slots:
                slot = slots.get(group.outputs[0])
                if slot is not None:
                    slots[group.inputs[0]] = slot

    def _only_renames(self, group: Group) -> bool:
        """Whether a group only reshapes, so that its result can be its operand's memory."""
        if not _is_reshape(group):
            return False
        slots = self.layout.slots
        source = slots[group.inputs[0]]
        return slots.setdefault(group.outputs[0], source) == source

    def _slot(self, value: Value) -> int:
        slot = self.layout.slots.get(value)
        return self.layout.add(value) if slot is None else slot

    def _plan_temporaries(self, graph: Graph) -> None:
        """Notes where each temporary begins and ends."""
        fixed = self._inputs + len(graph.outputs)
        given = {slot for slot, _ in self.constants}
        size = {slot: bytes_of(v.type) for v, slot in self.layout.slots.items()}
        last = {s: n for n, step in enumerate(self.steps) for s in (*step.reads, *step.writes)}
        for n, step in enumerate(self.steps):
            begins = [s for s in step.writes if s >= fixed and s not in given]
            step.begins = tuple([(s, self._size_number(size[s])) for s in begins])
            step.ends = tuple(
                s
                for s in {*step.reads, *step.writes}
                if s >= fixed and s not in given and last[s] == n
            )

    def _size_number(self, nbytes: Any) -> int:
        number = self._numbers.setdefault(str(nbytes), len(self.sizes))
        if number == len(self.sizes):
            self.sizes.append(nbytes)
        return number


def bytes_of(type: TensorType) -> Any:
    """Bytes of a tensor: a number, or an extent where its shape is symbolic."""
    return prod(type.shape) * type.dtype.itemsize


def peak_bytes(steps: Sequence[Step], sizes: Sequence[int]) -> int:
    """The most bytes that temporaries take at once."""
    taken: dict[int, int] = {}
    live, peak = 0, 0
    for step in steps:
        for slot, size in step.begins:
            taken[slot] = sizes[size]
            live += sizes[size]
        peak = max(peak, live)
        live -= sum([taken[slot] for slot in step.ends])
    return peak


def _is_reshape(group: Group) -> bool:
    """Whether the elements keep their order, so that the bytes are the same."""
    alone = len(group.inputs) == len(group.outputs) == 1
    return alone and all(node.op.name in ("reshape", "barrier") for node in group.nodes)


def _name(group: Group) -> str:
    names = [n.op.name for n in group.nodes if group.levels.get(n) != "view"]
    shown = names or [group.nodes[-1].op.name]
    return "_".join(shown) if len(shown) <= 4 else f"{shown[0]}_to_{shown[-1]}_{len(shown)}"
