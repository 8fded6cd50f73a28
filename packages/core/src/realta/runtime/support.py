"""Support: whether a session takes a node, and why not."""

from __future__ import annotations

from realta.graph import Node
from realta.runtime.contract import Refusal, Session
from realta.types import DType

__all__ = ["data_dtype", "refusal"]


def data_dtype(node: Node) -> DType:
    """The dtype by which capabilities list a node; see `realta.ops.OpDef.data_operand`."""
    return node.op.data_dtype(tuple([value.type for value in node.operands]), node.types)


def refusal(session: Session, node: Node) -> Refusal | None:
    """Why a session does not take a node; None if it does."""
    name = node.op.name
    dtype = data_dtype(node)
    capabilities = session.capabilities
    table = capabilities.ops if node.op.primitive else capabilities.composites
    dtypes = table.get(name)
    if dtypes is None:
        return Refusal(f"it does not have {name}")
    if dtype not in dtypes:
        have = ", ".join(sorted(d.name for d in dtypes))
        return Refusal(f"it has {name} for {have or 'no dtype'}, not for {dtype}")
    return session.supports(node)
