"""Calls: what runs for one group of a plan: a fused kernel, or its ops one by one.

Every call takes the handles of the group's inputs and then of its outputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.backend import UnsupportedOp
from realta.fusion import Group
from realta.graph import Node, Value, call_text
from realta.ops import OpKind

from realta_numpy.frame import Unframed
from realta_numpy.fused import kernel_of_group
from realta_numpy.instructions import instruction_of
from realta_numpy.kernels import IN_PLACE, Kernel, kernel_of
from realta_numpy.loops import TILE
from realta_numpy.memory import typed
from realta_numpy.movement import copy_blocks, moved
from realta_numpy.program import VIEWS, Program
from realta_numpy.source import write_source

__all__ = [
    "Call", "FusedCall", "OpsCall", "call_of_group", "node_group", "ops_call",
    "parts_of_group",
]  # fmt: skip

Array = NDArray[Any]


@dataclass(slots=True, eq=False)
class FusedCall:
    """A group as one generated kernel.

    Args:
        group: what it computes.
        program: its code, which refers to a copy of the group.
        source: the Python text.
        kernel: the function: ``kernel(*inputs, *outputs)``.
    """

    group: Group
    program: Program
    source: str
    kernel: Callable[..., None]

    def __call__(self, *handles: Any) -> None:
        self.kernel(*handles)

    def in_place(self, operand: int, output: int) -> Callable[..., None] | None:
        """The kernel that writes an output over an input; None if it would still read that."""
        if not self.overwrites(operand, output):
            return None
        return write_source(self.program, lend_outputs=False).compile()

    def overwrites(self, operand: int, output: int) -> bool:
        """Whether an output can be written over an input: no element is read after that."""
        program = self.program
        value = program.group.inputs[operand]
        wanted = program.frame.outputs[output]
        made = program.placed[output]
        steps = program.steps
        end = next(
            n for n, s in enumerate(steps)
            if (s.result is made if made is not None else s.output == output)
        )  # fmt: skip
        for n, shown in enumerate(program.operands):
            if shown is not value:
                if program.source_of(n) is value:
                    return False
                continue
            if program.frame.operands[n] != wanted:
                return False
            reads = [k for k, s in enumerate(steps) for a in s.reads if a.is_operand(n)]
            if any(k > end for k in reads):
                return False
            instruction = steps[end].instruction
            if end in reads and instruction is not None and not instruction.reuses:
                return False
        return True


@dataclass(slots=True, eq=False)
class OpsCall:
    """A group whose ops run one by one: what does not fuse, and what fits no frame.

    Args:
        group: what it computes.
        steps: for each node that is not an index map, what runs it.
    """

    group: Group
    steps: Mapping[Node, Kernel]

    def __call__(self, *handles: Any) -> None:
        group = self.group
        values: dict[Value, Array] = {}
        seen: dict[int, Array] = {}
        outside = [*group.inputs, *group.outputs]
        arrays = []
        for value, handle in zip(outside, handles, strict=True):
            array = seen.get(id(handle))
            if (
                array is None
                or array.shape != value.type.shape
                or array.dtype != value.type.dtype.numpy
            ):
                array = typed(handle, value.type.static_shape, value.type.dtype.numpy)
                seen[id(handle)] = array
            arrays.append(array)
        values.update(zip(group.inputs, arrays, strict=False))
        results = dict(zip(group.outputs, arrays[len(group.inputs) :], strict=True))
        for node in group.nodes:
            self._run(node, values, results)
        for value, out in results.items():
            if values[value] is not out:
                copy_blocks(values[value], out)

    def _run(self, node: Node, values: dict[Value, Array], results: dict[Value, Array]) -> None:
        if node.op.name in VIEWS:
            values[node] = moved(node, values[node.operands[0]])
            return
        if node.op.name == "constant":
            values[node] = node.attrs["value"].array
            return
        outputs = [
            results[v] if v in results else np.empty(v.type.static_shape, v.type.dtype.numpy)
            for v in node.outputs
        ]
        self.steps[node]([values[v] for v in node.operands], outputs)
        values.update(zip(node.outputs, outputs, strict=True))

    def in_place(self, operand: int, output: int) -> Callable[..., None] | None:
        """This call if its one op may write its result over that operand."""
        group = self.group
        node = group.nodes[0]
        fits = len(group.nodes) == 1 and node.op.name in IN_PLACE
        if not fits or group.inputs[operand] is not node.operands[0]:
            return None
        alone = all(v is not node.operands[0] for v in node.operands[1:])
        return self if alone and group.outputs[output] is node else None


Call = FusedCall | OpsCall


def call_of_group(group: Group, name: str) -> list[tuple[Group, Call]]:
    """What runs a group: one call or several in order, each with the group it computes.

    Raises:
        UnsupportedOp: an op has neither a kernel nor an instruction.
    """
    return [
        (part, ops_call(part) if part.kind == "single" else _fused_or_ops(part, name))
        for part in parts_of_group(group)
    ]


def parts_of_group(group: Group) -> list[Group]:
    """What a group is computed as, in order; those of kind ``single`` op by op."""
    if group.kind == "reduce" and _row_length(group) > TILE:
        return _long_rows(group)
    if group.kind in ("elementwise", "row", "reduce"):
        return [group]
    if group.kind == "contraction":
        return _contraction(group)
    return [group if group.kind == "single" else dataclasses.replace(group, kind="single")]


def _fused(group: Group, name: str) -> FusedCall:
    kernel = kernel_of_group(group, name)
    return FusedCall(group, kernel.program, kernel.source.text, kernel.function)


def ops_call(group: Group) -> OpsCall:
    """The ops of a group one by one.

    Raises:
        UnsupportedOp: an op has neither a kernel nor an instruction.
    """
    steps: dict[Node, Kernel] = {}
    for node in group.nodes:
        if node.op.name not in VIEWS and node.op.name != "constant":
            steps[node] = _kernel(node)
    return OpsCall(group, steps)


def _kernel(node: Node) -> Kernel:
    found = kernel_of(node)
    if found is not None:
        return found
    if node.op.kind is not OpKind.ELEMENTWISE or instruction_of(node) is None:
        raise UnsupportedOp(
            f"the numpy backend has no kernel for {node.op.name}",
            where=call_text(node.op, [v.type for v in node.operands]),
            fix="compile it in normal form, where it is written in primitive ops",
        )
    if not node.type.size:
        return lambda inputs, outputs: None
    group = node_group(node)
    fused = _fused(group, node.op.name)
    places = [node.operands.index(v) for v in group.inputs]

    def run(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        # An operand may be a view here; the kernel takes row-major arrays.
        fused(*[np.ascontiguousarray(inputs[n]) for n in places], *outputs)

    return run


def node_group(node: Node) -> Group:
    """A group of one elementwise node whose operands are all stored."""
    inputs = tuple(dict.fromkeys(node.operands))
    return Group(
        "elementwise", (node,), inputs, (node,), node.region, node.type.shape, (), {node: "full"}
    )


def _row_length(group: Group) -> Any:
    return prod([d for n, d in enumerate(group.shape) if n in group.axes])


def _long_rows(group: Group) -> list[Group]:
    """Rows too long for a tile: the work on elements first, stored, then reductions, then the rest.

    A reduction of a whole array is cut along the row as well, so a single row uses all threads.
    """
    maps = [n for n in group.nodes if n.op.name in VIEWS or n.op.name == "constant"]
    work = [n for n in group.nodes if n not in set(maps) and n.op.kind is not OpKind.REDUCE]
    full = [n for n in work if group.levels[n] == "full"]
    reductions = [n for n in group.nodes if n.op.kind is OpKind.REDUCE]
    rows = [n for n in work if group.levels[n] == "row"]
    parts: list[Group] = []
    for nodes, kind in ((full, "elementwise"), (reductions, "single"), (rows, "reduce")):
        if not nodes:
            continue
        others = [n for n in group.nodes if n not in set(nodes) and n not in set(maps)]
        read = {m for n in nodes for m in _needed(n, group) if m in set(maps)}
        members = [n for n in group.nodes if n in set(nodes) or n in read]
        outputs = _stored(nodes, others, group)
        part = _part(group, members, outputs, kind)
        if kind == "reduce":
            shape = tuple(1 if n in group.axes else d for n, d in enumerate(group.shape))
            part = dataclasses.replace(part, shape=shape, axes=group.axes)
        parts.append(part)
    return parts


def _stored(nodes: Sequence[Node], others: Sequence[Node], group: Group) -> tuple[Value, ...]:
    """Those of some members, or of index maps over them, that other members or the graph read."""
    made = set(nodes)
    found = [v for v in group.outputs if group.source(v) in made]
    for node in others:
        for value in node.operands:
            while isinstance(value, Node) and value.op.name in VIEWS and value in group.levels:
                value = value.operands[0]
            if value in made:
                found.append(value)
    return tuple(dict.fromkeys(found))


def _fused_or_ops(group: Group, name: str) -> Call:
    try:
        return _fused(group, name)
    except Unframed:
        return ops_call(group)


def _contraction(group: Group) -> list[Group]:
    """The product first, stored, then the work on its result as an elementwise kernel."""
    product = next(n for n in group.nodes if n.op.kind is OpKind.CONTRACTION)
    before = _needed(product, group)
    rest = [n for n in group.nodes if n is not product]
    if not any(n.op.name not in VIEWS and n.op.name != "constant" for n in rest):
        return [dataclasses.replace(group, kind="single")]
    first = _part(group, [*before, product], (product,), "single")
    after = [n for n in rest if n not in set(before) or _is_read(n, rest)]
    outputs = tuple(v for v in group.outputs if v is not product)
    second = _part(group, after, outputs, "elementwise")
    return [first, second]


def _needed(node: Node, group: Group) -> list[Node]:
    """The index maps of the group that a node's operands go through, in order."""
    inside = set(group.nodes)
    needed: set[Node] = set()
    stack = [v for v in node.operands if v in inside]
    while stack:
        value = stack.pop()
        assert isinstance(value, Node)  # noqa: S101 - members are nodes
        needed.add(value)
        stack.extend(v for v in value.operands if v in inside)
    return [n for n in group.nodes if n in needed]


def _is_read(node: Node, nodes: Sequence[Node]) -> bool:
    return any(node is v for n in nodes for v in n.operands)


def _part(group: Group, nodes: Sequence[Node], outputs: tuple[Value, ...], kind: Any) -> Group:
    """A part of a group as a group of its own."""
    inside = set(nodes)
    inputs = dict.fromkeys(v for n in nodes for v in n.operands if v not in inside)
    return dataclasses.replace(
        group, kind=kind, nodes=tuple(nodes), inputs=tuple(inputs), outputs=outputs, axes=(),
        levels={n: group.levels[n] for n in nodes},
    )  # fmt: skip
