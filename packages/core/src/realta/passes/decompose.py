"""Decomposition: composites in terms of simpler ops, half precision widened on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from realta.errors import UnsupportedOp, VerificationError
from realta.graph import Builder, Graph, Node, Value, call_text
from realta.ops import Emitter, OpDef
from realta.passes.rewriter import Rewriter
from realta.types import float32

__all__ = ["Decompose", "expand"]

_DEEPEST: Final = 64


def expand(
    emit: Emitter, op: OpDef, operands: tuple[Any, ...], attrs: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Writes the decomposition of one call; the one place where half precision is widened.

    An op marked ``widen`` gets its half-precision operands as float32, and its results are rounded
    once, at the end, to the dtypes that its type rule says.

    Args:
        emit: writes the ops; values are its own.
        op: an op with a lowering.
        operands: the operands of the call.
        attrs: all attributes of the call.

    Raises:
        UnsupportedOp: the op is a primitive.
    """
    if op.lowering is None:
        raise UnsupportedOp(
            f"{op.name} is a primitive and has no decomposition",
            fix="a backend must have it, or the fallback policy must allow the reference device",
        )
    types = tuple(emit.type_of(v) for v in operands)
    if op.widen:
        operands = tuple(
            emit.cast(v, dtype=float32) if t.dtype.is_half else v
            for v, t in zip(operands, types, strict=True)
        )
    made = op.lowering(emit, *operands, **attrs)
    values = made if isinstance(made, tuple) else (made,)
    if not op.widen:
        return values
    wanted = op.result_types(types, op.make_attrs(attrs))
    return tuple(
        v if emit.type_of(v).dtype is t.dtype else emit.cast(v, dtype=t.dtype)
        for v, t in zip(values, wanted, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Decompose:
    """Expands the composites that a device does not take whole, down to primitives.

    What an expansion writes has the place and the fusion region of the node it stands for.

    Args:
        keeps: whether the device takes this node as it is.
    """

    keeps: Callable[[Node], bool]
    name: str = "decompose"

    def run(self, graph: Graph) -> Graph:
        """The graph with primitives and kept composites only.

        Raises:
            VerificationError: a decomposition disagrees with its op's type rule, or has no end.
        """
        rewriter = Rewriter(graph)
        # One frame per open expansion: what is left of it, the node it stands for, its results.
        frames: list[tuple[Iterator[Node], Node | None, tuple[Value, ...]]]
        frames = [(iter(graph.nodes), None, ())]
        while frames:
            rest, origin, results = frames[-1]
            node = next(rest, None)
            if node is None:
                frames.pop()
                if origin is not None:
                    rewriter.replace(origin, *[rewriter.new(v) for v in results])
            elif node.op.lowering is None or self.keeps(node):
                rewriter.keep(node)
            else:
                if len(frames) > _DEEPEST:
                    raise _endless(node)
                made, found = _expansion(node)
                frames.append((iter(made), node, found))
        return rewriter.finish()


def _expansion(node: Node) -> tuple[list[Node], tuple[Value, ...]]:
    builder = Builder(node.op.name, region=node.region, where=node.where)
    results = expand(builder, node.op, node.operands, node.attrs)
    have, want = [str(v.type) for v in results], [str(t) for t in node.types]
    if have != want:
        raise VerificationError(
            f"the decomposition of {node.op.name} gives {', '.join(have)}, "
            f"its type rule says {', '.join(want)}",
            where=call_text(node.op, [v.type for v in node.operands], node.attrs),
            fix="make the lowering and the type rule of the op agree",
        )
    return builder.nodes, results


def _endless(node: Node) -> VerificationError:
    return VerificationError(
        f"the decomposition of {node.op.name} does not end: it is {_DEEPEST} expansions deep",
        where=call_text(node.op, [v.type for v in node.operands], node.attrs),
        fix="a lowering must lead to primitives; it may not use the op it defines",
    )
