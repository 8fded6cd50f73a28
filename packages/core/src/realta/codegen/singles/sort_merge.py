"""Sort merge: pairs of sorted runs merged, each lane making one piece of the result."""

from __future__ import annotations

from typing import Final

from realta.codegen.indices import Index, Position, greatest, least
from realta.codegen.ir import Apply, Const, Expr, FromIndex, Var
from realta.codegen.lower_loops import balanced, vectors_of
from realta.codegen.lowered import Launch
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import negated, select
from realta.codegen.singles.sort_items import Item, Items, Sorting, Stored
from realta.codegen.writer import KernelWriter, both, inside
from realta.types import bool_

__all__ = ["write_merge"]

_PIECE: Final = 16
"""Elements that a lane makes; a power of two."""


def write_merge(
    sorting: Sorting, run: int, profile: DeviceProfile, source: Items, target: Items
) -> Launch:
    """The kernel that merges runs of a length two by two.

    Args:
        sorting: the sort.
        run: the length, a power of two; the last run of a line may be shorter or missing.
        profile: the device.
        source: the runs.
        target: where the merged ones go.
    """
    lines = sorting.lines
    piece = min(_PIECE, 2 * run)
    pieces = vectors_of(lines.extent, piece)
    vectors = vectors_of(lines.count * pieces, profile.lanes)
    cut = balanced(vectors, profile.chunk // (profile.lanes * piece))
    write = KernelWriter(cut.groups, profile.lanes)
    stored = source.read(write), target.written(write)
    with write.loop(cut.turns, "vector") as turn:
        flat = (write.group * cut.turns + turn) * profile.lanes + write.lane
        line, first = flat // pieces, flat % pieces * piece
        merge = _Merge(sorting, run, stored, line, first)
        merge.find()
        merge.take(piece)
    return write.launch(f"sort_merge_{run}")


class _Merge:
    """One piece of a pair of runs: first the left one, then the right one.

    Attributes:
        pair: where the pair begins.
        left: how many elements of the left run are taken.
        right: how many of the right one.
    """

    def __init__(
        self,
        sorting: Sorting,
        run: int,
        stored: tuple[Stored, Stored],
        line: Index,
        first: Index,
    ) -> None:
        self.sorting = sorting
        self.run = run
        self.source, self.target = stored
        self.write: KernelWriter = self.source.write
        self.type = sorting.count_type
        self.line, self.first = line, first
        self.exists = inside(line, sorting.lines.count)
        self.pair = first // (2 * run) * (2 * run)
        rest = sorting.lines.extent - self.pair
        lengths = least(rest, run), least(greatest(rest - run, 0), run)
        self.before = first - self.pair
        self.left_length = self.write.let(FromIndex(lengths[0], self.type), "length")
        self.right_length = self.write.let(FromIndex(lengths[1], self.type), "length")
        start = greatest(self.before - lengths[1], 0)
        self.left: Var = self.write.declare(FromIndex(start, self.type), "left")
        self.right: Var | None = None

    def number(self, value: int) -> Expr:
        return Const(value, self.type)

    def sum(self, x: Expr, y: Expr) -> Expr:
        return Apply("add", (x, y), self.type)

    def difference(self, x: Expr, y: Expr) -> Expr:
        return Apply("sub", (x, y), self.type)

    def load(self, at: Expr, extent: int, start: int, where: Expr) -> Item:
        """An element of the pair, counted from a start of it, where a condition holds."""
        place = self.pair + start + Position(at, extent)
        here = both(self.exists, where)
        return self.source.load(self.line, place, here)

    def find(self) -> None:
        """How many elements of the left run are before the piece, by halving steps.

        Of the elements before the piece, the left ones are those that do not come after the right
        ones that would be there without them.
        """
        write = self.write
        taken = write.let(FromIndex(self.before, self.type), "taken")
        most = write.let(Apply("minimum", (taken, self.left_length), self.type), "most")
        step = write.declare(self.number(self.run), "step")
        with write.loop(self.run.bit_length(), "halving"):
            more = write.let(self.sum(self.left, step), "more")
            fits = write.let(Apply("less_equal", (more, most), bool_), "fits")
            left = self.load(self.difference(more, self.number(1)), self.run, 0, fits).value
            right = self.load(self.difference(taken, more), self.run, self.run, fits).value
            comes = (fits, negated(self.sorting.before(right, left)))
            write.assign(self.left, select(Apply("bitwise_and", comes, bool_), more, self.left))
            write.assign(step, Apply("shift_right", (step, self.number(1)), self.type))
        self.right = write.declare(self.difference(taken, self.left), "right")

    def _has(self, count: Expr, length: Expr) -> Expr:
        return Apply("less", (count, length), bool_)

    def take(self, piece: int) -> None:
        """Takes the elements of the piece."""
        write, run, right = self.write, self.run, self.right
        if right is None:
            raise ValueError("the start of the piece is not found yet")
        heads = (
            self.load(self.left, run, 0, self._has(self.left, self.left_length)),
            self.load(right, run, run, self._has(right, self.right_length)),
        )
        of_left, of_right = (_declared(write, head) for head in heads)
        with write.loop(piece, "turn") as turn:
            has_left = self._has(self.left, self.left_length)
            has_right = self._has(right, self.right_length)
            later = negated(self.sorting.before(of_right.value, of_left.value))
            wins = Apply("bitwise_or", (negated(has_right), later), bool_)
            from_left = write.let(Apply("bitwise_and", (has_left, wins), bool_), "from_left")
            where = both(self.exists, inside(self.first + turn, self.sorting.lines.extent))
            self.target.store(
                self.line, self.first + turn, _chosen(from_left, of_left, of_right), where
            )
            one, none = self.number(1), self.number(0)
            write.assign(self.left, self.sum(self.left, select(from_left, one, none)))
            write.assign(right, self.sum(right, select(from_left, none, one)))
            following = self._following(from_left, right)
            _assign(write, of_left, _chosen(from_left, following, of_left))
            _assign(write, of_right, _chosen(from_left, of_right, following))

    def _following(self, from_left: Expr, right: Expr) -> Item:
        """The next element of the run that was taken from."""
        more_left = (from_left, self._has(self.left, self.left_length))
        more_right = (negated(from_left), self._has(right, self.right_length))
        more = [Apply("bitwise_and", pair, bool_) for pair in (more_left, more_right)]
        where = Apply("bitwise_or", (more[0], more[1]), bool_)
        at = select(from_left, self.left, self.sum(right, self.number(self.run)))
        return self.load(self.write.let(at, "next"), 2 * self.run, 0, self.write.let(where, "more"))


def _declared(write: KernelWriter, item: Item) -> Item:
    number = None if item.number is None else write.declare(item.number, "head")
    return Item(write.declare(item.value, "head"), number)


def _assign(write: KernelWriter, variables: Item, values: Item) -> None:
    for variable, value in (
        (variables.value, values.value), (variables.number, values.number),
    ):  # fmt: skip
        if isinstance(variable, Var) and value is not None:
            write.assign(variable, value)


def _chosen(condition: Expr, one: Item, other: Item) -> Item:
    number = None
    if one.number is not None and other.number is not None:
        number = select(condition, one.number, other.number)
    return Item(select(condition, one.value, other.value), number)
