"""Uniformity: which values are the same in all lanes of a group."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from realta.codegen.indices import Axis, Index, leaves
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
from realta.codegen.walking import operands, statements

__all__ = ["index_varies", "varies", "varying_names"]


def index_varies(index: Index, names: AbstractSet[str]) -> bool:
    """Whether an index may differ between the lanes of a group; `names` as in `varies`."""
    for leaf in leaves(index):
        if leaf.name == LANE if isinstance(leaf, Axis) else varies(leaf.value, names):
            return True
    return False


_NOTHING: Final[frozenset[str]] = frozenset()
_LANE: Final = frozenset({LANE})


def _reads(expr: Expr) -> frozenset[str]:
    """The names that a value depends on, and `LANE` if it does on the number or memory of a lane.

    No value is named `LANE`: that is the name of an axis. Every expression remembers its own.
    """
    stack = [expr]
    while stack:
        part = stack[-1]
        given = operands(part)
        unknown = [o for o in given if not hasattr(o, "_reads")]
        if unknown:
            stack += unknown
            continue
        stack.pop()
        found = _own_reads(part)
        for operand in given:
            found = found | operand._reads if found else operand._reads
        object.__setattr__(part, "_reads", found)
    return expr._reads


def _own_reads(expr: Expr) -> frozenset[str]:
    """The same without those of operands, among which are the values of positions."""
    if type(expr) is Var:
        return frozenset({expr.name})
    if isinstance(expr, Load) and expr.buffer.space == "lane":
        return _LANE
    if isinstance(expr, (FromIndex, Compare, Load)):
        for leaf in leaves(expr.index):
            if isinstance(leaf, Axis) and leaf.name == LANE:
                return _LANE
    return _NOTHING


def varies(expr: Expr, names: AbstractSet[str]) -> bool:
    """Whether a value may differ between the lanes of a group.

    Args:
        expr: the value.
        names: the names that vary, from `varying_names`.
    """
    if isinstance(expr, Var):
        return expr.name in names
    try:
        found = expr._reads
    except AttributeError:
        found = _reads(expr)
    return LANE in found or not names.isdisjoint(found)


def _definitions(body: Iterable[Statement], lanes: int) -> list[tuple[str, tuple[Expr, ...]]]:
    """Each name with what it is made of; a fold across all lanes gives the same to all."""
    found: list[tuple[str, tuple[Expr, ...]]] = []
    for statement in statements(body):
        if isinstance(statement, (Let, Declare, Assign)):
            found.append((statement.var.name, (statement.value,)))
        elif isinstance(statement, Fold) and statement.width != lanes:
            found += [(var.name, statement.values) for var in statement.results]
    return found


def varying_names(kernel: Kernel) -> frozenset[str]:
    """The names whose values may differ between the lanes of a group.

    A variable that is assigned anywhere what varies counts as varying everywhere.
    """
    unknown = _definitions(kernel.body, kernel.lanes)
    found: set[str] = set()
    count = -1
    while count != len(found):
        count = len(found)
        for name, exprs in unknown:
            # Names are added as they are found: most are defined before they are read.
            if any(varies(expr, found) for expr in exprs):
                found.add(name)
        unknown = [definition for definition in unknown if definition[0] not in found]
    return frozenset(found)
