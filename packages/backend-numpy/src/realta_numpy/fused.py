"""Fused kernels by structure: equal groups share one kernel, of one graph or of many.

Layers of a model are alike, and so are the graphs of a function for other extents. A group is told
by what it computes, so its kernel is built from a copy that refers to nothing outside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from realta.fusion import Group
from realta.graph import Input, Node, Value, compares_exactly

from realta_numpy.program import Program, build_program
from realta_numpy.source import Source, write_source

__all__ = ["Kernel", "copied_group", "kernel_of_group", "structure"]

_MOST: Final = 512
_kernels: Final[dict[Any, Kernel]] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class Kernel:
    """A built kernel.

    Args:
        program: its code; its group is a copy of those that share it.
        source: its text.
        function: ``function(*inputs, *outputs)``.
    """

    program: Program
    source: Source
    function: Callable[..., None]


def kernel_of_group(group: Group, name: str) -> Kernel:
    """The kernel of a group.

    Raises:
        Unframed: its index maps fit no frame of loops.
    """
    key = structure(group, name)
    found = _kernels.get(key) if key is not None else None
    if found is None:
        program = build_program(group if key is None else copied_group(group))
        source = write_source(program, name)
        found = Kernel(program, source, source.compile())
        if key is not None:
            if len(_kernels) >= _MOST:
                _kernels.clear()
            _kernels[key] = found
    return found


def structure(group: Group, name: str) -> Any:
    """What a group computes, as a key; None where that cannot be told by comparing."""
    number: dict[Value, int] = {value: n for n, value in enumerate(group.inputs)}
    parts: list[Any] = [name, group.kind, group.shape, group.axes]
    parts += [value.type for value in group.inputs]
    for node in group.nodes:
        if len(node.types) != 1 or not compares_exactly(node.op):
            return None
        operands = tuple([number[v] for v in node.operands])
        parts.append((node.op, operands, node.attrs, node.types, group.levels[node]))
        number[node] = len(number)
    parts.append(tuple([number[v] for v in group.outputs]))
    return tuple(parts)


def copied_group(group: Group) -> Group:
    """The same group without what stands around it."""
    new: dict[Value, Value] = {value: Input(value.type) for value in group.inputs}
    levels = {}
    nodes = []
    for node in group.nodes:
        operands = tuple([new[v] for v in node.operands])
        made = Node(node.op, operands, node.attrs, types=node.types)
        levels[made] = group.levels[node]
        new[node] = made
        nodes.append(made)
    return dataclasses.replace(
        group,
        nodes=tuple(nodes),
        inputs=tuple([new[v] for v in group.inputs]),
        outputs=tuple([new[v] for v in group.outputs]),
        region=None,
        levels=levels,
        boundaries=(),
    )
