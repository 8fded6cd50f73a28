"""Generated faults: generators and dialects that do what C compilers and GPUs tempt them to do.

Each is a change of the kernels that core generates, which are then interpreted, so that no driver
and no compiler is needed; a dialect that spelled the same instructions so would compute the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from realta.backend import DeviceInfo, KernelSignature
from realta.backend.interp import InterpSession
from realta.codegen import (
    CPU_PROFILE,
    GPU_PROFILE,
    Apply,
    Assign,
    Barrier,
    Const,
    Declare,
    DeviceProfile,
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
from realta.codegen.indices import Index, Position
from realta.codegen.walking import expressions, roots, statements
from realta.types import bool_, float32, float64, int64
from realta_conformance.case import Case
from realta_conformance.device import open_backend
from realta_conformance.outcome import Outcome
from realta_conformance.running import level_cases, run_cases
from realta_conformance.selection import select

from realta_saboteurs.fault import Fault

__all__ = ["GENERATED_FAULTS", "GeneratedFault", "failing"]

Definitions = Mapping[str, Expr]
"""What names of a kernel stand for."""
_LOG2_E: Final = 1.4426950408889634
_WRAP: Final = 1 << 8
"""The suite sends interpreters small tensors, so indices wrap as those of 8 bits do, not of 32."""


@dataclass(eq=False)
class GeneratedFault(Fault):
    """A fault of generated kernels.

    Args:
        ops: the ops of the suite whose cases are run.
        profile: the profile that kernels are made for.
        value: what becomes of an expression.
        index: what becomes of the index of a load or a store.
        drops: a kind of statement that is left out.
    """

    ops: tuple[str, ...] = ()
    profile: DeviceProfile = CPU_PROFILE
    value: Callable[[Expr, Definitions], Expr] = lambda expr, names: expr
    index: Callable[[Index], Index] = lambda index: index
    drops: tuple[type[Statement], ...] = ()


def failing(fault: GeneratedFault, *, on: bool, sample: bool = False) -> frozenset[str]:
    """The checks that fail of the cases of a fault's ops, with the fault on or off."""
    device = open_backend(_Backend(fault, on))
    try:
        cases = [
            case for case in level_cases(fault.level, device, sample=sample) if case.op in fault.ops
        ]
        outcomes = _run(device, cases)
    finally:
        device.close()
    if not any(outcome.kind == "passed" for outcome in outcomes):
        return frozenset({f"{fault.level}: no case passed or none ran"})
    return frozenset(outcome.key for outcome in outcomes if outcome.kind == "failed")


def _run(device: Any, cases: Sequence[Case]) -> list[Outcome]:
    return run_cases(device, select(device, cases).taken)


class _Backend:
    """The kernel interpreter under a fault."""

    spec = "1.0"

    def __init__(self, fault: GeneratedFault, on: bool) -> None:
        self.fault = fault
        self.on = on
        self.name = f"saboteur-{fault.name}"

    def probe(self) -> Sequence[DeviceInfo]:
        """Its one device."""
        return (DeviceInfo(0, "saboteur of generated kernels", kind="simulator"),)

    def open(self, device: DeviceInfo) -> _Session:
        """Opens it."""
        return _Session(self.fault, self.on)


class _Session(InterpSession):
    def __init__(self, fault: GeneratedFault, on: bool) -> None:
        super().__init__(fault.profile)
        self.fault = fault
        self.on = on

    def module(
        self, kernels: Sequence[Kernel], signatures: Sequence[KernelSignature]
    ) -> dict[str, Kernel]:
        """The kernels, changed."""
        return {k.name: changed(k, self.fault) if self.on else k for k in kernels}


# -- changing kernels -----------------------------------------------------------------------------


def changed(kernel: Kernel, fault: GeneratedFault) -> Kernel:
    """A kernel under a fault."""
    names = {s.var.name: s.value for s in statements(kernel.body) if isinstance(s, Let)}
    body = _body(kernel.body, fault, names)
    return Kernel(kernel.name, kernel.buffers, kernel.groups, kernel.lanes, body, kernel.notes)


def _body(
    body: Sequence[Statement], fault: GeneratedFault, names: Definitions
) -> tuple[Statement, ...]:
    kept = [statement for statement in body if not isinstance(statement, fault.drops)]
    return tuple([_statement(statement, fault, names) for statement in kept])


def _statement(statement: Statement, fault: GeneratedFault, names: Definitions) -> Statement:
    found: dict[int, Expr] = {}
    for expr in expressions(roots(statement)):
        found[id(expr)] = fault.value(_rebuilt(expr, fault, found), names)
    match statement:
        case Let():
            return Let(statement.var, found[id(statement.value)], statement.note)
        case Declare() | Assign():
            return type(statement)(statement.var, found[id(statement.value)])
        case Store():
            where = None if statement.where is None else found[id(statement.where)]
            value = found[id(statement.value)]
            return Store(statement.buffer, fault.index(statement.index), value, where)
        case Loop():
            return Loop(statement.axis, _body(statement.body, fault, names), statement.unroll)
        case If():
            condition = found[id(statement.condition)]
            return If(condition, _body(statement.body, fault, names))
        case Fold():
            values = tuple([found[id(value)] for value in statement.values])
            return Fold(statement.results, values, statement.combine, statement.width)
    return statement


def _rebuilt(expr: Expr, fault: GeneratedFault, found: Mapping[int, Expr]) -> Expr:
    if isinstance(expr, Apply):
        operands = tuple([found[id(operand)] for operand in expr.operands])
        return Apply(expr.op, operands, expr.dtype, expr.target)
    if isinstance(expr, Load):
        where = None if expr.where is None else found[id(expr.where)]
        default = None if expr.default is None else found[id(expr.default)]
        return Load(expr.buffer, fault.index(expr.index), where, default)
    return expr


# -- the faults -----------------------------------------------------------------------------------


def _contracted(expr: Expr, names: Definitions) -> Expr:
    """A product that is added is not rounded before; computed wide enough for it to be exact."""
    if not isinstance(expr, Apply) or expr.op != "add" or expr.dtype is not float32:
        return expr
    for number, operand in enumerate(expr.operands):
        meant = names.get(operand.name) if isinstance(operand, Var) else operand
        if isinstance(meant, Apply) and meant.op == "mul":
            x, y = (Apply("cast", (e,), float64) for e in meant.operands)
            other = Apply("cast", (expr.operands[1 - number],), float64)
            total = Apply("add", (Apply("mul", (x, y), float64), other), float64)
            return Apply("cast", (total,), float32)
    return expr


def _native_exp(expr: Expr, names: Definitions) -> Expr:
    """A power of two of a rounded product, which is what fast exponentials compute."""
    if not isinstance(expr, Apply) or expr.op != "exp" or expr.dtype is not float32:
        return expr
    scaled = Apply("mul", (expr.operands[0], Const(_LOG2_E, float32)), float32)
    return Apply("pow", (Const(2.0, float32), scaled), float32)


def _fmax(expr: Expr, names: Definitions) -> Expr:
    """The other operand where one is not a number, as C's fmax has it."""
    if not isinstance(expr, Apply) or expr.op != "maximum" or not expr.dtype.is_float:
        return expr
    x, y = expr.operands
    no_x, no_y = (Apply("is_nan", (e,), bool_) for e in (x, y))
    inner = Apply("select", (no_y, x, expr), expr.dtype)
    return Apply("select", (no_x, y, inner), expr.dtype)


def _wrapped(index: Index) -> Index:
    """An index that was computed in too few bits."""
    if index.high < _WRAP:
        return index
    exact = FromIndex(index, int64)
    kept = Apply("bitwise_and", (exact, Const(_WRAP - 1, int64)), int64)
    return Position(kept, _WRAP)


GENERATED_FAULTS: Final[tuple[GeneratedFault, ...]] = (
    GeneratedFault(
        "generated-contracts",
        "a product that is added is not rounded first, as compilers do unless told not to",
        frozenset({"fusion/multiply-add/fused", "fusion/multiply-add/values"}),
        ops=("multiply-add",),
        value=_contracted,
    ),
    GeneratedFault(
        "generated-native-exp",
        "exp is the fast one of the hardware",
        frozenset({"core/exp/values"}),
        ops=("exp",),
        value=_native_exp,
    ),
    GeneratedFault(
        "generated-fmax",
        "maximum is C's fmax, which drops a NaN",
        frozenset({"core/maximum/values", "core/max/values"}),
        ops=("maximum", "max", "minimum"),
        value=_fmax,
    ),
    GeneratedFault(
        "generated-no-barrier",
        "work-items of a GPU read group memory before others have written it",
        frozenset({"core/permute/run", "core/sum/run"}),
        ops=("permute", "sum"),
        profile=GPU_PROFILE,
        drops=(Barrier,),
    ),
    GeneratedFault(
        "generated-narrow-indices",
        "indices are computed in fewer bits than there are elements",
        frozenset({"core/permute/run"}),
        ops=("permute",),
        index=_wrapped,
    ),
)
