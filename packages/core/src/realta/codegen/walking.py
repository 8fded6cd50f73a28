"""Walking: the expressions and statements of a kernel in order, without recursion over depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from realta.codegen.indices import Index, Position, parts
from realta.codegen.ir import (
    Allocate,
    Apply,
    Assign,
    Compare,
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
    "defined_names",
    "expressions",
    "indices",
    "operands",
    "roots",
    "statements",
    "variables",
]


def _positions(index: Index) -> tuple[Expr, ...]:
    return tuple(part.value for part in parts(index) if isinstance(part, Position))


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The expressions that an expression is made of, those of its positions included."""
    match expr:
        case Apply():
            return expr.operands
        case FromIndex() | Compare():
            return _positions(expr.index)
        case Load():
            given = tuple(e for e in (expr.where, expr.default) if e is not None)
            return (*_positions(expr.index), *given)
    return ()


def expressions(roots: Iterable[Expr]) -> Iterator[Expr]:
    """Every expression under the roots, each object once, operands first."""
    done: set[int] = set()
    stack = [(expr, False) for expr in reversed(tuple(roots))]
    while stack:
        expr, ready = stack.pop()
        if id(expr) in done:
            continue
        if ready:
            done.add(id(expr))
            yield expr
        else:
            stack.append((expr, True))
            stack.extend((operand, False) for operand in reversed(operands(expr)))


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
        if isinstance(expr, (FromIndex, Compare, Load)):
            yield expr.index
    if isinstance(statement, Store):
        yield statement.index


def statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement, those of loops and conditions after the loop or condition itself."""
    stack = list(body)[::-1]
    while stack:
        statement = stack.pop()
        yield statement
        if isinstance(statement, (Loop, If)):
            stack.extend(reversed(statement.body))


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
