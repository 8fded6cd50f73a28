"""Walking: the expressions and statements of a kernel in order, without recursion over depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from realta.codegen.indices import Index, Position, leaves
from realta.codegen.ir import (
    Allocate,
    Apply,
    Assign,
    Compare,
    Const,
    Declare,
    Expr,
    Fold,
    FromIndex,
    If,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Var,
)

__all__ = [
    "INDEXED",
    "all_expressions",
    "defined_names",
    "expressions",
    "indices",
    "operands",
    "roots",
    "statements",
    "variables",
]


INDEXED: Final = (FromIndex, Compare, Load)
"""Expressions that have an index."""


def _positions(index: Index) -> tuple[Expr, ...]:
    return tuple([leaf.value for leaf in leaves(index) if type(leaf) is Position])


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of, those of its positions included."""
    if type(expr) is Apply:
        return expr.operands
    if type(expr) is Var or type(expr) is Const:
        return ()
    if isinstance(expr, (FromIndex, Compare)):
        return _positions(expr.index)
    if isinstance(expr, Load):
        given = [e for e in (expr.where, expr.default) if e is not None]
        return (*_positions(expr.index), *given)
    return ()


def expressions(roots: Iterable[Expr]) -> list[Expr]:
    """Every expression under the roots, each object once, operands first."""
    found: dict[int, Expr] = {}
    made: list[Expr] = []  # those whose operands are on the stack, above a None each
    stack: list[Expr | None] = [*roots]
    stack.reverse()
    while stack:
        expr = stack.pop()
        if expr is None:
            expr = made.pop()
            found[id(expr)] = expr
            continue
        key = id(expr)
        if key not in found:
            given = operands(expr)
            if given:
                made.append(expr)
                stack.append(None)
                stack += given[::-1]
            else:
                found[key] = expr
    return list(found.values())


def roots(statement: Statement) -> tuple[Expr, ...]:
    """The expressions that a statement evaluates itself, not those of its body."""
    match statement:
        case Let() | Declare() | Assign():
            return (statement.value,)
        case Store():
            given = (statement.value, *_positions(statement.index))
            return given if statement.where is None else (*given, statement.where)
        case If():
            return (statement.condition,)
        case Fold():
            return statement.values
    return ()


def indices(statement: Statement) -> Iterator[Index]:
    """The indices that a statement uses itself, those in its expressions included."""
    for expr in expressions(roots(statement)):
        if isinstance(expr, INDEXED):
            yield expr.index
    if isinstance(statement, Store):
        yield statement.index


def statements(body: Iterable[Statement]) -> list[Statement]:
    """Every statement, those of loops and conditions after the loop or condition itself."""
    found: list[Statement] = []
    stack = list(body)[::-1]
    while stack:
        statement = stack.pop()
        found.append(statement)
        if type(statement) is Loop or type(statement) is If:
            stack += statement.body[::-1]
    return found


def all_expressions(body: Iterable[Statement]) -> list[Expr]:
    """Every expression of some statements and of their bodies, each object once."""
    return expressions([root for statement in statements(body) for root in roots(statement)])


def defined_names(statement: Statement) -> tuple[str, ...]:
    """The names of values, memory and loop variables that a statement makes."""
    match statement:
        case Let() | Declare():
            return (statement.var.name,)
        case Fold():
            return tuple(var.name for var in statement.results)
        case Allocate():
            return (statement.buffer.name,)
        case Loop():
            return (statement.axis.name,)
    return ()


def variables(exprs: Iterable[Expr]) -> Iterator[Var]:
    """The names that expressions read."""
    for expr in expressions(exprs):
        if isinstance(expr, Var):
            yield expr
