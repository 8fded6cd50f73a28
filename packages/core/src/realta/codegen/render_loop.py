"""The loop realization: lanes are the turns of innermost loops, which compilers make vectors of."""

from __future__ import annotations

from collections.abc import Sequence

from realta.codegen.dialect import CDialect
from realta.codegen.ir import (
    GROUP,
    LANE,
    Assign,
    Buffer,
    Declare,
    Fold,
    If,
    Kernel,
    Let,
    Load,
    Loop,
    Statement,
    Store,
    Var,
)
from realta.codegen.preamble import Preamble
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.profile import DeviceProfile
from realta.codegen.render_expressions import Code, bare
from realta.codegen.render_items import ScalarText
from realta.codegen.render_runs import Run, Runs

__all__ = ["LoopText"]


class LoopText(ScalarText):
    """Renders a kernel in plain C."""

    def __init__(
        self, kernel: Kernel, dialect: CDialect, profile: DeviceProfile, preamble: Preamble,
        notes: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel, dialect, profile, preamble, 1, (GROUP,), notes)
        self.runs = Runs(kernel, self.varying)

    # -- statements -------------------------------------------------------------------------------

    def body(self, body: Sequence[Statement]) -> None:
        self._parts(self.runs.bodies[id(self.kernel)])

    def _parts(self, parts: Sequence[Run | Statement]) -> None:
        for part in parts:
            match part:
                case Run():
                    self._run(part)
                case Loop():
                    head = self.loop_head(part)
                    with self.scopes.nested(head, axes=(part.axis.name,)):
                        self._parts(self.runs.bodies[id(part)])
                case If():
                    condition = bare(self.code(part.condition).text)
                    with self.scopes.nested(f"if ({condition}) {{"):
                        self._parts(self.runs.bodies[id(part)])
                case _:
                    self.statement(part)

    def _run(self, run: Run) -> None:
        for statement in run.statements:
            if isinstance(statement, (Let, Declare)) and self._crosses(statement.var):
                self._lane_array(statement.var)
        with self.scopes.nested(self._lane_loop(), axes=(LANE,)):
            for statement in run.statements:
                self.statement(statement)

    def _lane_loop(self, count: str = "") -> str:
        type = self.dialect.types[self.index]
        return f"for ({type} lane = 0; lane < {count or self.kernel.lanes}; ++lane) {{"

    def _crosses(self, var: Var) -> bool:
        return var.name in self.runs.crossing

    def _lane_array(self, var: Var) -> None:
        type, name = self.dialect.register(var.dtype), self.scopes.name(var.name)
        self.scopes.add(f"{type} {name}[{self.kernel.lanes}];")

    def define(self, const: str, var: Var, value: Code) -> None:
        if self._crosses(var):
            self.scopes.add(f"{self.reads(var)} = {bare(value.text)};")
        else:
            super().define(const, var, value)

    def assign(self, statement: Assign) -> None:
        value = self.code(statement.value)
        self.scopes.add(f"{self.reads(statement.var)} = {bare(value.text)};")

    def reads(self, var: Var) -> str:
        name = self.scopes.name(var.name)
        return f"{name}[lane]" if self._crosses(var) else name

    # -- memory -----------------------------------------------------------------------------------

    def allocate(self, buffer: Buffer) -> None:
        if buffer.space == "group" or self.kernel.lanes == 1:
            super().allocate(buffer)
            return
        line = self.dialect.arrays["lane"].format(
            type=self.dialect.types[bits_type(buffer.dtype)],
            name=self.scopes.name(buffer.name),
            size=f"{buffer.size}][{self.kernel.lanes}",
        )
        self.scopes.add(line)

    def element(self, access: Load | Store) -> str:
        lanes = access.buffer.space == "lane" and self.kernel.lanes > 1
        return super().element(access) + ("[lane]" if lanes else "")

    # -- folds ------------------------------------------------------------------------------------

    def fold(self, statement: Fold) -> None:
        arrays = []
        for var in statement.results:
            arrays.append(self.scopes.fresh(f"{var.name}_lanes"))
            type = self.dialect.register(var.dtype)
            self.scopes.add(f"{type} {arrays[-1]}[{self.kernel.lanes}];")
        with self.scopes.nested(self._lane_loop(), axes=(LANE,)):
            for array, value in zip(arrays, statement.values, strict=True):
                self.scopes.add(f"{array}[lane] = {bare(self.code(value).text)};")
        if statement.width > 1:
            self._halve(statement, arrays)
        if statement.width == self.kernel.lanes:
            for var, array in zip(statement.results, arrays, strict=True):
                super().define("const ", var, Code(f"{array}[0]", var.dtype))
            return
        for var in statement.results:
            self._lane_array(var)
        with self.scopes.nested(self._lane_loop(), axes=(LANE,)):
            for var, array in zip(statement.results, arrays, strict=True):
                first = f"lane / {statement.width} * {statement.width}"
                self.scopes.add(f"{self.scopes.name(var.name)}[lane] = {array}[{first}];")

    def _halve(self, statement: Fold, arrays: Sequence[str]) -> None:
        type, width = self.dialect.types[self.index], statement.width
        half = self.scopes.fresh("half_width")
        whole = width == self.kernel.lanes
        halving = f"for ({type} {half} = {width // 2}; {half} > 0; {half} /= 2) {{"
        lanes = self._lane_loop(half if whole else "")
        with self.scopes.nested(halving), self.scopes.nested(lanes, axes=(LANE,)):
            if whole:
                self._step(statement, arrays, half)
                return
            with self.scopes.nested(f"if (lane % {width} < {half}) {{"):
                self._step(statement, arrays, half)

    def _step(self, statement: Fold, arrays: Sequence[str], half: str) -> None:
        names = []
        for var, array in zip(statement.results, arrays, strict=True):
            type = self.dialect.register(var.dtype)
            x, y = self.scopes.fresh(f"{var.name}_x"), self.scopes.fresh(f"{var.name}_y")
            self.scopes.add(f"const {type} {x} = {array}[lane], {y} = {array}[lane + {half}];")
            names.append((x, y))
        for array, text in zip(arrays, self.combined(statement, names), strict=True):
            self.scopes.add(f"{array}[lane] = {text};")
