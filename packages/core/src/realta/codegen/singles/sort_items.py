"""Sort items: the values and numbers that a sort moves, and which of two comes first."""

from __future__ import annotations

from realta.codegen.indices import Index
from realta.codegen.ir import Apply, Buffer, Expr, Load, Role
from realta.codegen.lowered import Argument
from realta.codegen.scalar import cast, constant, negated
from realta.codegen.singles.lines import Lines
from realta.codegen.writer import KernelWriter
from realta.records import Record
from realta.types import DType, bool_, int32, int64, uint8

__all__ = ["Item", "Items", "Sorting", "Stored"]


class Item(Record):
    """An element on its way: its value, and its number in the line if that is kept."""

    __slots__ = ("number", "value")

    value: Expr
    number: Expr | None

    def __init__(self, value: Expr, number: Expr | None) -> None:
        self._set(number, value)


class Sorting(Record):
    """A sort of lines.

    Args:
        lines: where the elements are, and where the result is.
        dtype: storage type of the elements.
        numbered: whether their numbers in the line are kept (argsort).
        descending: whether the largest comes first.
    """

    __slots__ = ("descending", "dtype", "lines", "numbered")

    lines: Lines
    dtype: DType
    numbered: bool
    descending: bool

    def __init__(self, lines: Lines, dtype: DType, numbered: bool, descending: bool) -> None:
        self._set(descending, dtype, lines, numbered)

    @property
    def count_type(self) -> DType:
        """The type of numbers of elements in a line."""
        return int32 if self.lines.extent < 1 << 30 else int64

    def before(self, x: Expr, y: Expr) -> Expr:
        """Whether x comes before y; of equal ones, and of two NaN, neither does."""
        if x.dtype is bool_:
            x, y = cast(x, bool_, uint8), cast(y, bool_, uint8)
        ordered = Apply("greater" if self.descending else "less", (x, y), bool_)
        if not x.dtype.is_float:
            return ordered
        last = (Apply("is_nan", (y,), bool_), negated(Apply("is_nan", (x,), bool_)))
        return Apply("bitwise_or", (ordered, Apply("bitwise_and", last, bool_)), bool_)


class Items(Record):
    """Where the elements are between two passes.

    Args:
        lines: how they lie.
        values: where the values are; None if they are no longer needed.
        numbers: where their numbers are; None if they are not kept, or not yet.
    """

    __slots__ = ("lines", "numbers", "values")

    lines: Lines
    values: Argument | None
    numbers: Argument | None

    def __init__(self, lines: Lines, values: Argument | None, numbers: Argument | None) -> None:
        self._set(lines, numbers, values)

    def read(self, write: KernelWriter) -> Stored:
        """The items as memory that a kernel reads."""
        return Stored(write, self, "input")

    def written(self, write: KernelWriter) -> Stored:
        """The items as memory that a kernel writes."""
        return Stored(write, self, "output")


class Stored:
    """Items in buffers of a kernel."""

    def __init__(self, write: KernelWriter, items: Items, role: Role) -> None:
        self.write = write
        self.lines = items.lines
        self.values: Buffer | None = None
        self.numbers: Buffer | None = None
        if items.values is not None:
            self.values = write.argument(items.values, role, "values")
        if items.numbers is not None:
            self.numbers = write.argument(items.numbers, role, "numbers")

    def load(self, line: Index, at: Index, where: Expr | None, default: Item | None = None) -> Item:
        """An element; anything where a condition does not hold, unless a default is given."""
        place = self.lines.place(line, at)

        def loaded(buffer: Buffer, given: Expr | None) -> Expr:
            other = None if where is None else given or constant(0, buffer.dtype)
            return self.write.let(Load(buffer, place, where, other), "item")

        if self.values is None:
            raise ValueError("the values of these items are not kept")
        value = loaded(self.values, None if default is None else default.value)
        if self.numbers is None:
            return Item(value, None)
        return Item(value, loaded(self.numbers, None if default is None else default.number))

    def store(self, line: Index, at: Index, item: Item, where: Expr | None) -> None:
        """Writes an element, or what is kept of it."""
        place = self.lines.place(line, at)
        if self.values is not None:
            self.write.store(self.values, place, item.value, where)
        if self.numbers is not None and item.number is not None:
            number = cast(item.number, item.number.dtype, self.numbers.dtype)
            self.write.store(self.numbers, place, number, where)
