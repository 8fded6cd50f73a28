"""Expressions: values of the kernel IR written as LLVM IR, helpers of core included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import NamedTuple

from realta.backend import UnsupportedOp
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
from realta.codegen.preamble_trace import Helper, Trace, V
from realta.codegen.walking import expressions, statements
from realta.types import bool_

from realta_llvm.code import Code, Coder
from realta_llvm.instructions import apply
from realta_llvm.text import Value

__all__ = ["Expressions"]


class _Traced(NamedTuple):
    """What a helper of core does."""

    body: tuple[Statement, ...]
    result: Expr


@cache
def _traced(helper: Helper) -> _Traced:
    trace = Trace()
    given = [V(Var(name, dtype)) for name, dtype in helper.parameters]
    result = helper.define(trace, *given)
    return _Traced(trace.body, result.expr)


class Expressions:
    """Writes values and the statements that name, change and repeat them.

    Args:
        coder: writes instructions.

    Attributes:
        names: what names stand for.
        cost: instructions written, those of loops as often as they run.
    """

    def __init__(self, coder: Coder) -> None:
        self.coder = coder
        self.body = coder.body
        self.names: dict[str, Code] = {}
        self.cost = 0
        self._turns = 1
        self._written = 0

    # -- values -----------------------------------------------------------------------------------

    def code(self, root: Expr) -> Code:
        """An expression."""
        if type(root) is Var:
            return self.names[root.name]
        done: dict[int, Code] = {}
        for expr in expressions((root,)):
            if type(expr) is Apply:
                given = [done[id(o)] for o in expr.operands]
                found = apply(self.coder, self.helper, expr, given)
            elif type(expr) is Const:
                found = self.coder.constant(expr.value, expr.dtype)
            elif type(expr) is Var:
                found = self.names[expr.name]
            else:
                found = self.leaf(expr, done)
            done[id(expr)] = found
        return done[id(root)]

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        """An element of memory or an index."""
        raise UnsupportedOp(f"{expr!r} has no place here", fix="write it as part of a kernel")

    def helper(self, helper: Helper, *given: Code) -> Code:
        """A helper of core, written where it is used."""
        traced = _traced(helper)
        outer = self.names
        parameters = [name for name, _ in helper.parameters]
        self.names = dict(zip(parameters, given, strict=True))
        if any(code.wide for code in given):
            # What changes in it may differ between lanes, whatever it starts from.
            self.names = {name: self.coder.widen(code) for name, code in self.names.items()}
        self.statements(traced.body, wide=any(code.wide for code in given))
        found = self.code(traced.result)
        self.names = outer
        return found

    # -- statements -------------------------------------------------------------------------------

    def statements(self, body: tuple[Statement, ...], *, wide: bool = False) -> None:
        """Statements in order; variables are vectors if `wide`."""
        for statement in body:
            match statement:
                case Let():
                    self.names[statement.var.name] = self.code(statement.value)
                case Declare() | Assign():
                    self.assign(statement, wide=wide)
                case Loop():
                    self.loop(statement, wide=wide)
                case If():
                    condition = self.coder.number(self.code(statement.condition))
                    inside = partial(self.statements, statement.body, wide=wide)
                    self.branch(condition, inside, statement.body)
                case _:
                    self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """A statement that touches memory or meets other lanes."""
        raise UnsupportedOp(f"{statement!r} has no place here", fix="write it in a kernel")

    def assign(self, statement: Declare | Assign, *, wide: bool) -> None:
        """Starts or changes a variable."""
        value = self.code(statement.value)
        if value.dtype is bool_:
            value = self.coder.resized(value, 32)
        name = statement.var.name
        self.names[name] = self.coder.widen(value) if wide else value

    def loop(self, loop: Loop, *, wide: bool) -> None:
        """A loop."""
        extent = loop.axis.extent
        self.repeat(
            Value("0", "i64"), Value(str(extent), "i64"), extent,
            lambda _turn: self.statements(loop.body, wide=wide), loop.body,
        )  # fmt: skip

    def repeat(
        self, first: Value, last: Value, extent: int, write: Callable[[Value], None],
        body: tuple[Statement, ...],
    ) -> None:  # fmt: skip
        """A block for each number from first to below last, of which there is at least one.

        Variables that change in it become phis.

        Args:
            first: the first number.
            last: one more than the last.
            extent: how many there are, for the cost.
            write: writes the block of a number.
            body: the statements that it writes.
        """
        text = self.body
        before, inside, after = text.label, text.block(), text.block()
        changed = self._changed(body)
        text.add(f"br label %{inside}")
        text.start(inside)
        turn = Value(text.name(), "i64")
        heads = text.hole()
        starts = {name: self.names[name] for name in changed}
        for name, start in starts.items():
            parts = tuple([Value(text.name(), part.type) for part in start.parts])
            self.names[name] = Code(parts, start.dtype, start.wide)
        phis = {name: self.names[name] for name in changed}
        self.count()
        self._turns *= extent
        with text.scope():
            write(turn)
        latch = text.label
        following = text.value(f"add nuw nsw i64 {turn.text}, 1", "i64")
        more = text.value(f"icmp ult i64 {following.text}, {last.text}", "i1")
        text.add(f"br i1 {more.text}, label %{inside}, label %{after}")
        heads.append(
            f"  {turn.text} = phi i64 [ {first.text}, %{before} ], [ {following.text}, %{latch} ]"
        )
        for name in changed:
            triples = zip(phis[name].parts, starts[name].parts, self.names[name].parts, strict=True)
            for phi, start_part, end in triples:
                heads.append(
                    f"  {phi.text} = phi {phi.type} [ {start_part.text}, %{before} ], "
                    f"[ {end.text}, %{latch} ]"
                )
        text.start(after)
        self.count()
        self._turns //= extent

    def branch(
        self, condition: Code, write: Callable[[], None], body: tuple[Statement, ...]
    ) -> None:
        """What `write` writes, where a number holds."""
        text = self.body
        flag = self.coder.write.flag(condition.number)
        before, inside, after = text.label, text.block(), text.block()
        changed = self._changed(body)
        starts = {name: self.names[name] for name in changed}
        text.add(f"br i1 {flag.text}, label %{inside}, label %{after}")
        text.start(inside)
        with text.scope():
            write()
        last = text.label
        text.add(f"br label %{after}")
        text.start(after)
        for name in changed:
            pairs = zip(self.names[name].parts, starts[name].parts, strict=True)
            parts = tuple(
                [
                    text.value(
                        f"phi {end.type} [ {end.text}, %{last} ], [ {start.text}, %{before} ]",
                        end.type,
                    )
                    for end, start in pairs
                ]
            )
            self.names[name] = Code(parts, starts[name].dtype, starts[name].wide)

    def _changed(self, body: tuple[Statement, ...]) -> list[str]:
        """The variables declared outside that some statements change."""
        names = [s.var.name for s in statements(body) if isinstance(s, Assign)]
        return [name for name in dict.fromkeys(names) if name in self.names]

    def count(self) -> None:
        """Counts what was written since the last time."""
        now = self.body.written
        self.cost += (now - self._written) * self._turns
        self._written = now
