"""Uniformity: which values are the same in all lanes of a group."""

from __future__ import annotations

from collections.abc import Iterable

from realta.codegen.indices import Axis, Index, Position, parts
from realta.codegen.ir import (
    LANE,
    Assign,
    Compare,
    Declare,
    Expr,
    Fold,
    FromIndex,
    Kernel,
    Let,
    Load,
    Statement,
    Var,
)
from realta.codegen.walking import expressions, roots, statements

__all__ = ["index_varies", "varies", "varying_names"]


def index_varies(index: Index, names: frozenset[str]) -> bool:
    """Whether an index may differ between the lanes of a group; `names` as in `varies`."""
    return any(
        part.name == LANE if isinstance(part, Axis) else varies(part.value, names)
        for part in parts(index)
        if isinstance(part, (Axis, Position))
    )


def _lane_itself(expr: Expr) -> bool:
    """Whether it reads the number of the lane or memory of a lane, whatever its operands are."""
    if isinstance(expr, Load) and expr.buffer.space == "lane":
        return True
    if not isinstance(expr, (FromIndex, Compare, Load)):
        return False
    # The values of positions are operands, looked at on their own.
    return any(isinstance(part, Axis) and part.name == LANE for part in parts(expr.index))


def varies(expr: Expr, names: frozenset[str]) -> bool:
    """Whether a value may differ between the lanes of a group.

    Args:
        expr: the value.
        names: the names that vary, from `varying_names`.
    """
    return any(
        part.name in names if isinstance(part, Var) else _lane_itself(part)
        for part in expressions((expr,))
    )


def _definitions(body: Iterable[Statement], lanes: int) -> Iterable[tuple[str, tuple[Expr, ...]]]:
    """Each name with what it is made of; a fold across all lanes gives the same to all."""
    for statement in statements(body):
        match statement:
            case Let() | Declare() | Assign():
                yield statement.var.name, roots(statement)
            case Fold() if statement.width != lanes:
                for var in statement.results:
                    yield var.name, statement.values


def varying_names(kernel: Kernel) -> frozenset[str]:
    """The names whose values may differ between the lanes of a group.

    A variable that is assigned anywhere what varies counts as varying everywhere.
    """
    definitions = tuple(_definitions(kernel.body, kernel.lanes))
    found: frozenset[str] = frozenset()
    while True:
        more = found | {
            name
            for name, exprs in definitions
            if name not in found and any(varies(expr, found) for expr in exprs)
        }
        if more == found:
            return found
        found = more
