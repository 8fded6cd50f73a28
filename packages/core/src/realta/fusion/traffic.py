"""Traffic: how many bytes kernels move between memory and themselves."""

from __future__ import annotations

from realta.fusion.group import Group, Plan
from realta.graph import Node, Value

__all__ = ["bytes_of", "bytes_read", "bytes_written", "unfused_bytes"]


def bytes_of(value: Value, reader: Group | None = None) -> int | None:
    """The bytes of a value, or what a group reads of it at most; None where a shape is symbolic.

    A group that reads through a slice reads no more than the slice shows.
    """
    if not value.type.is_static:
        return None
    count = value.type.nbytes
    if reader is None:
        return count
    seen = [_shown(n) for n in reader.nodes if value in n.operands]
    if any(s is None for s in seen):
        return count
    return min(count, sum(s for s in seen if s is not None))


def _shown(node: Node) -> int | None:
    """What an index map shows of its operand, None for ops that read all of it."""
    if node.op.name != "slice" or not node.type.is_static:
        return None
    return node.type.nbytes


def bytes_read(group: Group) -> int:
    """Bytes that a kernel reads; symbolic shapes do not count."""
    return sum(bytes_of(v, group) or 0 for v in group.inputs)


def bytes_written(group: Group) -> int:
    """Bytes that a kernel writes; symbolic shapes do not count."""
    return sum(bytes_of(v) or 0 for v in group.outputs)


def unfused_bytes(plan: Plan) -> int:
    """Bytes that the computing ops of a plan would move with a kernel for each."""
    total = 0
    for group in plan.groups:
        for node in group.nodes:
            if node.op.name == "constant" or group.levels[node] == "view":
                continue
            if node.op.kind.value == "movement" and len(group.nodes) > 1:
                continue
            total += sum(bytes_of(_source(v, group)) or 0 for v in set(node.operands))
            total += sum(bytes_of(v) or 0 for v in node.outputs)
    return total


def _source(value: Value, group: Group) -> Value:
    """The value that an index map within a group shows."""
    while isinstance(value, Node) and value in group.levels and value.op.name in _MAPS:
        value = value.operands[0]
    return value


_MAPS = frozenset({"reshape", "permute", "broadcast", "slice", "barrier"})
