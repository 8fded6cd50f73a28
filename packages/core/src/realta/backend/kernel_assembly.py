"""Kernel assembly: from a plan to the steps of a run: kernels, their arguments, their memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

from realta.backend.kernel_host import HOST_SCHEDULE, HostContraction, host_contraction
from realta.backend.kernel_memory import Span, share_cells
from realta.codegen.ir import Kernel
from realta.codegen.lowered import Argument, Temporary
from realta.codegen.lowering import lower
from realta.codegen.printer import print_kernel
from realta.codegen.rendering import signature
from realta.fusion import Group, Plan, operations_of
from realta.graph import Graph, Node, Value
from realta.runtime.contract import KernelReport
from realta.runtime.dumping import dump_file, node_lines
from realta.types import TensorType

if TYPE_CHECKING:
    from realta.backend.kernel_session import KernelSession

__all__ = ["Assembly", "Copy", "Step"]

Place = Value | tuple[int, int]
"""Where a buffer is: a value of the graph, or a temporary by numbers of its group and its own."""


class Copy(NamedTuple):
    """An output that is computed elsewhere: its source and its own slot."""

    source: int
    target: int
    type: TensorType


class Step:
    """One launch, or one contraction on the host.

    Args:
        group: what it is part of.
        places: what its arguments are.
        work: the kernel, or what the host does.
        schedule: the schedule in a few words.

    Attributes:
        slots: slots of its arguments.
        ordinals: numbers of its group's nodes in the graph.
    """

    __slots__ = ("first", "group", "ordinals", "places", "schedule", "slots", "work")

    def __init__(
        self, group: Group, places: tuple[Place, ...], work: Kernel | HostContraction,
        schedule: str, *, first: bool = True,
    ) -> None:  # fmt: skip
        self.group = group
        self.places = places
        self.work = work
        self.schedule = schedule
        self.first = first
        self.ordinals: tuple[int, ...] = ()
        self.slots: tuple[int, ...] = ()


class Assembly:
    """Numbers the slots of a plan and shares out its memory.

    Args:
        session: compiles.
        plan: the kernels.

    Attributes:
        steps: in the order of a run.
        constants: constants that are kept in memory.
        cells: sizes of the cells of what lives inside a run.
        copies: outputs to be copied at the end.
    """

    def __init__(self, session: KernelSession, plan: Plan) -> None:
        self._session = session
        graph = plan.graph
        numbers = {node: n for n, node in enumerate(graph.nodes)}
        groups = [group for group in plan.groups if not _is_constant(group)]
        computed = {value for group in groups for value in group.outputs}
        renamed = _renamed_outputs(graph, groups, computed)
        free = set(renamed.values())
        groups = [group for group in groups if free.isdisjoint(group.nodes)]
        self.steps: list[Step] = []
        for number, group in enumerate(groups):
            for step in self._lowered(number, group):
                step.ordinals = tuple(sorted(numbers[n] for n in group.nodes if n in numbers))
                self.steps.append(step)
        self._name_kernels()
        slots: dict[Place, int] = {value: n for n, value in enumerate(graph.inputs)}
        repeated = _number_outputs(graph, computed, slots)
        slots |= {value: slots[output] for value, output in renamed.items()}
        self.constants = self._used_constants(repeated, slots)
        base = len(graph.inputs) + len(graph.outputs)
        for n, node in enumerate(self.constants):
            slots[node] = base + n
        self.copies = [Copy(slots[value], slot, value.type) for value, slot in repeated]
        self.cells = self._share_memory(slots, base + len(self.constants))
        for step in self.steps:
            step.slots = tuple([slots[place] for place in step.places])

    def _used_constants(
        self, repeated: Sequence[tuple[Value, int]], slots: Mapping[Place, int]
    ) -> list[Node]:
        """The constants that kernels or outputs read from memory."""
        read = [value for value, _ in repeated] + [p for step in self.steps for p in step.places]
        return [
            value
            for value in dict.fromkeys(read)
            if isinstance(value, Node) and value.op.name == "constant" and value not in slots
        ]

    def _lowered(self, number: int, group: Group) -> Iterator[Step]:
        session = self._session
        host = host_contraction(session, group)
        if host is not None:
            yield Step(group, (*host.reads, host.node), host, HOST_SCHEDULE)
            return
        lowered = lower(group, session.profile, session.limits)
        for n, launch in enumerate(lowered.launches):
            places = tuple([_place(number, bound) for bound in launch.arguments])
            yield Step(group, places, launch.kernel, lowered.schedule, first=n == 0)

    def _name_kernels(self) -> None:
        """Names kernels for their ops; those that do the same are one kernel."""
        known: dict[tuple[object, ...], Kernel] = {}
        names: dict[str, int] = {}
        for step in self.steps:
            kernel = step.work
            if not isinstance(kernel, Kernel):
                continue
            name = _name(step.group)
            key = (name, kernel.buffers, kernel.groups, kernel.lanes, kernel.body)
            if key not in known:
                # A number at the end keeps names apart from the functions of any language.
                names[name] = names.get(name, -1) + 1
                known[key] = _renamed(kernel, f"{name}_{names[name]}")
            step.work = known[key]

    def _share_memory(self, slots: dict[Place, int], base: int) -> list[int]:
        first: dict[Place, int] = {}
        last: dict[Place, int] = {}
        sizes: dict[Place, int] = {}
        for n, step in enumerate(self.steps):
            for place, nbytes in zip(step.places, self._sizes(step), strict=True):
                if place not in slots:
                    first.setdefault(place, n)
                    last[place] = n
                    sizes[place] = max(nbytes, 1)
        spans = [Span(sizes[place], first[place], last[place]) for place in first]
        cells, found = share_cells(spans)
        for place, cell in zip(first, cells, strict=True):
            slots[place] = base + cell
        return found

    def _sizes(self, step: Step) -> list[int]:
        if isinstance(step.work, Kernel):
            return [buffer.size * buffer.dtype.itemsize for buffer in step.work.buffers]
        return [place.type.nbytes for place in step.places if isinstance(place, Value)]

    # -- what the executable takes ----------------------------------------------------------------

    def calls(self) -> list[Callable[..., None]]:
        """What each step calls with its handles; builds the kernels."""
        session = self._session
        kernels = list(dict.fromkeys([s.work for s in self.steps if isinstance(s.work, Kernel)]))
        signatures = {kernel: signature(kernel, session.profile) for kernel in kernels}
        module = session.module(kernels, list(signatures.values())) if kernels else None
        return [
            session.prepare(module, signatures[step.work])
            if isinstance(step.work, Kernel)
            else step.work.call(session)
            for step in self.steps
        ]

    def reports(self) -> Sequence[KernelReport]:
        """One report for each step."""
        return tuple([self._report(step) for step in self.steps])

    def _report(self, step: Step) -> KernelReport:
        session, group, kernel = self._session, step.group, step.work
        reason = group.reason if step.first else "it needs all that the kernel before it wrote"
        operations = operations_of(group.nodes) if step.first else 0
        if not isinstance(kernel, Kernel):
            read = sum(value.type.nbytes for value in group.inputs)
            written = sum(value.type.nbytes for value in group.outputs)
            return KernelReport(
                "dot_general", step.ordinals, read, written, reason,
                host=True, schedule=step.schedule, operations=operations,
            )  # fmt: skip
        moved = {"input": 0, "output": 0, "temporary": 0}
        for buffer in kernel.buffers:
            moved[buffer.role] += buffer.size * buffer.dtype.itemsize
        return KernelReport(
            kernel.name, step.ordinals, moved["input"], moved["output"], reason,
            session.text(kernel), schedule=step.schedule, profile=session.profile.name,
            operations=operations,
        )  # fmt: skip

    def dump(self, folder: str) -> None:
        """Writes the kernel IR of each kernel, with what it computes, into a folder."""
        known = set()
        for step in self.steps:
            if isinstance(step.work, Kernel) and step.work not in known:
                known.add(step.work)
                about = [f"; {line}" for line in node_lines(step.group.nodes)]
                text = "\n".join([*about, "", print_kernel(step.work)])
                dump_file(folder, f"{step.work.name}.kernel", text)


def _is_constant(group: Group) -> bool:
    """Whether a group is nothing but a constant, which is kept rather than computed."""
    return [node.op.name for node in group.nodes] == ["constant"]


def _renamed_outputs(
    graph: Graph, groups: Sequence[Group], computed: AbstractSet[Value]
) -> dict[Value, Value]:
    """Values of which an output is only another shape: they are computed in its memory."""
    outputs = set(graph.outputs)
    found: dict[Value, Value] = {}
    for group in groups:
        if len(group.nodes) == 1 and group.nodes[0].op.name == "reshape":
            (node,) = group.nodes
            (value,) = node.operands
            if node in outputs and value in computed and value not in outputs:
                found.setdefault(value, node)
    return found


def _number_outputs(
    graph: Graph, computed: set[Value], slots: dict[Place, int]
) -> list[tuple[Value, int]]:
    """Gives outputs their slots; returns those that are copies of something else."""
    repeated = []
    for n, value in enumerate(graph.outputs):
        slot = len(graph.inputs) + n
        if value in slots or value not in computed:
            repeated.append((value, slot))
        else:
            slots[value] = slot
    return repeated


def _name(group: Group) -> str:
    """The ops of a group as an identifier."""
    names = [node.op.name for node in group.nodes if group.levels.get(node) != "view"]
    names = [re.sub(r"\W", "_", name) for name in names or [group.nodes[-1].op.name]]
    return "_".join(names) if len(names) <= 4 else f"{names[0]}_to_{names[-1]}_{len(names)}"


def _place(group: int, bound: Argument) -> Place:
    return (group, bound.number) if isinstance(bound, Temporary) else bound


def _renamed(kernel: Kernel, name: str) -> Kernel:
    return Kernel(name, kernel.buffers, kernel.groups, kernel.lanes, kernel.body, kernel.notes)
