"""Trace: writes a helper function once, for numbers and for vectors of every dialect.

A helper is a Python function over `V`s. Its operators make expressions of the kernel IR from
instructions that each C-family language has, the raw ones below included; a renderer prints them.

Raw instructions, which have no protection against bad operands: ``convert`` (as C converts; floats
must fit), ``raw_div raw_mod`` (integers, the divisor not zero, no overflow), ``raw_shift_left
raw_shift_right`` (amounts below the width), ``c.NAME`` for NAME of `dialect.MATH_NAMES`,
``each.NAME`` for the same of single numbers, and ``any``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from realta.codegen.indices import Axis
from realta.codegen.ir import (
    Apply,
    Assign,
    Const,
    Declare,
    Expr,
    If,
    Let,
    Loop,
    Statement,
    Var,
)
from realta.types import BY_NAME, DType, bool_

__all__ = ["Helper", "Trace", "V", "select"]


class V:
    """A value in a helper function; operators act on it as on C's numbers, integers wrapping."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    @property
    def dtype(self) -> DType:
        """Its type."""
        return self.expr.dtype

    def like(self, value: V | float) -> V:
        """A number as a value of this one's type."""
        return value if isinstance(value, V) else V(Const(value, self.dtype))

    def apply(self, op: str, *others: V | float, dtype: DType | None = None) -> V:
        """An instruction of this value and others."""
        operands = tuple(self.like(other).expr for other in others)
        return V(Apply(op, (self.expr, *operands), dtype or self.dtype))

    def __add__(self, other: V | float) -> V:
        return self.apply("add", other)

    def __sub__(self, other: V | float) -> V:
        return self.apply("sub", other)

    def __mul__(self, other: V | float) -> V:
        return self.apply("mul", other)

    def __truediv__(self, other: V | float) -> V:
        return self.apply("div", other)

    def __floordiv__(self, other: V | float) -> V:
        return self.apply("raw_div", other)

    def __neg__(self) -> V:
        return self.apply("neg")

    def __and__(self, other: V | float) -> V:
        return self.apply("bitwise_and", other)

    def __or__(self, other: V | float) -> V:
        return self.apply("bitwise_or", other)

    def __xor__(self, other: V | float) -> V:
        return self.apply("bitwise_xor", other)

    def __invert__(self) -> V:
        return self.apply("logical_not" if self.dtype is bool_ else "bitwise_not")

    def __lshift__(self, amount: V | float) -> V:
        return self.apply("raw_shift_left", amount)

    def __rshift__(self, amount: V | float) -> V:
        return self.apply("raw_shift_right", amount)

    def __lt__(self, other: V | float) -> V:
        return self.apply("less", other, dtype=bool_)

    def __le__(self, other: V | float) -> V:
        return self.apply("less_equal", other, dtype=bool_)

    def __gt__(self, other: V | float) -> V:
        return self.apply("greater", other, dtype=bool_)

    def __ge__(self, other: V | float) -> V:
        return self.apply("greater_equal", other, dtype=bool_)

    def equals(self, other: V | float) -> V:
        """Whether two values are equal."""
        return self.apply("equal", other, dtype=bool_)

    def differs(self, other: V | float) -> V:
        """Whether two values are unequal; NaN differs from all."""
        return self.apply("not_equal", other, dtype=bool_)

    def is_nan(self) -> V:
        """Whether it is NaN."""
        return self.differs(self)

    def c(self, function: str, *others: V | float) -> V:
        """A function of the language's library."""
        return self.apply(f"c.{function}", *others)

    def each(self, function: str) -> V:
        """A function of the language's library for single numbers, lane by lane; of a name."""
        return self.apply(f"each.{function}")

    def to(self, dtype: DType) -> V:
        """Converted as C does."""
        return self.apply("convert", dtype=dtype)

    def as_type(self, dtype: DType) -> V:
        """The same bits as another type."""
        return self.apply("bitcast", dtype=dtype)

    def bits(self, kind: str = "uint") -> V:
        """The bits as an unsigned integer, or a signed one for ``"int"``."""
        return self.as_type(BY_NAME[f"{kind}{self.dtype.bits}"])


def select(condition: V, x: V, y: V | float) -> V:
    """X where a condition holds, else y."""
    return V(Apply("select", (condition.expr, x.expr, x.like(y).expr), x.dtype))


class Trace:
    """The statements of a helper function."""

    def __init__(self) -> None:
        self._bodies: list[list[Statement]] = [[]]

    @property
    def body(self) -> tuple[Statement, ...]:
        """What was written so far."""
        return tuple(self._bodies[0])

    def let(self, name: str, value: V) -> V:
        """Names a value, so that it is computed once."""
        var = Var(name, value.dtype)
        self._bodies[-1].append(Let(var, value.expr))
        return V(var)

    def var(self, name: str, value: V) -> V:
        """Starts a variable that `assign` changes."""
        var = Var(name, value.dtype)
        self._bodies[-1].append(Declare(var, value.expr))
        return V(var)

    def assign(self, var: V, value: V) -> None:
        """Changes a variable."""
        assert isinstance(var.expr, Var)  # noqa: S101 (a helper written wrongly)
        self._bodies[-1].append(Assign(var.expr, value.expr))

    @contextmanager
    def repeat(self, count: int) -> Iterator[None]:
        """Runs what is written inside `count` times."""
        self._bodies.append([])
        yield
        body = self._bodies.pop()
        self._bodies[-1].append(Loop(Axis("turn", count), tuple(body)))

    @contextmanager
    def when_any(self, condition: V) -> Iterator[None]:
        """Runs what is written inside if a condition holds in any lane."""
        self._bodies.append([])
        yield
        body = self._bodies.pop()
        self._bodies[-1].append(If(condition.apply("any").expr, tuple(body)))


class Helper(NamedTuple):
    """A helper function.

    Args:
        name: its name without prefix and vector length.
        doc: what it computes, for a comment.
        parameters: names and types.
        result: type of the result.
        define: writes the statements and returns the result.
        exact: whether its result is the same however it is computed.
    """

    name: str
    doc: str
    parameters: tuple[tuple[str, DType], ...]
    result: DType
    define: Callable[..., V]
    exact: bool = True
