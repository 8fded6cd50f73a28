"""KernelWriter: writes kernel IR statement by statement, with fresh names and nested bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from realta.codegen.indices import Axis, Index, Number, as_index
from realta.codegen.ir import (
    GROUP,
    LANE,
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
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Role,
    Space,
    Statement,
    Store,
    Var,
)
from realta.codegen.lowered import Argument, Launch, Temporary
from realta.errors import ArgumentError
from realta.types import DType, bool_

__all__ = ["KernelWriter", "both", "inside", "not_below"]


def inside(index: Index, bound: int) -> Expr | None:
    """The predicate ``index < bound``; None where it always holds."""
    return None if index.high < bound else Compare(index, bound)


def not_below(index: Index, least: int) -> Expr | None:
    """The predicate ``index >= least``; None where it always holds."""
    return None if index.low >= least else Compare(least - 1 - index, 0)


def both(*predicates: Expr | None) -> Expr | None:
    """All predicates at once; None means always."""
    found: Expr | None = None
    for predicate in predicates:
        if predicate is not None:
            joined = (found, predicate)
            found = predicate if found is None else Apply("bitwise_and", joined, bool_)  # type: ignore[arg-type]
    return found


class KernelWriter:
    """Writes one kernel.

    Args:
        groups: number of groups.
        lanes: number of lanes of a group.
    """

    def __init__(self, groups: int, lanes: int) -> None:
        self.group: Index = Axis(GROUP, groups) if groups > 1 else Number(0)
        self.lane: Index = Axis(LANE, lanes) if lanes > 1 else Number(0)
        self.groups = groups
        self.lanes = lanes
        self.buffers: list[Buffer] = []
        self.arguments: list[Argument] = []
        self._bodies: list[list[Statement]] = [[]]
        self._names: dict[str, int] = {}

    # -- memory -----------------------------------------------------------------------------------

    def argument(self, bound: Argument, role: Role, name: str = "") -> Buffer:
        """A buffer that is bound to a value of the graph or to a temporary."""
        if isinstance(bound, Temporary):
            dtype, size = bound.dtype, bound.size
        else:
            dtype, size = bound.type.dtype, bound.type.size
        buffer = Buffer(self.fresh(name or role), dtype, size, "global", role)
        self.buffers.append(buffer)
        self.arguments.append(bound)
        return buffer

    def allocate(
        self, dtype: DType, size: int, space: Space, name: str = "local", *, outermost: bool = False
    ) -> Buffer:
        """Memory of the group or of each lane; the outermost body's is there all the time."""
        buffer = Buffer(self.fresh(name), dtype, size, space, "temporary")
        if outermost:
            self._bodies[0].insert(0, Allocate(buffer))
        else:
            self._add(Allocate(buffer))
        return buffer

    # -- statements -------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        """A name that is not in use."""
        count = self._names.get(name, 0)
        while f"{name}{count}" in self._names:  # another name may end in digits
            count += 1
        self._names[name] = count + 1
        found = f"{name}{count}"
        self._names.setdefault(found, 0)
        return found

    def let(self, value: Expr, name: str = "v") -> Expr:
        """Names a value, so that it is computed once; what is as short as a name stays."""
        if isinstance(value, (Const, Var)):
            return value
        var = Var(self.fresh(name), value.dtype)
        self._add(Let(var, value))
        return var

    def declare(self, value: Expr, name: str = "acc") -> Var:
        """Starts a variable of each lane."""
        var = Var(self.fresh(name), value.dtype)
        self._add(Declare(var, value))
        return var

    def assign(self, var: Var, value: Expr) -> None:
        """Changes a declared variable."""
        self._add(Assign(var, value))

    def load(
        self,
        buffer: Buffer,
        index: Index | int,
        where: Expr | None = None,
        default: Expr | None = None,
        name: str = "x",
    ) -> Expr:
        """Reads an element and names it."""
        return self.let(Load(buffer, as_index(index), where, default), name)

    def store(
        self,
        buffer: Buffer,
        index: Index | int,
        value: Expr,
        where: Expr | None = None,
        streaming: bool = False,
    ) -> None:
        """Writes an element."""
        self._add(Store(buffer, as_index(index), value, where, streaming))

    def fold(
        self, values: Sequence[Expr], combine: str, width: int, name: str = "total"
    ) -> tuple[Expr, ...]:
        """Combines values across each segment of `width` lanes; every lane gets the result."""
        if width == 1:
            return tuple(values)
        results = tuple(Var(self.fresh(name), value.dtype) for value in values)
        self._add(Fold(results, tuple(values), combine, width))
        return results

    def barrier(self) -> None:
        """Makes group memory visible to all lanes of the group."""
        if self.lanes > 1:
            self._add(Barrier())

    @contextmanager
    def loop(self, extent: int, name: str = "i", *, unroll: bool = False) -> Iterator[Index]:
        """A loop; its turn is what the context manager gives. One turn needs no loop."""
        axis = Axis(self.fresh(name), extent)
        self._bodies.append([])
        try:
            yield axis if extent > 1 else Number(0)
        finally:
            body = self._bodies.pop()
        if extent == 1:
            self._bodies[-1].extend(body)
        elif extent > 1 and body:
            self._add(Loop(axis, tuple(body), unroll))

    @contextmanager
    def when(self, condition: Expr | None) -> Iterator[None]:
        """A body under a condition that is the same in all lanes; None means always."""
        if condition is None:
            yield
            return
        self._bodies.append([])
        try:
            yield
        finally:
            body = self._bodies.pop()
        if body:
            self._add(If(condition, tuple(body)))

    def _add(self, statement: Statement) -> None:
        self._bodies[-1].append(statement)

    # -- the kernel -------------------------------------------------------------------------------

    def build(self, name: str, notes: Sequence[str] = ()) -> Kernel:
        """The kernel.

        Raises:
            ArgumentError: a loop or condition is still open.
        """
        if len(self._bodies) != 1:
            raise ArgumentError(
                f"{len(self._bodies) - 1} loops or conditions are open",
                where=f"KernelWriter.build({name!r})",
                fix="build the kernel after the last with statement",
            )
        body = tuple(self._bodies[0])
        return Kernel(name, tuple(self.buffers), self.groups, self.lanes, body, tuple(notes))

    def launch(self, name: str, notes: Sequence[str] = ()) -> Launch:
        """The kernel with what its buffers are bound to."""
        return Launch(self.build(name, notes), tuple(self.arguments))
