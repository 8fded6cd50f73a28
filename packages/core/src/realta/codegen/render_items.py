"""The items realization: lanes are the work-items of a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import cast

from realta.codegen.dialect import CDialect
from realta.codegen.ir import (
    GROUP,
    LANE,
    Compare,
    Expr,
    Fold,
    FromIndex,
    Kernel,
    Let,
    Load,
    Statement,
    Store,
    Var,
)
from realta.codegen.preamble import Preamble
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.profile import DeviceProfile
from realta.codegen.render_expressions import Code, NamedExpressions, bare
from realta.codegen.render_kernel import KernelText, combined, conjunction
from realta.types import DType, bool_, int32

__all__ = ["ItemsText", "ScalarText"]


def _moved(statement: Statement) -> type[Statement] | None:
    """Whether a statement only loads or stores an element that is converted on the way."""
    if isinstance(statement, Let) and isinstance(statement.value, Load):
        load = statement.value
        return Let if load.where is None and load.buffer.dtype.is_half else None
    if isinstance(statement, Store) and statement.where is None:
        return Store if statement.buffer.dtype.is_half else None
    return None


class ScalarText(KernelText):
    """Renders a kernel whose every value is a number."""

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        match expr:
            case Var():
                return Code(self.reads(expr), expr.dtype)
            case FromIndex():
                return self.convert(Code(self.indices.text(expr.index), self.index), expr.dtype)
            case Compare():
                text = f"({self.indices.text(expr.index)} < {self.indices.number(expr.bound)})"
                return Code(text, bool_)
            case Load():
                return self.load(expr, done)
        return super().leaf(expr, done)

    def reads(self, var: Var) -> str:
        """How a name is read."""
        return self.scopes.name(var.name)

    def element(self, access: Load | Store) -> str:
        """An element of a buffer."""
        return f"{self.scopes.name(access.buffer.name)}[{bare(self.indices.text(access.index))}]"

    def load(self, expr: Load, done: Mapping[int, Code]) -> Code:
        """An element of a buffer; only one of two operands of ``?:`` is evaluated."""
        found = self.loaded(
            Code(self.element(expr), bits_type(expr.buffer.dtype)), expr.buffer.dtype
        )
        if expr.where is None or expr.default is None:
            return found
        return self.select(done[id(expr.where)], found, done[id(expr.default)])

    def store(self, statement: Store) -> None:
        where = [self.code(part) for part in conjunction(statement.where)]
        value = self.stored(self.code(statement.value), statement.buffer.dtype)
        line = f"{self.element(statement)} = {bare(value.text)};"
        if not where:
            self.scopes.add(line)
            return
        with self.scopes.nested(f"if ({self.guarded(where)}) {{"):
            self.scopes.add(line)

    def combined(self, statement: Fold, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """What a step of a fold makes of two texts for each of its values."""
        at = NamedExpressions(self.dialect, self.preamble)
        names = []
        for (x, y), var in zip(pairs, statement.results, strict=True):
            both = (Var(f"{var.name}.x", var.dtype), Var(f"{var.name}.y", var.dtype))
            at.names |= {
                v.name: Code(text, var.dtype) for v, text in zip(both, (x, y), strict=True)
            }
            names.append(both)
        return [bare(at.code(e).text) for e in combined(statement.combine, names)]


class ItemsText(ScalarText):
    """Renders a kernel for the work-items of a group."""

    def __init__(
        self, kernel: Kernel, dialect: CDialect, profile: DeviceProfile, preamble: Preamble,
        notes: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(kernel, dialect, profile, preamble, 1, (GROUP, LANE), notes)
        self._scratch: dict[str, str] = {}

    @property
    def items(self) -> int:
        return self.kernel.lanes

    def begin(self) -> None:
        type = self.dialect.types[self.index]
        self.scopes.root.head.append(f"const {type} lane = ({type}){self.dialect.lane};")

    def barrier(self) -> None:
        self.scopes.add(self.dialect.barrier)

    # -- neighbours -------------------------------------------------------------------------------

    def body(self, body: Sequence[Statement]) -> None:
        """Statements in order; neighbours are moved together, and converted before or after.

        A compiler makes one instruction of loads, or of stores, with nothing between them.
        """
        if not self.profile.vector_bytes:
            super().body(body)
            return
        for kind, run in groupby(body, _moved):
            statements = list(run)
            if kind is Let and len(statements) > 1:
                self._loads([s for s in statements if isinstance(s, Let)])
            elif kind is Store and len(statements) > 1:
                self._stores([s for s in statements if isinstance(s, Store)])
            else:
                super().body(statements)

    def _loads(self, lets: Sequence[Let]) -> None:
        found = []
        for let in lets:
            load = cast(Load, let.value)
            raw = self.scopes.fresh("raw")
            bits = bits_type(load.buffer.dtype)
            self.scopes.add(f"const {self.dialect.types[bits]} {raw} = {self.element(load)};")
            found.append(self.loaded(Code(raw, bits), load.buffer.dtype))
        for let, value in zip(lets, found, strict=True):
            self.define("const ", let.var, value)

    def _stores(self, stores: Sequence[Store]) -> None:
        lines = []
        for store in stores:
            value = self.stored(self.code(store.value), store.buffer.dtype)
            lines.append(f"{self.element(store)} = {self.named(value, 'raw')};")
        for line in lines:
            self.scopes.add(line)

    # -- folds ------------------------------------------------------------------------------------

    def fold(self, statement: Fold) -> None:
        width = statement.width
        values = [self.code(value) for value in statement.values]
        if 1 < width <= self.dialect.shuffle_width:
            self._shuffle(statement, values)
            return
        if width == 1:
            for var, value in zip(statement.results, values, strict=True):
                self.define("const ", var, value)
            return
        arrays = [self._array(var.dtype, n) for n, var in enumerate(statement.results)]
        for array, value in zip(arrays, values, strict=True):
            self.scopes.add(f"{array}[lane] = {bare(value.text)};")
        self.scopes.add(self.dialect.barrier)
        type = self.dialect.types[self.index]
        half = self.scopes.fresh("half_width")
        with self.scopes.nested(f"for ({type} {half} = {width // 2}; {half} > 0; {half} /= 2) {{"):
            with self.scopes.nested(f"if (lane % {width} < {half}) {{"):
                self._combine_in_memory(statement, arrays, half)
            self.scopes.add(self.dialect.barrier)
        first = "0" if width == self.kernel.lanes else f"lane / {width} * {width}"
        for var, array in zip(statement.results, arrays, strict=True):
            self.define("const ", var, Code(f"{array}[{first}]", var.dtype))
        self.scopes.add(self.dialect.barrier)

    def _combine_in_memory(self, statement: Fold, arrays: Sequence[str], half: str) -> None:
        names = []
        for var, array in zip(statement.results, arrays, strict=True):
            type = self.dialect.register(var.dtype)
            x, y = self.scopes.fresh(f"{var.name}_x"), self.scopes.fresh(f"{var.name}_y")
            self.scopes.add(f"const {type} {x} = {array}[lane], {y} = {array}[lane + {half}];")
            names.append((x, y))
        for array, text in zip(arrays, self.combined(statement, names), strict=True):
            self.scopes.add(f"{array}[lane] = {text};")

    def _array(self, dtype: DType, number: int) -> str:
        """Group memory with an element for each lane; folds of one type share it."""
        register = int32 if dtype is bool_ else dtype
        key = f"fold{number}_{register.short}"
        if key not in self._scratch:
            name = self._scratch[key] = self.scopes.fresh(key)
            line = self.dialect.arrays["group"].format(
                type=self.dialect.types[register], name=name, size=self.kernel.lanes
            )
            self.scopes.root.head.insert(0, line)
        return self._scratch[key]

    def _shuffle(self, statement: Fold, values: Sequence[Code]) -> None:
        """The same by exchanging registers: lanes past the half compute what nobody reads."""
        mask = f"{(1 << min(self.kernel.lanes, self.dialect.shuffle_width)) - 1:#x}u"
        names = []
        for var, value in zip(statement.results, values, strict=True):
            name = self.scopes.fresh(f"{var.name}_part")
            type = self.dialect.register(var.dtype)
            self.scopes.add(f"{type} {name} = {bare(value.text)};")
            names.append(name)
        half = statement.width // 2
        while half:
            pairs = []
            for var, name in zip(statement.results, names, strict=True):
                other = self.scopes.fresh(f"{var.name}_{half}")
                text = self.dialect.shuffle_down.format(
                    value=name, distance=half, width=statement.width, mask=mask
                )
                self.scopes.add(f"const {self.dialect.register(var.dtype)} {other} = {text};")
                pairs.append((name, other))
            found = self.combined(statement, pairs)
            kept = names if len(names) == 1 else [self.scopes.fresh(f"{n}_{half}") for n in names]
            for var, name, text in zip(statement.results, kept, found, strict=True):
                type = "" if len(names) == 1 else f"const {self.dialect.register(var.dtype)} "
                self.scopes.add(f"{type}{name} = {text};")
            names = kept
            half //= 2
        for var, name in zip(statement.results, names, strict=True):
            text = self.dialect.shuffle_first.format(value=name, width=statement.width, mask=mask)
            self.define("const ", var, Code(text, var.dtype))
