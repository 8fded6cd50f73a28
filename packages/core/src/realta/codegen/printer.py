"""The printer: a kernel as text, one line per statement, indices in plain arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Final

from realta.codegen.indices import (
    Axis,
    Greatest,
    Index,
    Least,
    Number,
    Position,
    Product,
    Quotient,
    Remainder,
    Sum,
    Unary,
    parts,
)
from realta.codegen.ir import (
    Allocate,
    Apply,
    Assign,
    Barrier,
    Buffer,
    Compare,
    Const,
    Declare,
    Expr,
    Fold,
    FromIndex,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Var,
)
from realta.codegen.walking import expressions

__all__ = ["expr_text", "index_text", "kernel_lines", "print_kernel", "underlined"]

_INDENT: Final = "  "
_CONTEXT: Final = 6
"""Lines that are shown before and after a wrong one."""
_TYPED: Final = frozenset({"cast", "bitcast"})
"""Instructions whose operands do not tell the type of the result."""


def print_kernel(kernel: Kernel) -> str:
    """The text of a kernel, also of one that does not verify.

    Of the buffers and the values it names the types; ``group`` and ``lane`` are the numbers of the
    group and of the lane. ``x[i] where p else d`` reads x[i] where p holds and takes d elsewhere.
    """
    return "\n".join(text for _, text in kernel_lines(kernel))


def kernel_lines(kernel: Kernel) -> Iterator[tuple[Buffer | Statement | None, str]]:
    """The lines in order, each with the buffer or statement it shows."""
    groups = f"{kernel.groups} group{'' if kernel.groups == 1 else 's'}"
    lanes = f"{kernel.lanes} lane{'' if kernel.lanes == 1 else 's'}"
    yield None, f"kernel {kernel.name}: {groups} of {lanes}"
    for note in kernel.notes:
        yield None, f"{_INDENT}; {' '.join(note.split())}"
    for buffer in kernel.buffers:
        yield buffer, f"{_INDENT}{buffer.role} {_memory(buffer)}"
    stack: list[tuple[Statement, int]] = [(s, 1) for s in reversed(kernel.body)]
    while stack:
        statement, depth = stack.pop()
        yield statement, _INDENT * depth + _statement(statement)
        if isinstance(statement, (Loop, If)):
            stack.extend((inner, depth + 1) for inner in reversed(statement.body))


def _memory(buffer: Buffer) -> str:
    return f"{buffer.name}: {buffer.dtype.short}[{buffer.size}]"


def _variable(var: Var) -> str:
    return f"{var.name}: {var.dtype.short}"


def _statement(statement: Statement) -> str:
    match statement:
        case Let():
            return f"{_variable(statement.var)} = {expr_text(statement.value)}"
        case Declare():
            return f"var {_variable(statement.var)} = {expr_text(statement.value)}"
        case Assign():
            return f"{statement.var.name} := {expr_text(statement.value)}"
        case Store():
            place = f"{statement.buffer.name}[{index_text(statement.index)}]"
            where = "" if statement.where is None else f" where {expr_text(statement.where)}"
            streaming = " streaming" if statement.streaming else ""
            return f"{place} <- {_operand_text(statement.value)}{where}{streaming}"
        case Loop():
            unroll = " unrolled" if statement.unroll else ""
            return f"for {statement.axis.name} in 0..{statement.axis.extent}{unroll}:"
        case If():
            return f"if {expr_text(statement.condition)}:"
        case Fold():
            results = ", ".join(map(_variable, statement.results))
            values = ", ".join(map(_operand_text, statement.values))
            width = f"{statement.width} lane{'' if statement.width == 1 else 's'}"
            return f"{results} = fold {statement.combine}({values}) across {width}"
        case Allocate():
            return f"{statement.buffer.space} memory {_memory(statement.buffer)}"
        case Barrier():
            return "barrier"
    return repr(statement)


def _literal(const: Const) -> str:
    value = const.value
    if const.dtype.kind == "bool":
        return "true" if value else "false"
    if const.dtype.is_float and isinstance(value, float) and not isfinite(value):
        return f"{const.dtype.short}({value})"
    return f"{const.dtype.short}({value!r})"


def expr_text(expr: Expr) -> str:
    """An expression on one line."""
    return _with_texts(expr)[id(expr)]


def _operand_text(expr: Expr) -> str:
    """An expression as an operand: in parentheses where its end would not be seen."""
    return _operand(expr, _with_texts(expr))


def _operand(expr: Expr, texts: dict[int, str]) -> str:
    predicated = isinstance(expr, Load) and expr.where is not None
    return f"({texts[id(expr)]})" if predicated or isinstance(expr, Compare) else texts[id(expr)]


def _with_texts(expr: Expr) -> dict[int, str]:
    texts: dict[int, str] = {}
    for part in expressions((expr,)):
        texts[id(part)] = _expr(part, texts)
    return texts


def _expr(expr: Expr, texts: dict[int, str]) -> str:
    match expr:
        case Const():
            return _literal(expr)
        case Var():
            return expr.name
        case FromIndex():
            return f"{expr.dtype.short}({_index(expr.index, texts)})"
        case Compare():
            return f"{_index(expr.index, texts)} < {expr.bound}"
        case Load():
            text = f"{expr.buffer.name}[{_index(expr.index, texts)}]"
            if expr.where is not None:
                text += f" where {_operand(expr.where, texts)}"
            if expr.default is not None:
                text += f" else {_operand(expr.default, texts)}"
            return text
        case Apply():
            given = [_operand(e, texts) for e in expr.operands]
            if expr.op in _TYPED:
                given.append(f"dtype={expr.dtype.short}")
            if expr.target is not None:
                given.append(f"target={expr.target.short}")
            return f"{expr.op}({', '.join(given)})"
    return repr(expr)


def index_text(index: Index) -> str:
    """An index in plain arithmetic; ``position(v, n)`` is a computed v that is in 0 … n - 1."""
    texts: dict[int, str] = {}
    for part in parts(index):
        if isinstance(part, Position):
            texts |= _with_texts(part.value)
    return _index(index, texts)


def _index(index: Index, values: dict[int, str]) -> str:
    """An index; the texts of the values in its positions are given."""
    texts: dict[int, str] = {}
    for part in parts(index):
        match part:
            case Number():
                text = str(part.value)
            case Axis():
                text = part.name
            case Position():
                text = f"position({values[id(part.value)]}, {part.extent})"
            case Sum():
                text = _sum([texts[id(term)] for term in part.terms])
            case Unary():
                text = _unary(part, texts[id(part.of)])
            case _:
                text = repr(part)
        texts[id(part)] = text
    return texts[id(index)]


def _sum(terms: list[str]) -> str:
    # A term that is added first, so that the sum does not begin with a sign.
    first = next((n for n, term in enumerate(terms) if not term.startswith("-")), 0)
    text = terms[first]
    for term in terms[:first] + terms[first + 1 :]:
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _unary(part: Unary, of: str) -> str:
    if isinstance(part, (Least, Greatest)):
        return f"{'min' if isinstance(part, Least) else 'max'}({of}, {part.bound})"
    inner = of if isinstance(part.of, (Axis, Position, Least, Greatest)) else f"({of})"
    match part:
        case Product() if part.factor == -1:
            return f"-{inner}"
        case Product():
            # The sign in front, so that a sum can subtract it.
            return f"-{inner}*{-part.factor}" if part.factor < 0 else f"{inner}*{part.factor}"
        case Quotient():
            return f"{inner}//{part.divisor}"
        case Remainder():
            return f"{inner}%{part.divisor}"
    return repr(part)


def underlined(kernel: Kernel, what: Buffer | Statement | None) -> str:
    """The lines around one buffer or statement of a kernel, with carets below it.

    Args:
        kernel: the kernel.
        what: the buffer or statement itself; None for the first line.
    """
    texts: list[str] = []
    wrong = -1
    for shown, text in kernel_lines(kernel):
        if wrong < 0 and shown is what:
            wrong = len(texts)
        texts.append(text)
    lines: list[str] = []
    last = -1
    for number in sorted({0, *range(wrong - _CONTEXT, wrong + _CONTEXT + 1)}):
        if not 0 <= number < len(texts):
            continue
        if number > last + 1:
            lines.append("  ...")
        lines.append(texts[number])
        if number == wrong:
            bare = texts[number].lstrip()
            lines.append(" " * (len(texts[number]) - len(bare)) + "^" * len(bare))
        last = number
    if last < len(texts) - 1:
        lines.append("  ...")
    return "\n".join(f"    {line}" for line in lines)
