"""Executable: a planned graph as a list of calls over handles and temporaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.backend import EMPTY, Graph, Handle, KernelReport, Options, Value
from realta.fusion import Group, Plan, operations_of
from realta.graph import Node

from realta_numpy.calls import Call, FusedCall, call_of_group
from realta_numpy.direct import direct_calls
from realta_numpy.memory import as_bytes, typed
from realta_numpy.quiet import Quiet
from realta_numpy.temporaries import Temporaries

__all__ = ["NumpyExecutable"]

_NONE: frozenset[int] = frozenset()


@dataclass(slots=True, eq=False)
class _Step:
    """One call: the slots it reads and writes, and the temporaries that begin and end with it."""

    call: Call
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


class NumpyExecutable:
    """A compiled graph. Reentrant: what a run needs is in the run.

    Args:
        plan: the kernels of the graph.
        options: compile options.
        temporaries: where intermediates come from.

    Attributes:
        direct: for small results: ``direct(*handles)`` makes its own outputs; else None.
        bare: the same for handles that are arrays, see `direct_calls`.
    """

    reentrant: bool = True
    temporary_bytes: int
    kernels: Sequence[KernelReport]

    def __init__(self, plan: Plan, options: Options, temporaries: Temporaries) -> None:
        graph = plan.graph
        self._temporaries = temporaries
        self._graph = graph
        self._inputs = len(graph.inputs)
        self._layout = _Layout()
        self._constants: list[tuple[int, NDArray[Any]]] = []
        self._copies: list[tuple[int, int, int]] = []
        self._steps: list[_Step] = []
        self._variants: dict[tuple[int, int], Callable[..., None] | None] = {}
        self._place_values(graph, plan)
        self._share_slots(plan)
        self.kernels = tuple(self._add_groups(plan))
        self._plan_temporaries(graph)
        self.direct, self.bare = direct_calls(graph, [s.call for s in self._steps], self.run)

    # -- building ---------------------------------------------------------------------------------

    def _place_values(self, graph: Graph, plan: Plan) -> None:
        layout = self._layout
        for value in graph.inputs:
            layout.add(value)
        computed = {v for group in plan.groups for v in group.outputs}
        for value in graph.outputs:
            known = value in layout.slots
            slot = layout.add(value if value in computed else None)
            if known or value not in computed:
                self._copies.append((slot, -1, value.type.nbytes))
        for node in plan.constants:
            self._add_constant(node)
        pending = list(self._copies)
        self._copies = []
        for slot, _, nbytes in pending:
            value = graph.outputs[slot - self._inputs]
            if value not in layout.slots and isinstance(value, Node):
                self._add_constant(value)
            self._copies.append((slot, layout.slots[value], nbytes))

    def _add_constant(self, node: Node) -> None:
        self._constants.append((self._layout.add(node), node.attrs["value"].array))

    def _add_groups(self, plan: Plan) -> Sequence[KernelReport]:
        ordinal = {node: n for n, node in enumerate(plan.graph.nodes)}
        reports = []
        for group in plan.groups:
            if self._only_renames(group):
                continue
            name = _name(group)
            sources = []
            for part, call in call_of_group(group, name):
                reads = tuple(self._layout.slots[v] for v in part.inputs)
                writes = tuple(self._slot(v) for v in part.outputs)
                self._steps.append(_Step(call, reads, writes))
                if isinstance(call, FusedCall):
                    sources.append(call.source)
            reports.append(
                KernelReport(
                    name,
                    tuple(sorted(ordinal[n] for n in group.nodes)),
                    sum(v.type.nbytes for v in group.inputs),
                    sum(v.type.nbytes for v in group.outputs),
                    group.reason,
                    "\n".join(sources),
                    operations=operations_of(group.nodes),
                )
            )
        return reports

    def _share_slots(self, plan: Plan) -> None:
        """Lets what is then reshaped to an output be written right there."""
        slots = self._layout.slots
        for group in reversed(plan.groups):
            if _is_reshape(group) and group.inputs[0] not in slots:
                slot = slots.get(group.outputs[0])
                if slot is not None:
                    slots[group.inputs[0]] = slot

    def _only_renames(self, group: Group) -> bool:
        """Whether a group only reshapes, so that its result can be its operand's memory."""
        if not _is_reshape(group):
            return False
        slots = self._layout.slots
        source = slots[group.inputs[0]]
        return slots.setdefault(group.outputs[0], source) == source

    def _slot(self, value: Value) -> int:
        slot = self._layout.slots.get(value)
        return self._layout.add(value) if slot is None else slot

    def _plan_temporaries(self, graph: Graph) -> None:
        """Notes where each temporary begins and ends, and the most bytes they take at once."""
        fixed = self._inputs + len(graph.outputs)
        given = {slot for slot, _ in self._constants}
        size = {slot: v.type.nbytes for v, slot in self._layout.slots.items()}
        last = {s: n for n, step in enumerate(self._steps) for s in (*step.reads, *step.writes)}
        live, peak = 0, 0
        for n, step in enumerate(self._steps):
            begins = [s for s in step.writes if s >= fixed and s not in given]
            ends = [
                s
                for s in {*step.reads, *step.writes}
                if s >= fixed and s not in given and last[s] == n
            ]
            step.begins = tuple((s, size[s]) for s in begins)
            step.ends = tuple(ends)
            live += sum(size[s] for s in begins)
            peak = max(peak, live)
            live -= sum(size[s] for s in ends)
        self.temporary_bytes = peak

    # -- running ----------------------------------------------------------------------------------

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = _NONE,
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        """Runs it; done when it returns."""
        slots: list[Any] = [
            *inputs,
            *outputs,
            *[None] * (self._layout.size - len(inputs) - len(outputs)),
        ]
        for slot, array in self._constants:
            slots[slot] = array
        with Quiet():
            calls = self._in_place(slots, outputs, donated) if donated else None
            for n, step in enumerate(self._steps):
                for slot, nbytes in step.begins:
                    slots[slot] = self._temporaries.take(nbytes)
                call = step.call if calls is None else calls.get(n, step.call)
                call(*[slots[s] for s in step.reads], *[slots[s] for s in step.writes])
                for slot in step.ends:
                    self._temporaries.give(slots[slot])
                    slots[slot] = None
            for target, source, nbytes in self._copies:
                if slots[target] is not slots[source]:
                    np.copyto(as_bytes(slots[target], nbytes), as_bytes(slots[source], nbytes))

    def _in_place(
        self, slots: list[Any], outputs: Sequence[Handle], donated: frozenset[int]
    ) -> dict[int, Callable[..., None]]:
        """Calls that write an output over a donated input; copies the input if that is unsafe."""
        calls: dict[int, Callable[..., None]] = {}
        for number in donated:
            for output, handle in enumerate(outputs):
                if handle is not slots[number]:
                    continue
                found = self._variant(number, output)
                if found is None:
                    slots[number] = typed(handle, handle.shape, handle.dtype).copy()
                else:
                    calls[found[0]] = found[1]
        return calls

    def _variant(self, number: int, output: int) -> tuple[int, Callable[..., None]] | None:
        slot = self._inputs + output
        readers = [n for n, s in enumerate(self._steps) if number in s.reads]
        copied = any(source == number for _, source, _ in self._copies)
        if len(readers) != 1 or copied or slot not in self._steps[readers[0]].writes:
            return None
        step = self._steps[readers[0]]
        key = (number, output)
        if key not in self._variants:
            place = step.reads.index(number), step.writes.index(slot)
            self._variants[key] = step.call.in_place(*place)
        call = self._variants[key]
        return None if call is None else (readers[0], call)

    def close(self) -> None:
        """Holds nothing that outlives it."""


def _is_reshape(group: Group) -> bool:
    """Whether the elements keep their order, so that the bytes are the same."""
    alone = len(group.inputs) == len(group.outputs) == 1
    return alone and all(node.op.name in ("reshape", "barrier") for node in group.nodes)


def _name(group: Group) -> str:
    names = [n.op.name for n in group.nodes if group.levels.get(n) != "view"]
    shown = names or [group.nodes[-1].op.name]
    return "_".join(shown) if len(shown) <= 4 else f"{shown[0]}_to_{shown[-1]}_{len(shown)}"
