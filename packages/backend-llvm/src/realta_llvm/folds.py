"""Folds: values of neighbouring lanes combined by halving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from realta.codegen.ir import Fold, Var
from realta.codegen.render_kernel import combined

from realta_llvm.code import Code, Coder

if TYPE_CHECKING:
    from realta_llvm.expressions import Expressions

__all__ = ["folded"]


def folded(at: Expressions, fold: Fold, codes: Sequence[Code]) -> list[Code]:
    """The results of a fold: numbers if it goes across all lanes, else vectors."""
    coder = at.coder
    if fold.width == 1:
        return list(codes)
    values = [coder.widen(code) for code in codes]
    if fold.width == coder.lanes:
        return _whole(at, fold, values)
    return _segments(at, fold, values)


def _combined(
    at: Expressions, fold: Fold, first: Sequence[Code], second: Sequence[Code]
) -> list[Code]:
    """Values, or pairs of a value and its index, combined."""
    pairs = []
    for number, (x, y) in enumerate(zip(first, second, strict=True)):
        names = (f"fold.{number}.first", f"fold.{number}.second")
        at.names |= dict(zip(names, (x, y), strict=True))
        pairs.append((Var(names[0], x.dtype), Var(names[1], x.dtype)))
    return [at.code(expr) for expr in combined(fold.combine, pairs)]


def _whole(at: Expressions, fold: Fold, values: list[Code]) -> list[Code]:
    """Halves of all lanes, then halves of one vector, down to a number."""
    coder = at.coder
    while len(values[0].parts) > 1:
        half = len(values[0].parts) // 2
        first = [value._replace(parts=value.parts[:half]) for value in values]
        second = [value._replace(parts=value.parts[half:]) for value in values]
        values = _with_coder(at, fold, first, second, coder.width * half, coder.width)
    width = coder.width
    while width > 1:
        half = width // 2
        first = [_piece(coder, value, range(half)) for value in values]
        second = [_piece(coder, value, range(half, width)) for value in values]
        values = _with_coder(at, fold, first, second, half, half)
        width = half
    return values


def _piece(coder: Coder, value: Code, lanes: range) -> Code:
    """Neighbouring lanes of a value of one part."""
    x = value.parts[0]
    if len(lanes) == 1:
        return Code((coder.extract(x, lanes[0]),), value.dtype)
    return value._replace(parts=(coder.shuffle(x, None, lanes),))


def _with_coder(
    at: Expressions, fold: Fold, first: list[Code], second: list[Code], lanes: int, width: int
) -> list[Code]:
    """Values of fewer lanes than a group has combined."""
    outer = at.coder
    at.coder = Coder(at.body, lanes, width)
    found = _combined(at, fold, first, second)
    at.coder = outer
    return found


def _segments(at: Expressions, fold: Fold, values: list[Code]) -> list[Code]:
    """All lanes as one vector; in each segment the lower half takes in the upper one."""
    coder, lanes = at.coder, at.coder.lanes
    values = [value._replace(parts=(coder.together(value.parts),)) for value in values]
    half = fold.width // 2
    while half:
        up = [n + half if n % fold.width < half else n for n in range(lanes)]
        second = [value._replace(parts=(coder.shuffle(value.parts[0], None, up),))
                  for value in values]  # fmt: skip
        values = _with_coder(at, fold, values, second, lanes, lanes)
        half //= 2
    first = [n - n % fold.width for n in range(lanes)]
    return [
        value._replace(parts=coder.apart(coder.shuffle(value.parts[0], None, first)))
        for value in values
    ]
