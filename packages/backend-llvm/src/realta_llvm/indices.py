"""Indices: index expressions as LLVM integers, computed where their loop variables begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

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
    leaves,
    substitute,
)
from realta.codegen.ir import Expr
from realta.codegen.render_indices import along_lanes
from realta.codegen.uniformity import index_varies

from realta_llvm.code import Code, Coder
from realta_llvm.text import Line, Value, vector

__all__ = ["Indices", "known_multiple"]


class _Scope:
    """A block with the loop variables that begin there, and where indices of them are computed."""

    def __init__(self, axes: Iterable[str], head: list[Line]) -> None:
        self.axes = frozenset(axes)
        self.head = head
        self.numbers: dict[Index, Value] = {}
        self.vectors: dict[Index, tuple[Value, ...]] = {}


class Indices:
    """Writes indices.

    Args:
        coder: writes instructions.
        bits: width of the integers of indices that differ between lanes.
        varying: names of values that differ between lanes.
        code: writes the value of a computed position.
    """

    def __init__(
        self, coder: Coder, bits: int, varying: frozenset[str], code: Callable[[Expr], Code]
    ) -> None:
        self.coder = coder
        self.body = coder.body
        self.bits = bits
        self.varying = varying
        self.code = code
        self.turns: dict[str, Value] = {}
        self.known: dict[str, int] = {}
        self.scopes: list[_Scope] = []

    @contextmanager
    def scope(self, axes: Iterable[str] = ()) -> Iterator[None]:
        """A block in which loop variables begin."""
        self.scopes.append(_Scope(axes, self.body.hole()))
        yield
        self.scopes.pop()

    @contextmanager
    def turn(self, name: str, number: int) -> Iterator[None]:
        """One turn of a loop that is written out."""
        self.known[name] = number
        yield
        del self.known[name]

    def plain(self, index: Index) -> Index:
        """An index in which known loop variables are numbers."""
        return substitute(index, self.known) if self.known else index

    def varies(self, index: Index) -> bool:
        """Whether an index may differ between lanes."""
        return self.coder.lanes > 1 and index_varies(index, self.varying)

    def along(self, index: Index) -> tuple[int, Index] | None:
        """An index as stride x lane + base; None if it is nothing of the kind."""
        if self.coder.lanes == 1:
            return (0, index)
        return along_lanes(index, self.coder.lanes, self.varying)

    def _home(self, index: Index) -> _Scope | None:
        """The innermost block that begins a loop variable of an index; None if it reads data."""
        axes = set()
        for leaf in leaves(index):
            if not isinstance(leaf, Axis):
                return None
            axes.add(leaf.name)
        for scope in reversed(self.scopes):
            if not axes.isdisjoint(scope.axes):
                return scope
        return self.scopes[0]

    # -- numbers ----------------------------------------------------------------------------------

    def number(self, index: Index) -> Value:
        """An index that is the same in all lanes."""
        if isinstance(index, Number):
            return Value(str(index.value), "i64")
        if isinstance(index, Axis):
            # With one lane, or in the first of all, the lane's number is 0.
            return self.turns.get(index.name) or Value("0", "i64")
        if isinstance(index, Position):
            return self._position(index)
        home = self._home(index)
        if home is None:
            return self._arithmetic(index)
        found = home.numbers.get(index)
        if found is None:
            with self.body.into(home.head):
                found = self._arithmetic(index)
            home.numbers[index] = found
        return found

    def _position(self, index: Position) -> Value:
        code = self.coder.number(self.code(index.value))
        return self.coder.write.resize(code.number, 64, signed=code.dtype.kind == "int")

    def _op(self, op: str, x: Value, y: int) -> Value:
        return self.body.value(f"{op} i64 {x.text}, {y}", "i64")

    def _arithmetic(self, index: Index) -> Value:
        match index:
            case Sum():
                return self._sum(index)
            case Product():
                return self._op("mul", self.number(index.of), index.factor)
            case Quotient() | Remainder():
                divisor, turns = index.divisor, max(0, -(index.of.low // index.divisor))
                # Division rounds towards zero: what may be negative is moved by a multiple.
                moved = self.number(index.of + turns * divisor)
                if isinstance(index, Remainder):
                    return self._op("urem", moved, divisor)
                found = self._op("udiv", moved, divisor)
                return self._op("sub", found, turns) if turns else found
            case Least() | Greatest():
                return self._bounded(index)
        return self.number(index)

    def _sum(self, index: Sum) -> Value:
        first, *rest = [self.number(term) for term in index.terms]
        for term in rest:
            first = self.body.value(f"add i64 {first.text}, {term.text}", "i64")
        return first

    def _bounded(self, index: Least | Greatest) -> Value:
        name = "llvm.smin.i64" if isinstance(index, Least) else "llvm.smax.i64"
        bound = Value(str(index.bound), "i64")
        return self.body.call(name, "i64", [self.number(index.of), bound])

    # -- vectors ----------------------------------------------------------------------------------

    def parts(self, index: Index) -> tuple[Value, ...]:
        """An index as vectors of lanes."""
        if not self.varies(index):
            return self._spread(self.number(index))
        if isinstance(index, Position):
            code = self.coder.widen(self.code(index.value))
            signed = code.dtype.kind == "int"
            write = self.coder.write
            return tuple([write.resize(p, self.bits, signed=signed) for p in code.parts])
        home = self._home(index)
        if home is None:
            return self._wide(index)
        found = home.vectors.get(index)
        if found is None:
            with self.body.into(home.head):
                found = self._wide(index)
            home.vectors[index] = found
        return found

    def _spread(self, number: Value) -> tuple[Value, ...]:
        if number.text.startswith("%"):
            if self.bits == 32:
                number = self.body.value(f"trunc i64 {number.text} to i32", "i32")
        else:
            number = Value(number.text, f"i{self.bits}")
        return (self.body.splat(number, self.coder.width),) * self.coder.count

    def lane_numbers(self) -> tuple[Value, ...]:
        """The numbers of the lanes."""
        width, element = self.coder.width, f"i{self.bits}"
        found = []
        for part in range(self.coder.count):
            numbers = range(part * width, (part + 1) * width)
            text = ", ".join(f"{element} {n}" for n in numbers)
            found.append(Value(f"<{text}>" if width > 1 else str(part), vector(element, width)))
        return tuple(found)

    def _each(self, op: str, x: tuple[Value, ...], y: tuple[Value, ...]) -> tuple[Value, ...]:
        pairs = zip(x, y, strict=True)
        return tuple(
            [self.body.value(f"{op} {a.type} {a.text}, {b.text}", a.type) for a, b in pairs]
        )

    def _with(self, op: str, x: tuple[Value, ...], number: int) -> tuple[Value, ...]:
        return self._each(op, x, self._spread(Value(str(number), "i64")))

    def _wide(self, index: Index) -> tuple[Value, ...]:
        match index:
            case Axis():
                return self.lane_numbers()
            case Sum():
                return self._wide_sum(index)
            case Product():
                return self._with("mul", self.parts(index.of), index.factor)
            case Quotient() | Remainder():
                divisor, turns = index.divisor, max(0, -(index.of.low // index.divisor))
                of = self.parts(index.of)
                of = self._with("add", of, turns * divisor) if turns else of
                if isinstance(index, Remainder):
                    return self._with("urem", of, divisor)
                found = self._with("udiv", of, divisor)
                return self._with("sub", found, turns) if turns else found
            case Least() | Greatest():
                predicate = "slt" if isinstance(index, Least) else "sgt"
                bounds = self._spread(Value(str(index.bound), "i64"))
                write = self.coder.write
                pairs = zip(self.parts(index.of), bounds, strict=True)
                return tuple([write.select(write.compare(predicate, x, y), x, y) for x, y in pairs])
        return self.parts(index)

    def _wide_sum(self, index: Sum) -> tuple[Value, ...]:
        same = [term for term in index.terms if not self.varies(term)]
        wide = [self.parts(term) for term in index.terms if self.varies(term)]
        if same:
            wide.append(self._spread(self.number(Sum(tuple(same)) if len(same) > 1 else same[0])))
        found = wide[0]
        for term in wide[1:]:
            found = self._each("add", found, term)
        return found


def known_multiple(index: Index) -> int:
    """A number that an index is a multiple of whatever its loop variables are; 0 for no limit."""
    found = 0
    for term in index.terms if isinstance(index, Sum) else (index,):
        part = 1
        if isinstance(term, Number):
            part = abs(term.value)
        elif isinstance(term, Product):
            part = abs(term.factor)
        while part:
            found, part = part, found % part
    return found
