"""Kernel IR: what every lane of a group does, as data.

A kernel runs on a number of independent *groups*; a group is a row of *lanes* that all follow the
same control flow: loops and conditions are uniform, only loads and stores are predicated by lane.
What a lane is belongs to the device profile: an element of an explicit vector (one work-item per
group, CPU), a work-item (GPU), or one turn of an innermost loop (plain C). The program is the same.

Lanes meet in two places only: `Fold` combines the values of neighbouring lanes by halving, and
`Barrier` makes what was stored in group memory visible to the other lanes of the group.

Values have *compute types*: bool, the integers, float32, float64. float16, bfloat16 and the float8
types exist in buffers only; a load widens them to float32, a store rounds, and the instruction
``round_to`` rounds to one in between, so that every op rounds at its boundary as in any other mode.

`realta.codegen.interpreter` is the definition of what each statement means.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from realta.codegen.indices import Axis, Index
from realta.records import Record
from realta.types import DType, bool_, float32

__all__ = [
    "Allocate", "Apply", "Assign", "Barrier", "Buffer", "Compare", "Const", "Declare", "Expr",
    "Fold", "FromIndex", "If", "Kernel", "Let", "Load", "Loop", "Role", "Space", "Statement",
    "Store", "Tree", "Var", "compute_type",
]  # fmt: skip

Space = Literal["global", "group", "lane"]
"""``global``: an argument. ``group``: memory that the lanes of one group share. ``lane``: an array
that each lane has for itself."""
Role = Literal["input", "output", "temporary"]


def compute_type(dtype: DType) -> DType:
    """The type that values of a storage type have in registers."""
    return float32 if dtype.is_half else dtype


class Tree(Record):
    """The canonical order of a reduction (spec 5b): the same bits whoever computes which part.

    A sequence of n terms is cut into blocks of `block` terms. In a block, term i belongs to lane
    i mod `lanes`; each lane combines its terms in order, starting from the identity; then the lanes
    are combined by halving: lane j with lane j + lanes/2, then j + lanes/4, and so on. The results
    of the blocks are a sequence that is combined by the same rule, until one term is left.

    Args:
        lanes: a power of two.
        block: a multiple of `lanes`.
    """

    __slots__ = ("block", "lanes")

    lanes: int
    block: int

    def __init__(self, lanes: int, block: int) -> None:
        self._set(block, lanes)


class Buffer(Record):
    """Memory that a kernel reads or writes.

    Args:
        name: an identifier, unique in the kernel.
        dtype: storage type of its elements.
        size: number of elements.
        space: see `Space`.
        role: of a global buffer: whether it is read, written, or both (temporary).
    """

    __slots__ = ("dtype", "name", "role", "size", "space")

    name: str
    dtype: DType
    size: int
    space: Space
    role: Role

    def __init__(
        self, name: str, dtype: DType, size: int, space: Space = "global", role: Role = "input"
    ) -> None:
        self._set(dtype, name, role, size, space)


class Expr(Record):
    """A value of one lane. ``dtype`` is its compute type."""

    __slots__ = ("_reads", "dtype")

    dtype: DType
    _reads: frozenset[str]


class Const(Expr):
    """A literal; ``value`` is a Python bool, int or float (NaN, infinities and −0 included)."""

    __slots__ = ("value",)

    value: bool | float

    def __init__(self, value: bool | float, dtype: DType) -> None:
        self._set(dtype, value)

    def __eq__(self, other: object) -> bool:
        # repr tells −0 from 0 and one NaN is as good as another.
        return isinstance(other, Const) and (self.dtype, repr(self.value)) == (
            other.dtype, repr(other.value),
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash((self.dtype, repr(self.value)))


class Var(Expr):
    """A named value: made by `Let` or `Fold` once, or by `Declare` and changed by `Assign`."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str, dtype: DType) -> None:
        self._set(dtype, name)


class Apply(Expr):
    """A scalar instruction.

    ``op`` is the scalar name of a primitive elementwise op of the registry (``add maximum exp
    select …``) with the meaning of spec 5, or one of: ``cast`` (to `dtype`, by spec 5), ``bitcast``
    (to `dtype`), ``round_to`` (a float32 rounded to the storage type `target` and widened again),
    ``mul_high`` (upper half of the product of two uint32 or uint64).

    Args:
        op: the instruction.
        operands: its operands; those of arithmetic have one dtype.
        dtype: compute type of the result.
        target: storage type of ``round_to``; the narrow type of a ``cast`` to one (its result is
            what the operand, rounded once, is in that type, as a float32) and of a ``bitcast``
            from or to one (whose float32 is a value of it).
    """

    __slots__ = ("op", "operands", "target")

    op: str
    operands: tuple[Expr, ...]
    target: DType | None

    def __init__(
        self, op: str, operands: tuple[Expr, ...], dtype: DType, target: DType | None = None
    ) -> None:
        self._set(dtype, op, operands, target)


class FromIndex(Expr):
    """An index as a value (iota)."""

    __slots__ = ("index",)

    index: Index

    def __init__(self, index: Index, dtype: DType) -> None:
        self._set(dtype, index)


class Compare(Expr):
    """``index < bound`` as a bool: what predicates are made of, with ``bitwise_and``."""

    __slots__ = ("bound", "index")

    index: Index
    bound: int

    def __init__(self, index: Index, bound: int) -> None:
        self._set(bool_, bound, index)


class Load(Expr):
    """An element of a buffer, widened to its compute type.

    Args:
        buffer: where it is.
        index: which element.
        where: a bool; lanes where it is false touch no memory and get `default`. None: all load.
        default: what they get; needed with `where`.
    """

    __slots__ = ("buffer", "default", "index", "where")

    buffer: Buffer
    index: Index
    where: Expr | None
    default: Expr | None

    def __init__(
        self, buffer: Buffer, index: Index, where: Expr | None = None, default: Expr | None = None
    ) -> None:
        self._set(compute_type(buffer.dtype), buffer, default, index, where)


class Statement(Record):
    """A step of every lane of a group."""

    __slots__ = ()


class Let(Statement):
    """Names a value; a name is defined once.

    Args:
        var: the name.
        value: what it names.
        note: for people: the op and its line. It is no part of what a kernel is compared by.
    """

    __slots__ = ("note", "value", "var")

    var: Var
    value: Expr
    note: str

    def __init__(self, var: Var, value: Expr, note: str = "") -> None:
        self._set(note, value, var)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Let) and (self.var, self.value) == (other.var, other.value)

    def __hash__(self) -> int:
        return hash((self.var, self.value))


class Declare(Statement):
    """Starts a variable of each lane that `Assign` changes (an accumulator)."""

    __slots__ = ("value", "var")

    var: Var
    value: Expr

    def __init__(self, var: Var, value: Expr) -> None:
        self._set(value, var)


class Assign(Statement):
    """Changes a declared variable."""

    __slots__ = ("value", "var")

    var: Var
    value: Expr

    def __init__(self, var: Var, value: Expr) -> None:
        self._set(value, var)


class Store(Statement):
    """Writes one element per lane, rounded to the buffer's storage type.

    Args:
        buffer: where.
        index: which element.
        value: what.
        where: a bool; only lanes where it is true write. None: all write.
        streaming: whether the element is not read again soon, so that caches may be bypassed.
    """

    __slots__ = ("buffer", "index", "streaming", "value", "where")

    buffer: Buffer
    index: Index
    value: Expr
    where: Expr | None
    streaming: bool

    def __init__(
        self, buffer: Buffer, index: Index, value: Expr, where: Expr | None = None,
        streaming: bool = False,
    ) -> None:  # fmt: skip
        self._set(buffer, index, streaming, value, where)


class Loop(Statement):
    """Runs a body for each value of an axis, in order; the same number of times in all lanes.

    Args:
        axis: the loop variable; its extent is the number of turns.
        body: the statements.
        unroll: whether the renderer should write the turns out.
    """

    __slots__ = ("axis", "body", "unroll")

    axis: Axis
    body: tuple[Statement, ...]
    unroll: bool

    def __init__(self, axis: Axis, body: tuple[Statement, ...], unroll: bool = False) -> None:
        self._set(axis, body, unroll)


class If(Statement):
    """Runs a body if a condition holds that is the same in all lanes (it reads no lane)."""

    __slots__ = ("body", "condition")

    condition: Expr
    body: tuple[Statement, ...]

    def __init__(self, condition: Expr, body: tuple[Statement, ...]) -> None:
        self._set(body, condition)


class Fold(Statement):
    """Combines values across each segment of `width` neighbouring lanes, by halving.

    Lane j of a segment combines its value with that of lane j + width/2, then with lane j +
    width/4 …, its own value being the first operand; afterwards every lane of the segment has the
    result of lane 0.

    Args:
        results: names of the combined values.
        values: one value; or for ``argmax`` and ``argmin`` the value and its index (int64).
        combine: ``add mul maximum minimum logical_and logical_or bitwise_or argmax argmin``.
        width: a power of two that divides the number of lanes.
    """

    __slots__ = ("combine", "results", "values", "width")

    results: tuple[Var, ...]
    values: tuple[Expr, ...]
    combine: str
    width: int

    def __init__(
        self, results: tuple[Var, ...], values: tuple[Expr, ...], combine: str, width: int
    ) -> None:
        self._set(combine, results, values, width)


class Allocate(Statement):
    """Memory of the group or of each lane, undefined at first, gone with the enclosing body."""

    __slots__ = ("buffer",)

    buffer: Buffer

    def __init__(self, buffer: Buffer) -> None:
        self._set(buffer)


class Barrier(Statement):
    """All lanes of the group arrive before one goes on; group memory is then seen by all.

    A lane that reads what itself has stored needs none. Reading what another lane stored since the
    last barrier is an error, and so is storing what another lane may still be reading.
    """

    __slots__ = ()


class Kernel(Record):
    """A program for `groups` groups of `lanes` lanes.

    Args:
        name: an identifier.
        buffers: the arguments, in order; all of space ``global``.
        groups: number of groups.
        lanes: number of lanes of a group.
        body: what each lane does; `GROUP` and `LANE` are axes of these extents.
        notes: for people: schedule, orders of reductions.
    """

    __slots__ = ("body", "buffers", "groups", "lanes", "name", "notes")

    name: str
    buffers: tuple[Buffer, ...]
    groups: int
    lanes: int
    body: tuple[Statement, ...]
    notes: tuple[str, ...]

    def __init__(
        self, name: str, buffers: tuple[Buffer, ...], groups: int, lanes: int,
        body: tuple[Statement, ...], notes: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self._set(body, buffers, groups, lanes, name, notes)

    @property
    def group(self) -> Axis:
        """The number of the group."""
        return Axis(GROUP, self.groups)

    @property
    def lane(self) -> Axis:
        """The number of the lane in its group."""
        return Axis(LANE, self.lanes)


GROUP: Final = "group"
LANE: Final = "lane"
IDENTITY: Final[dict[str, Any]] = {
    "add": -0.0, "mul": 1, "maximum": "lowest", "minimum": "highest", "logical_and": True,
    "logical_or": False, "bitwise_or": 0,
}  # fmt: skip
"""What each combination starts from: exact for every first term, −0 for float sums included.
``lowest`` and ``highest`` are the infinities of floats and the ends of integers."""
