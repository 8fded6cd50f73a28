"""The interpreter: the definition of what each statement of the kernel IR means.

It runs all lanes of all groups at once with NumPy, and finds what a device would not: accesses out
of range, lanes that race, memory that is read before it is written, positions that break their
promise. Scalar instructions compute what the reference of their op says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.codegen.index_values import evaluate
from realta.codegen.indices import Index, Position, parts
from realta.codegen.instructions import combine, perform
from realta.codegen.interpreter_memory import Fault, Flags, Memory, Numbers
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
from realta.codegen.lowered import Lowered, Temporary
from realta.codegen.printer import underlined
from realta.codegen.walking import expressions, roots
from realta.errors import ArgumentError, ExecutionError
from realta.graph import Value
from realta.ops import convert

__all__ = ["interpret", "interpret_lowered"]

Values = NDArray[Any]
_ALWAYS: Final = np.ones((1, 1), np.bool_)


def interpret(kernel: Kernel, arrays: Sequence[Values]) -> None:
    """Runs a kernel.

    Args:
        kernel: a kernel that verifies.
        arrays: one-dimensional arrays of the buffers' storage types and sizes, in order. Outputs
            and temporaries are written in place.

    Raises:
        ArgumentError: the arrays do not fit the buffers.
        ExecutionError: an access out of range, a race, a read of undefined memory, a broken
            promise; with the statement underlined.
    """
    memories = [_given(b, a) for b, a in zip(kernel.buffers, _counted(kernel, arrays), strict=True)]
    _Run(kernel, memories).run()


def interpret_lowered(lowered: Lowered, inputs: Mapping[Value, Values]) -> dict[Value, Values]:
    """Runs the launches of a fusion group.

    Args:
        lowered: what to run.
        inputs: arrays of the values that the kernels read, of any shape, dense and row-major.

    Returns:
        The arrays of the values that the kernels write, in the shapes of their types.

    Raises:
        ArgumentError: an input is missing or does not fit.
        ExecutionError: as `interpret`; also when an element of an output is never written.
    """
    arrays: dict[Value | Temporary, Values] = {v: a.reshape(-1) for v, a in inputs.items()}
    defined: dict[Value | Temporary, Flags] = {}
    for launch in lowered.launches:
        memories = []
        for buffer, argument in zip(launch.kernel.buffers, launch.arguments, strict=True):
            if buffer.role != "input" and argument not in arrays:
                arrays[argument] = np.zeros(buffer.size, buffer.dtype.numpy)
                defined[argument] = np.zeros(buffer.size, np.bool_)
            if argument not in arrays:
                raise ArgumentError(f"the input {buffer.name} of {launch.kernel.name} is missing")
            _check_array(launch.kernel, buffer, arrays[argument])
            memories.append(Memory(buffer, arrays[argument], defined.get(argument)))
        _Run(launch.kernel, memories).run()
    found: dict[Value, Values] = {}
    for argument, written in defined.items():
        if isinstance(argument, Value):
            if not written.all():
                raise ExecutionError(
                    f"element {int(np.argmin(written))} of an output is never written",
                    where=", ".join(launch.kernel.name for launch in lowered.launches),
                    fix="store every element of every output",
                )
            shape = tuple(d for d in argument.type.shape if isinstance(d, int))
            found[argument] = arrays[argument].reshape(shape)
    return found


def _counted(kernel: Kernel, arrays: Sequence[Values]) -> Sequence[Values]:
    if len(arrays) != len(kernel.buffers):
        raise ArgumentError(
            f"the kernel {kernel.name} has {len(kernel.buffers)} buffers, got {len(arrays)} arrays",
            fix="give one array for each buffer",
        )
    return arrays


def _check_array(kernel: Kernel, buffer: Buffer, array: Values) -> None:
    if array.dtype != buffer.dtype.numpy or array.shape != (buffer.size,):
        raise ArgumentError(
            f"the buffer {buffer.name} of {kernel.name} is {buffer.dtype}[{buffer.size}], "
            f"got an array {array.dtype}{list(array.shape)}",
            fix="give a one-dimensional array of its storage type",
        )


def _given(buffer: Buffer, array: Values) -> Memory:
    return Memory(buffer, array, None)


class _Run:
    """One launch. Values are arrays that broadcast to (groups, lanes)."""

    def __init__(self, kernel: Kernel, memories: Sequence[Memory]) -> None:
        for memory in memories:
            _check_array(kernel, memory.buffer, memory.array)
        self.kernel = kernel
        self.shape = (kernel.groups, kernel.lanes)
        self.at: Statement | None = None
        self.values: dict[str, Values] = {}
        self.memories: dict[str, Memory] = {m.buffer.name: m for m in memories}
        groups, lanes = np.arange(kernel.groups)[:, None], np.arange(kernel.lanes)[None, :]
        self.axes: dict[str, Any] = {GROUP: groups, LANE: lanes}
        self.lanes = groups * kernel.lanes + lanes
        # The order of evaluation of indices and statements, which loops ask for at every turn.
        self.orders: dict[int, tuple[Index, ...]] = {}
        self.evaluations: dict[int, tuple[Expr, ...]] = {}
        self.active = _ALWAYS
        """Groups whose enclosing conditions hold, of shape (groups, 1) or (1, 1)."""

    def run(self) -> None:
        try:
            with np.errstate(all="ignore"):
                self.body(self.kernel.body)
        except Fault as fault:
            where = f"the kernel {self.kernel.name!r}\n{underlined(self.kernel, self.at)}"
            raise ExecutionError(fault.what, where=where, fix=fault.fix) from None

    def body(self, body: Iterable[Statement]) -> None:
        for statement in body:
            self.at = statement
            self.statement(statement, self.evaluated(statement))

    def statement(self, statement: Statement, found: dict[int, Values]) -> None:
        match statement:
            case Let() | Declare():
                self.values[statement.var.name] = found[id(statement.value)]
            case Assign():
                old, new = self.values[statement.var.name], found[id(statement.value)]
                self.values[statement.var.name] = (
                    new if self.active.all() else np.where(self.active, new, old)
                )
            case Store():
                self.store(statement, found)
            case Loop():
                for turn in range(statement.axis.extent):
                    self.axes[statement.axis.name] = turn
                    self.body(statement.body)
            case If():
                outer = self.active
                self.active = outer & self.condition(found[id(statement.condition)])
                if self.active.any():
                    self.body(statement.body)
                self.active = outer
            case Fold():
                self.fold(statement, found)
            case Allocate():
                self.allocate(statement.buffer)
            case Barrier():
                self.barrier()

    # -- expressions ------------------------------------------------------------------------------

    def evaluated(self, statement: Statement) -> dict[int, Values]:
        order = self.evaluations.get(id(statement))
        if order is None:
            order = self.evaluations[id(statement)] = tuple(expressions(roots(statement)))
        found: dict[int, Values] = {}
        for expr in order:
            found[id(expr)] = self.expr(expr, found)
        return found

    def expr(self, expr: Expr, found: dict[int, Values]) -> Values:
        match expr:
            case Const():
                return np.full((1, 1), expr.value, expr.dtype.numpy)
            case Var():
                return self.values[expr.name]
            case FromIndex():
                return self.index(expr.index, found, self.active).astype(expr.dtype.numpy)
            case Compare():
                return np.asarray(self.index(expr.index, found, self.active) < expr.bound)
            case Load():
                return self.load(expr, found)
            case Apply():
                given = np.broadcast_arrays(*[found[id(e)] for e in expr.operands])
                return perform(expr, *given)
        raise TypeError(f"no expression: {expr!r}")

    def index(self, index: Index, found: dict[int, Values], where: Flags) -> Numbers:
        """The value of an index; its positions keep their promise where a condition holds."""

        def placed(position: Position) -> Numbers:
            value = found[id(position.value)].astype(np.int64)
            outside = ((value < 0) | (value >= position.extent)) & where
            if outside.any():
                wrong = int(np.broadcast_to(value, outside.shape)[outside][0])
                raise Fault(
                    f"a position is promised to be below {position.extent} and is {wrong}",
                    "clamp it before",
                )
            return value

        order = self.orders.get(id(index))
        if order is None:
            order = self.orders[id(index)] = tuple(parts(index))
        value = np.asarray(evaluate(index, self.axes, placed, order), np.int64)
        return value.reshape(1, 1) if value.ndim == 0 else value

    def elements(
        self, buffer: Buffer, index: Index, found: dict[int, Values], where: Flags
    ) -> Numbers:
        """Numbers of elements in the memory of all groups and lanes, right where it holds."""
        value = self.index(index, found, where)
        outside = ((value < 0) | (value >= buffer.size)) & where
        if outside.any():
            wrong = int(np.broadcast_to(value, outside.shape)[outside][0])
            raise Fault(
                f"{buffer.name}[{wrong}] is out of range: {buffer.name} has {buffer.size} elements",
                "predicate the access, or mend its index",
            )
        if buffer.space == "group":
            value = value + self.axes[GROUP] * buffer.size
        elif buffer.space == "lane":
            value = value + self.lanes * buffer.size
        return value

    def chosen(
        self, memory: Memory, elements: Numbers, where: Flags, *values: Values
    ) -> tuple[Flags, Numbers, Numbers]:
        """Where memory is accessed, and which elements by which lanes there, one after the other.

        What all lanes of a group read from memory that nobody writes is read once.
        """
        shape = self.shape
        if memory.writers is None and memory.buffer.space == "global":
            shape = np.broadcast_shapes(where.shape, elements.shape, *(v.shape for v in values))
        here = np.broadcast_to(where, shape)
        by = self.lanes[here] if shape == self.shape else np.zeros(int(here.sum()), np.int64)
        return here, np.broadcast_to(elements, shape)[here], by

    def load(self, load: Load, found: dict[int, Values]) -> Values:
        where = self.active if load.where is None else self.active & found[id(load.where)]
        elements = self.elements(load.buffer, load.index, found, where)
        default = np.zeros((1, 1), load.dtype.numpy)
        if load.default is not None:
            default = found[id(load.default)]
        memory = self.memories[load.buffer.name]
        here, numbers, lanes = self.chosen(memory, elements, where, default)
        result = np.broadcast_to(default, here.shape).copy()
        result[here] = convert(memory.load(numbers, lanes), load.dtype)
        return result

    # -- statements -------------------------------------------------------------------------------

    def store(self, store: Store, found: dict[int, Values]) -> None:
        where = self.active if store.where is None else self.active & found[id(store.where)]
        elements = self.elements(store.buffer, store.index, found, where)
        memory = self.memories[store.buffer.name]
        here, numbers, lanes = self.chosen(memory, elements, where)
        values = np.broadcast_to(found[id(store.value)], here.shape)[here]
        memory.store(numbers, convert(values, store.buffer.dtype), lanes)

    def condition(self, condition: Values) -> Flags:
        if condition.shape[1] > 1 and (condition != condition[:, :1]).any():
            raise Fault(
                "a condition differs between the lanes of a group",
                "predicate loads and stores instead",
            )
        return condition[:, :1]

    def fold(self, fold: Fold, found: dict[int, Values]) -> None:
        segments = (self.shape[0], self.shape[1] // fold.width, fold.width)
        totals = tuple(
            np.broadcast_to(found[id(v)], self.shape).reshape(segments) for v in fold.values
        )
        width = fold.width
        while width > 1:
            width //= 2
            own = tuple(t[..., :width] for t in totals)
            other = tuple(t[..., width : 2 * width] for t in totals)
            totals = combine(fold.combine, own, other)
        for var, total in zip(fold.results, totals, strict=True):
            self.values[var.name] = np.broadcast_to(total, segments).reshape(self.shape)

    def allocate(self, buffer: Buffer) -> None:
        known = self.memories.get(buffer.name)
        if known is not None:  # the next turn of a loop: what raced, races still
            known.forget(self.owned(buffer))
            return
        groups, lanes = self.shape
        size = buffer.size * groups * (lanes if buffer.space == "lane" else 1)
        array = np.zeros(size, buffer.dtype.numpy)
        self.memories[buffer.name] = Memory(buffer, array, np.zeros(size, np.bool_))

    def owned(self, buffer: Buffer) -> Any:
        """The elements of the groups whose conditions hold, as a mask."""
        active = np.broadcast_to(self.active, (self.shape[0], 1))
        memory = self.memories[buffer.name]
        return np.repeat(active, memory.array.size // self.shape[0])

    def barrier(self) -> None:
        for memory in self.memories.values():
            if memory.buffer.space == "group":
                memory.barrier(self.owned(memory.buffer))
