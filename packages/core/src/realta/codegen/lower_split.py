"""Splitting: a group of few long rows as one group per walk, so that many groups share a row.

What one walk gives another lies in temporaries. Every reduction keeps its canonical tree, so the
bits are those of one kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from realta.codegen.lower_maps import VIEWS
from realta.codegen.lower_members import Members
from realta.codegen.lower_passes import Passes
from realta.codegen.lowered import Argument, Launch, Lowered, Temporary
from realta.fusion import Group, Level
from realta.graph import Node, Value

__all__ = ["lower_in_parts", "split_walks"]


def split_walks(group: Group) -> list[Group]:
    """A group for each walk over the rows: the reductions of each, then what is stored."""
    members = Members(group)
    passes = Passes(members)
    made: dict[Value, int] = {}
    parts: list[list[Node]] = []
    for number in range(passes.count):
        rows = passes.row_nodes[number + 1] if number + 1 < passes.count else []
        rows = [*(passes.row_nodes[0] if number == 0 else []), *rows]
        reductions = passes.reductions[number]
        if reductions:
            parts.append([*passes.full_nodes[number], *reductions, *rows])
        made |= dict.fromkeys([*reductions, *rows], number)
    full = {s for _, s in members.stores if not members.is_row(s)}
    late = passes.needed(full)
    groups = [
        _part(group, members, nodes, reads=[*parts[n + 1 :], late]) for n, nodes in enumerate(parts)
    ]
    if full:
        groups.append(_part(group, members, late, reads=[], stored=full))
    return groups


def _part(
    group: Group,
    members: Members,
    nodes: list[Node],
    reads: list[list[Node]],
    stored: set[Value] | None = None,
) -> Group:
    """The group of some members; what others read of it is stored."""
    order = {node: n for n, node in enumerate(group.nodes)}
    computing = sorted(nodes, key=order.__getitem__)
    own = set(computing)
    levels: dict[Node, Level] = {}
    inputs: dict[Value, None] = {}
    for node in computing:
        for operand in node.operands:
            _add_chain(operand, group, members, own, levels, inputs)
        levels[node] = group.levels[node]
    later = {members.resolved(v) for part in reads for m in part for v in m.operands}
    rows = [n for n in computing if n in later and (members.is_row(n) or _reduces(n))]
    outputs: dict[Value, None] = dict.fromkeys(rows)
    for output, source in members.stores:
        wanted = source in stored if stored is not None else members.resolved(source) in own
        if wanted and (stored is not None or members.is_row(source)):
            outputs[output] = None
            _add_chain(output, group, members, own, levels, inputs)
    is_last = stored is not None
    return Group(
        "elementwise" if is_last else "reduce", tuple(levels), tuple(inputs), tuple(outputs),
        group.region, group.shape, () if is_last else group.axes, levels,
    )  # fmt: skip


def _reduces(node: Node) -> bool:
    return node.op.kind.value == "reduce"


def _add_chain(
    value: Value,
    group: Group,
    members: Members,
    own: set[Node],
    levels: dict[Node, Level],
    inputs: dict[Value, None],
) -> None:
    """Adds the index maps between a member and what it reads, and what is read from memory."""
    chain: list[Node] = []
    while isinstance(value, Node) and value in members.inside and value.op.name in VIEWS:
        chain.append(value)
        value = value.operands[0]
    inside = isinstance(value, Node) and value in own
    if isinstance(value, Node) and value in members.inside and value.op.name == "constant":
        levels[value] = "view"
    elif not inside:
        inputs[value] = None
    for view in reversed(chain):
        levels[view] = group.levels[view] if inside else "view"


def lower_in_parts(
    group: Group, parts: Sequence[Group], lower: Callable[[Group], Lowered]
) -> Lowered:
    """The launches of all parts of a group, what they pass on in temporaries."""
    known: dict[Argument, Argument] = {v: v for v in (*group.inputs, *group.outputs)}
    launches: list[Launch] = []
    texts: list[str] = []
    count = 0
    for part in parts:
        lowered = lower(part)
        own: dict[Argument, Argument] = {}
        for launch in lowered.launches:
            arguments = []
            for argument in launch.arguments:
                table = own if isinstance(argument, Temporary) else known
                if argument not in table:
                    table[argument] = _temporary(argument, count)
                    count += 1
                arguments.append(table[argument])
            launches.append(Launch(launch.kernel, tuple(arguments)))
        texts.append(lowered.schedule)
    return Lowered(tuple(launches), "; ".join(texts))


def _temporary(argument: Argument, number: int) -> Temporary:
    if isinstance(argument, Temporary):
        return Temporary(number, argument.dtype, argument.size)
    return Temporary(number, argument.type.dtype, argument.type.size)
