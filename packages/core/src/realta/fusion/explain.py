"""Explanation: what a plan does and why, as data and as text for people."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from realta.fusion.arithmetic import operations_of
from realta.fusion.group import Boundary, Group, Plan
from realta.fusion.traffic import bytes_of, unfused_bytes
from realta.graph import Graph, Node, Value
from realta.graph.naming import value_names
from realta.graph.printer import GraphPrinter
from realta.types import Shape

__all__ = ["Apart", "Code", "Explanation", "KernelText", "Member", "Transfer", "explain_plan"]

_SHOWN_OPS: Final = 60
_SHOWN_KERNELS: Final = 60


@dataclass(frozen=True, slots=True)
class Member:
    """An op of a kernel.

    Args:
        op: its name.
        text: its line in the graph.
        location: file and line of the user's call, or empty.
        role: ``computed``, ``index map`` or ``literal``.
    """

    op: str
    text: str
    location: str
    role: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """A tensor that a kernel reads from memory or writes to it.

    Args:
        name: name in the graph.
        type: its type.
        bytes: bytes moved; None where the shape is symbolic.
    """

    name: str
    type: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Apart:
    """Why a kernel is not one with a producer of its inputs.

    Args:
        kernel: number of the producer.
        name: the value that is stored between them.
        reason: why.
        op: the op that keeps them apart.
        location: its file and line, or empty.
    """

    kernel: int
    name: str
    reason: str
    op: str
    location: str


@dataclass(frozen=True, slots=True)
class Code:
    """What a device makes of a kernel.

    Args:
        schedule: who computes what, in a few words; empty if the device does not tell.
        profile: the kind of device that it is scheduled for; empty if the device does not tell.
        sources: the generated code of each launch.
    """

    schedule: str = ""
    profile: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelText:
    """One kernel.

    Args:
        kind: kind of the group.
        shape: the loops over elements, as text.
        axes: reduced axes.
        region: name of the fusion region and its policy, or empty.
        members: its ops in order.
        reads: what it reads.
        writes: what it stores.
        apart: why it is not one with the kernels before it.
        operations: arithmetic operations of its ops; symbolic shapes do not count.
        code: what the device makes of it.
    """

    kind: str
    shape: str
    axes: tuple[int, ...]
    region: str
    members: tuple[Member, ...]
    reads: tuple[Transfer, ...]
    writes: tuple[Transfer, ...]
    apart: tuple[Apart, ...]
    operations: int = 0
    code: Code = Code()

    @property
    def bytes_read(self) -> int:
        """Bytes it reads; symbolic shapes do not count."""
        return sum(t.bytes or 0 for t in self.reads)

    @property
    def bytes_written(self) -> int:
        """Bytes it writes; symbolic shapes do not count."""
        return sum(t.bytes or 0 for t in self.writes)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a plan does and why.

    Args:
        graph: name of the graph.
        kernels: the kernels in the order they run.
        bytes_unfused: bytes that its ops would move with a kernel for each.
        notes: what else is to be known: which inner values are kept, where a region was split.
        by_core: ops that are no kernels, since core runs them: control flow, effects, functions of
            yours.
    """

    graph: str
    kernels: tuple[KernelText, ...]
    bytes_unfused: int
    notes: tuple[str, ...] = ()
    by_core: tuple[Member, ...] = ()

    @property
    def bytes_moved(self) -> int:
        """Bytes that all kernels read and write."""
        return sum(k.bytes_read + k.bytes_written for k in self.kernels)

    @property
    def operations(self) -> int:
        """Arithmetic operations of all kernels."""
        return sum(k.operations for k in self.kernels)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain dicts, lists, strings and numbers."""
        found = asdict(self)
        found["bytes_moved"] = self.bytes_moved
        found["operations"] = self.operations
        for name in ("kernels", "notes", "by_core"):
            found[name] = list(found[name])
        for kernel, data in zip(self.kernels, found["kernels"], strict=True):
            data["bytes_read"] = kernel.bytes_read
            data["bytes_written"] = kernel.bytes_written
            for name in ("axes", "members", "reads", "writes", "apart"):
                data[name] = list(data[name])
            data["code"]["sources"] = list(kernel.code.sources)
        return found

    def text(self, *, source: bool = False) -> str:
        """The same for people: one block a kernel. Long plans are shown in part.

        Args:
            source: whether to show the code that the device makes of each kernel, if it tells.
        """
        lines = [self._headline()]
        for number, kernel in enumerate(self.kernels[:_SHOWN_KERNELS]):
            lines += ["", *_block(number, kernel)]
            if source:
                for code in kernel.code.sources:
                    lines += ["", code.strip("\n")]
        if len(self.kernels) > _SHOWN_KERNELS:
            lines += ["", f"... and {len(self.kernels) - _SHOWN_KERNELS} more kernels"]
        if self.by_core:
            lines += ["", "run by core:", *_members(self.by_core)]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def _headline(self) -> str:
        ops = sum(m.role == "computed" for k in self.kernels for m in k.members)
        moved = f"{_size(self.bytes_moved)} moved"
        if self.bytes_unfused > self.bytes_moved:
            moved += f" ({_size(self.bytes_unfused)} with a kernel for each op)"
        kernels = _count(len(self.kernels), "kernel")
        return f"graph {self.graph}: {kernels} for {_count(ops, 'op')}, {moved}"

    def __str__(self) -> str:
        return self.text()


def explain_plan(
    plan: Plan,
    *,
    describe: Callable[[Group], Code] | None = None,
    by_core: Callable[[Node], bool] = lambda node: False,
) -> Explanation:
    """Says of each kernel what it computes, from which lines, what it moves and why it ends.

    Args:
        plan: the kernels.
        describe: what the device makes of a kernel, if it tells.
        by_core: whether core runs an op itself, so that it is no kernel.
    """
    writer = _Writer(plan.graph)
    numbers: dict[int, int] = {}
    aside: list[Member] = []
    for number, group in enumerate(plan.groups):
        if all(by_core(node) for node in group.nodes):
            aside += [writer.member(node, group) for node in group.nodes]
        else:
            numbers[number] = len(numbers)
    kernels = tuple(
        writer.kernel(plan.groups[n], numbers, Code() if describe is None else describe(group))
        for n, group in enumerate(plan.groups)
        if n in numbers
    )
    launched = replace(plan, groups=tuple([plan.groups[n] for n in numbers]))
    return Explanation(plan.graph.name, kernels, unfused_bytes(launched), by_core=tuple(aside))


class _Writer:
    """Turns the groups of one graph into text."""

    def __init__(self, graph: Graph) -> None:
        self.names = value_names(graph)
        lines = GraphPrinter(graph, brief=True).lines()
        self.lines = {
            node: "".join(text for _, text in line if not text.startswith(" region=")).strip()
            for node, line in lines
            if node is not None
        }

    def kernel(self, group: Group, numbers: Mapping[int, int], code: Code) -> KernelText:
        region = group.region
        return KernelText(
            kind=group.kind,
            shape=_shape(group.shape),
            axes=group.axes,
            region="" if region is None else f'{region.name} (fuse="{region.fuse}")',
            members=tuple(self.member(n, group) for n in group.nodes),
            reads=tuple(self.transfer(v, bytes_of(v, group)) for v in group.inputs),
            writes=tuple(self.transfer(v, bytes_of(v)) for v in group.outputs),
            apart=tuple(
                self.apart(b, numbers[b.producer])
                for b in group.boundaries
                if b.producer in numbers
            ),
            operations=operations_of(group.nodes),
            code=code,
        )

    def member(self, node: Node, group: Group) -> Member:
        role = "computed"
        if node.op.name == "constant":
            role = "literal"
        elif group.levels[node] == "view" or node.op.kind.value in ("movement", "opaque"):
            role = "computed" if len(group.nodes) == 1 else "index map"
        return Member(node.op.name, self.lines[node], _location(node), role)

    def transfer(self, value: Value, count: int | None) -> Transfer:
        return Transfer(self.name(value), str(value.type), count)

    def apart(self, boundary: Boundary, producer: int) -> Apart:
        node = boundary.node
        return Apart(
            producer,
            self.name(boundary.value),
            boundary.reason,
            node.op.name,
            _location(node),
        )

    def name(self, value: Value) -> str:
        return f"%{self.names[value]}"


def _block(number: int, kernel: KernelText) -> list[str]:
    head = f"kernel {number}: {kernel.kind} over {kernel.shape}"
    if kernel.axes:
        head += f", rows along {'axis' if len(kernel.axes) == 1 else 'axes'} "
        head += ", ".join(map(str, kernel.axes))
    if kernel.region:
        head += f", region {kernel.region}"
    lines = [head]
    for word, transfers in (("reads", kernel.reads), ("writes", kernel.writes)):
        lines += [
            f"  {word:6} {t.name}: {t.type}, {_size(t.bytes)}" for t in transfers[:_SHOWN_OPS]
        ]
        if len(transfers) > _SHOWN_OPS:
            lines.append(f"  {word:6} ... and {len(transfers) - _SHOWN_OPS} more")
    if kernel.operations:
        lines.append(f"  counts {_count(kernel.operations, 'operation')}")
    code = kernel.code
    if code.schedule:
        profile = f" ({code.profile} profile)" if code.profile else ""
        lines.append(f"  runs   {code.schedule}{profile}")
    lines += _members(kernel.members)
    for apart in kernel.apart:
        by = f"{apart.op}{f' at {_short(apart.location)}' if apart.location else ''}"
        lines.append(f"  not one with kernel {apart.kernel}, which makes {apart.name}:")
        lines.append(f"    {apart.reason} ({by})")
    return lines


def _members(members: Sequence[Member]) -> list[str]:
    shown = members[:_SHOWN_OPS]
    width = max((len(m.text) for m in shown), default=0)
    lines = []
    for member in shown:
        tail = _short(member.location)
        if member.role != "computed":
            tail = f"{tail} ({member.role})".strip()
        lines.append(f"    {member.text:{min(width, 72)}}  {tail}".rstrip())
    if len(members) > _SHOWN_OPS:
        lines.append(f"    ... and {len(members) - _SHOWN_OPS} more ops")
    return lines


def _location(node: Node) -> str:
    return "" if node.location is None else str(node.location)


def _short(location: str) -> str:
    """A place in the working directory relative to it."""
    root = os.getcwd() + os.sep
    return location.removeprefix(root)


def _shape(shape: Shape) -> str:
    return f"[{','.join(map(str, shape))}]"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _size(count: int | None) -> str:
    if count is None:
        return "symbolic size"
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    return f"{count} B" if unit == 0 else f"{value:.3g} {_UNITS[unit]}"


_UNITS: Final = ("B", "kB", "MB", "GB", "TB")
