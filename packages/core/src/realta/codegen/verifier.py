"""The verifier: whether a kernel keeps the rules of the kernel IR, and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

import numpy as np

from realta.codegen.index_width import extreme_values
from realta.codegen.indices import Axis, Index, parts
from realta.codegen.instructions import fold_types, result_type
from realta.codegen.ir import (
    GROUP,
    LANE,
    Allocate,
    Apply,
    Assign,
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
    compute_type,
)
from realta.codegen.printer import expr_text, index_text, underlined
from realta.codegen.profile import DeviceProfile
from realta.codegen.ranges import comparisons, range_where
from realta.codegen.uniformity import varies, varying_names
from realta.codegen.walking import expressions, indices, roots, statements
from realta.errors import RealtaError, VerificationError
from realta.types import DType, bool_

__all__ = ["verify_kernel"]

_INT64: Final = 1 << 63


def verify_kernel(kernel: Kernel, profile: DeviceProfile | None = None) -> None:
    """Checks a kernel by the rules of the kernel IR.

    One definition of each name, before its use and in its scope; types of operands and results;
    conditions that are the same in all lanes; folds of segments that fit; memory that is declared
    and read and written as its role allows; indices inside their buffers. An index is judged by
    its interval, narrowed by the comparisons that hold where it is used; under a condition of
    another kind it is trusted (the interpreter checks every access).

    Args:
        kernel: what to check.
        profile: if given, group and lane memory must fit its limits.

    Raises:
        VerificationError: a rule is broken; the printed kernel has the statement underlined.
    """
    _Verifier(kernel).run()
    if profile is not None:
        _check_memory(kernel, profile)


def _fail(kernel: Kernel, at: Buffer | Statement | None, what: str, fix: str) -> NoReturn:
    where = f"the kernel {kernel.name!r}\n{underlined(kernel, at)}"
    raise VerificationError(what, where=where, fix=fix)


class _Verifier:
    """Walks a kernel once; `known` is what is in scope, by name."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.at: Buffer | Statement | None = None
        self.known: dict[str, Var | Buffer | Axis] = {}
        self.defined: set[str] = {GROUP, LANE}
        self.changing: set[str] = set()
        self.values: dict[str, Expr] = {}
        self.holding: list[Expr] = []
        self.varying = varying_names(kernel)

    def fail(self, what: str, fix: str) -> NoReturn:
        _fail(self.kernel, self.at, what, fix)

    def run(self) -> None:
        kernel = self.kernel
        if kernel.groups < 1 or kernel.lanes < 1:
            self.fail("there are no groups or no lanes", "launch no kernel for nothing")
        if not kernel.name.isidentifier():
            self.fail(f"{kernel.name!r} is not an identifier", "name it by letters and digits")
        self.known[GROUP], self.known[LANE] = kernel.group, kernel.lane
        for buffer in kernel.buffers:
            self.at = buffer
            if buffer.space != "global":
                self.fail("an argument is not global memory", "allocate it in the body")
            if buffer.size < 0:
                self.fail("a size is negative", "give the number of elements")
            self.define(buffer.name, buffer)
        self.body(kernel.body)

    def define(self, name: str, what: Var | Buffer | Axis) -> None:
        if name in self.defined:
            self.fail(f"{name!r} is defined a second time", "give every definition its own name")
        if not name.isidentifier():
            self.fail(f"{name!r} is not an identifier", "name it by letters and digits")
        self.defined.add(name)
        self.known[name] = what

    def body(self, body: Iterable[Statement]) -> None:
        outer = dict(self.known)
        for statement in body:
            self.at = statement
            for expr in expressions(roots(statement)):
                self.expr(expr)
            for index in indices(statement):
                self.index(index)
            self.accesses(statement)
            self.statement(statement)
        self.known = outer

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let() | Declare():
                self.same_type(statement.var.dtype, statement.value.dtype, "the name", "its value")
                self.define(statement.var.name, statement.var)
                if isinstance(statement, Let):
                    self.values[statement.var.name] = statement.value
                else:
                    self.changing.add(statement.var.name)
            case Assign():
                self.assign(statement)
            case Store():
                self.store(statement)
            case Loop():
                if statement.axis.extent < 0:
                    self.fail("a loop has a negative number of turns", "count from zero up")
                self.nested(statement, [(statement.axis.name, statement.axis)])
            case If():
                self.condition(statement.condition)
                self.holding.append(statement.condition)
                self.nested(statement, [])
                self.holding.pop()
            case Fold():
                self.fold(statement)
            case Allocate():
                self.allocate(statement.buffer)

    def nested(self, statement: Loop | If, names: list[tuple[str, Axis]]) -> None:
        outer = dict(self.known)
        for name, axis in names:
            self.define(name, axis)
        self.body(statement.body)
        self.known = outer

    def same_type(self, one: DType, other: DType, first: str, second: str) -> None:
        if one is not other:
            self.fail(f"{first} has the type {one}, {second} {other}", "cast the value")

    def assign(self, statement: Assign) -> None:
        name = statement.var.name
        if self.known.get(name) != statement.var or name not in self.changing:
            self.fail(f"{name!r} is no declared variable here", "start it with Declare")
        self.same_type(statement.var.dtype, statement.value.dtype, "the variable", "the value")

    def store(self, statement: Store) -> None:
        buffer = statement.buffer
        self.buffer(buffer)
        if buffer.space == "global" and buffer.role == "input":
            self.fail(f"{buffer.name!r} is an input and is written", "make it an output")
        register = compute_type(buffer.dtype)
        self.same_type(register, statement.value.dtype, f"an element of {buffer.name}", "the value")
        self.predicate(statement.where)

    def condition(self, condition: Expr) -> None:
        self.predicate(condition)
        if varies(condition, self.varying):
            self.fail(
                "the condition may differ between the lanes of a group",
                "predicate loads and stores instead, or fold it across all lanes",
            )

    def predicate(self, where: Expr | None) -> None:
        if where is not None and where.dtype is not bool_:
            self.fail(f"a condition is of the type {where.dtype}", "compare it with something")

    def fold(self, statement: Fold) -> None:
        width, lanes = statement.width, self.kernel.lanes
        if width < 1 or width & (width - 1) or lanes % width:
            self.fail(
                f"segments of {width} lanes do not make up {lanes} lanes",
                "fold a power of two that divides the number of lanes",
            )
        types = tuple(value.dtype for value in statement.values)
        results = tuple(var.dtype for var in statement.results)
        try:
            right = fold_types(statement.combine, types)
        except RealtaError as error:
            self.fail(error.what, error.fix or "combine what the combination is defined for")
        if results != right:
            self.fail(
                f"the fold gives {_listed(right)}, not {_listed(results)}", "name each result"
            )
        for var in statement.results:
            self.define(var.name, var)

    def allocate(self, buffer: Buffer) -> None:
        if buffer.space == "global":
            self.fail("global memory is not allocated by a kernel", "make it an argument")
        if buffer.size < 1:
            self.fail(f"{buffer.name!r} has no elements", "allocate at least one")
        self.define(buffer.name, buffer)

    def buffer(self, buffer: Buffer) -> None:
        if self.known.get(buffer.name) != buffer:
            self.fail(
                f"the memory {buffer.name!r} is not declared here",
                "list it among the buffers, or allocate it in this body or around it",
            )

    def expr(self, expr: Expr) -> None:
        match expr:
            case Var():
                if self.known.get(expr.name) != expr:
                    self.fail(
                        f"{expr.name!r} of the type {expr.dtype} is not defined here",
                        "define it before, in this body or around it",
                    )
            case Const():
                _CONSTANTS[expr.dtype.kind](self, expr)
            case FromIndex():
                self.from_index(expr)
            case Load():
                self.load(expr)
            case Apply():
                self.apply(expr)
        if expr.dtype.is_half:
            self.fail(f"{expr.dtype} is no compute type", "compute in float32 and round_to it")

    def from_index(self, expr: FromIndex) -> None:
        kind = expr.dtype
        info = np.iinfo(kind.numpy) if kind.is_integer else None
        if info is None or expr.index.low < info.min or expr.index.high > info.max:
            self.fail(f"{index_text(expr.index)} may not fit {kind}", "make an int64 of it")

    def load(self, expr: Load) -> None:
        self.buffer(expr.buffer)
        if expr.buffer.space == "global" and expr.buffer.role == "output":
            self.fail(f"{expr.buffer.name!r} is an output and is read", "make it a temporary")
        self.predicate(expr.where)
        if (expr.where is None) != (expr.default is None):
            self.fail(
                "a load has a condition without a default, or a default without a condition",
                "give both or none",
            )
        if expr.default is not None:
            self.same_type(expr.dtype, expr.default.dtype, "the element", "the default")

    def apply(self, expr: Apply) -> None:
        try:
            right = result_type(expr)
        except RealtaError as error:
            self.fail(
                f"{expr_text(expr)} does not hold: {error.what}",
                error.fix or "give it operands that it is defined for",
            )
        self.same_type(expr.dtype, right, f"the result of {expr.op}", "by its operands it is")

    def index(self, index: Index) -> None:
        for part in parts(index):
            if isinstance(part, Axis) and self.known.get(part.name) != part:
                self.fail(
                    f"there is no loop over {part.name!r} of extent {part.extent} here",
                    "use the axes of enclosing loops, of the groups and of the lanes",
                )
        if any(not -_INT64 < value < _INT64 for value in extreme_values((index,))):
            self.fail(f"{index_text(index)} does not fit 64 bits", "cut the work into kernels")

    def accesses(self, statement: Statement) -> None:
        for expr in expressions(roots(statement)):
            if isinstance(expr, Load):
                self.access(expr.buffer, expr.index, expr.where)
        if isinstance(statement, Store):
            self.access(statement.buffer, statement.index, statement.where)

    def access(self, buffer: Buffer, index: Index, where: Expr | None) -> None:
        predicates = [*self.holding, *([] if where is None else [where])]
        found, complete = comparisons(predicates, self.values)
        if any(compare.index.low >= compare.bound for compare in found):
            return  # never done
        low, high = range_where(index, found)
        # What other conditions or comparisons of other indices mean is not known.
        understood = complete and all(_same(index, compare) for compare in found)
        if (low < 0 or high >= buffer.size) and understood:
            self.fail(
                f"{buffer.name}[{index_text(index)}] reaches from {low} to {high}, "
                f"and {buffer.name!r} has {buffer.size} elements",
                "predicate the access with a comparison of its index",
            )


def _same(index: Index, compare: Compare) -> bool:
    """Whether a comparison bounds an index itself, moved by a number, from above or below."""
    apart = (index - compare.index, index + compare.index)
    return any(each.low == each.high for each in apart)


def _is_bool(verifier: _Verifier, const: Const) -> None:
    if type(const.value) is not bool:
        verifier.fail(f"{const.value!r} is no bool", "write True or False")


def _is_integer(verifier: _Verifier, const: Const) -> None:
    info = np.iinfo(const.dtype.numpy)
    value: object = const.value
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not info.min <= const.value <= info.max:
        verifier.fail(f"{const.value!r} is no {const.dtype}", "write an int that it can hold")


def _is_float(verifier: _Verifier, const: Const) -> None:
    if type(const.value) not in (int, float):
        verifier.fail(f"{const.value!r} is no {const.dtype}", "write a Python number")


_CONSTANTS: Final[dict[str, Callable[[_Verifier, Const], Any]]] = {
    "bool": _is_bool, "int": _is_integer, "uint": _is_integer, "float": _is_float,
}  # fmt: skip


def _listed(types: tuple[DType, ...]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def _check_memory(kernel: Kernel, profile: DeviceProfile) -> None:
    limits = {"group": profile.scratch_bytes, "lane": profile.lane_bytes}
    taken = dict.fromkeys(limits, 0)
    for statement in statements(kernel.body):
        if isinstance(statement, Allocate):
            space = statement.buffer.space
            taken[space] += statement.buffer.size * statement.buffer.dtype.itemsize
            if taken[space] > limits[space]:
                _fail(
                    kernel, statement,
                    f"the kernel takes {taken[space]} bytes of {space} memory, and the profile "
                    f"{profile.name!r} has {limits[space]}",
                    "stage less, or in several steps",
                )  # fmt: skip
