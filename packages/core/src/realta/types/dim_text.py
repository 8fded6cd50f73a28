"""Extent texts: ``2*batch + 1`` read into a polynomial; the syntax is a subset of Python's."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Final

from realta.errors import ShapeError
from realta.types.polynomials import Polynomial, extreme

__all__ = ["parse_extent"]

_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[Polynomial, Polynomial], Polynomial]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


class _NotAnExtentError(Exception):
    """The text is Python, but no extent."""


def parse_extent(text: str) -> Polynomial:
    """The polynomial of a text with names, integers, ``+ - * // %``, ``min(...)`` and ``max(...)``.

    Raises:
        ShapeError: the text is none, or divides by zero.
    """
    try:
        return _built(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError, ValueError, _NotAnExtentError) as error:
        if isinstance(error, ShapeError):
            raise
        raise ShapeError(
            f"{text!r} is not an extent",
            fix="use a name such as 'batch', or an expression with + - * // % min() max()",
        ) from None


def _built(node: ast.expr) -> Polynomial:
    match node:
        case ast.Constant(value=int(value)) if type(value) is int:
            return Polynomial.constant(value)
        case ast.Name(id=name) if name not in ("min", "max"):
            return Polynomial.named(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_built(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
            return _OPERATIONS[type(sign)](_built(left), _built(right))
        case ast.Call(func=ast.Name(id="min" | "max" as kind), args=[_, *_] as args, keywords=[]):
            return extreme(kind, [_built(a) for a in args])
    raise _NotAnExtentError
