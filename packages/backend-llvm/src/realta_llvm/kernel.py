"""Kernel text: a kernel of the kernel IR as a function of LLVM IR with explicit vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from realta.codegen.index_width import index_bits
from realta.codegen.indices import Axis, Greatest, Index, Least, leaves
from realta.codegen.ir import (
    GROUP,
    LANE,
    Allocate,
    Assign,
    Barrier,
    Buffer,
    Compare,
    Declare,
    Expr,
    Fold,
    FromIndex,
    Kernel,
    Load,
    Loop,
    Statement,
    Store,
)
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.uniformity import varies, varying_names
from realta.codegen.walking import all_expressions, statements
from realta.types import bool_, int32, int64

from realta_llvm.code import Code, Coder, element_type
from realta_llvm.expressions import Expressions
from realta_llvm.folds import folded
from realta_llvm.indices import Indices
from realta_llvm.instructions import loaded, stored
from realta_llvm.memory import Memory, prefix_of
from realta_llvm.prefetching import Rows
from realta_llvm.text import Body, Module, Value
from realta_llvm.transposing import find_tiles, reads_only, turn

__all__ = ["KernelText"]

_UNROLLED: Final = 64
"""Most turns of a loop that are written out."""


class KernelText(Expressions):
    """Writes one kernel: a function of its buffers and, if it has several, of a range of groups.

    Args:
        kernel: a verified kernel.
        module: where the function will stand.
        width: lanes of a vector.
    """

    def __init__(self, kernel: Kernel, module: Module, width: int) -> None:
        super().__init__(Coder(Body(module), kernel.lanes, width))
        self.kernel = kernel
        self.varying = varying_names(kernel) if kernel.lanes > 1 else frozenset()
        bits = index_bits(kernel, all_expressions(kernel.body))
        self.indices = Indices(self.coder, bits, self.varying, self.code)
        self.memory = Memory(self.coder, self.indices)
        self.memory.pointers = {b.name: f"%{b.name}" for b in kernel.buffers}
        self._registers = _register_arrays(kernel)
        self._tiles = find_tiles(kernel, self.varying)
        self._turned: dict[str, Buffer] = {}
        self._rows = Rows()

    # -- the function -----------------------------------------------------------------------------

    def render(self) -> str:
        """The text of the function."""
        kernel, body = self.kernel, self.body
        body.lines.append("entry:")
        self._arrays = body.hole()
        with self.indices.scope((LANE,)):
            if kernel.groups == 1:
                self.indices.turns[GROUP] = Value("0", "i64")
                self.statements(kernel.body)
            else:
                self.repeat(
                    Value("%first", "i64"), Value("%last", "i64"), kernel.groups,
                    self._group, kernel.body,
                )  # fmt: skip
        self.count()
        if self.memory.streams:
            body.add("fence seq_cst")  # stores past the caches are seen by whoever reads next
        body.add("ret void")
        return "\n".join([*(f"; {note}" for note in kernel.notes), self.head(), *body.flat(), "}"])

    def head(self) -> str:
        """The function's head."""
        given = [
            f"ptr noalias {'readonly ' if b.role == 'input' else ''}%{b.name}"
            for b in self.kernel.buffers
        ]
        given += ["i64 %first", "i64 %last"] if self.kernel.groups > 1 else []
        parameters = ", ".join(given)
        return f"define void @{self.kernel.name}({parameters}) #0 {{"

    def _group(self, turn: Value) -> None:
        self.indices.turns[GROUP] = turn
        with self.indices.scope((GROUP,)):
            self.statements(self.kernel.body)

    # -- statements -------------------------------------------------------------------------------

    def statement(self, statement: Statement) -> None:
        match statement:
            case Store():
                self.store(statement)
            case Fold():
                self.fold(statement)
            case Allocate():
                self.allocate(statement.buffer)
            case Barrier():
                pass  # one thread runs all lanes of a group

    def assign(self, statement: Declare | Assign, *, wide: bool) -> None:
        super().assign(statement, wide=wide or statement.var.name in self.varying)

    def loop(self, loop: Loop, *, wide: bool) -> None:
        name, extent = loop.axis.name, loop.axis.extent
        if extent == 1 or (loop.unroll and extent <= _UNROLLED and self._pays(loop)):
            for turn in range(extent):
                with self.indices.turn(name, turn):
                    self.statements(loop.body, wide=wide)
            return

        def write(turn: Value) -> None:
            self.indices.turns[name] = turn
            with self.indices.scope((name,)):
                self.statements(loop.body, wide=wide)

        if extent:
            turned = self._turned
            self._turned = turned | self._turn_tiles(loop)
            self._rows.loops.append(name)
            self.repeat(Value("0", "i64"), Value(str(extent), "i64"), extent, write, loop.body)
            self._rows.loops.pop()
            self._turned = turned

    def _turn_tiles(self, loop: Loop) -> dict[str, Buffer]:
        """Turns the tiles that a loop is about to read down their columns."""
        found = {}
        for name, tile in self._tiles.items():
            if name not in self._turned and reads_only(loop, tile):
                self.allocate(tile.turned)
                turn(self.coder, tile, self.memory.pointers[name])
                found[name] = tile.turned
        return found

    def _pays(self, loop: Loop) -> bool:
        """Whether a loop is to be written out: if arrays of lanes become registers by that."""
        buffers = [e.buffer for e in all_expressions(loop.body) if isinstance(e, Load)]
        buffers += [s.buffer for s in statements(loop.body) if isinstance(s, Store)]
        return any(buffer.name in self._registers for buffer in buffers)

    def fold(self, statement: Fold) -> None:
        """Combines lanes."""
        codes = [self.code(value) for value in statement.values]
        found = folded(self, statement, codes)
        for var, code in zip(statement.results, found, strict=True):
            self.names[var.name] = code

    def allocate(self, buffer: Buffer) -> None:
        """Memory of the group or of the lanes, on the stack of the thread."""
        lanes = self.kernel.lanes if buffer.space == "lane" else 1
        element, count = element_type(bits_type(buffer.dtype)), buffer.size * lanes
        name = f"%{buffer.name}"
        if buffer.name not in self.memory.pointers:
            self._arrays.append(f"  {name} = alloca [{count} x {element}], align 64")
            self.memory.pointers[buffer.name] = name

    # -- loads ------------------------------------------------------------------------------------

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        match expr:
            case FromIndex():
                return self._index_value(self.indices.plain(expr.index), expr.dtype.bits)._replace(
                    dtype=expr.dtype
                )
            case Compare():
                return self._compare(expr)
            case Load():
                return self.load(expr, done)
        return super().leaf(expr, done)

    def _index_value(self, index: Index, bits: int) -> Code:
        write = self.coder.write
        if not self.indices.varies(index):
            number = self.indices.number(index)
            if not number.text.startswith("%"):
                return Code((Value(number.text, f"i{bits}"),), int64)
            return Code((write.resize(number, bits),), int64)
        parts = [write.resize(part, bits) for part in self.indices.parts(index)]
        return Code(tuple(parts), int64, True)

    def _compare(self, expr: Compare) -> Code:
        index = self.indices.plain(expr.index)
        along = self.indices.along(index)
        if along is not None and along[0] == 1:
            return self._compare_lanes(along[1], expr.bound)
        bits = self.indices.bits if self.indices.varies(index) else 64
        bound = Code((Value(str(expr.bound), f"i{bits}"),), int64)
        found = self._index_value(index, bits)
        return self.coder.each(
            lambda x, y: self.coder.write.compare("slt", x, y), bool_, found, bound
        )

    def _compare_lanes(self, base: Index, bound: int) -> Code:
        """Whether a number and that of the lane are below a bound, by 32 bits."""
        rest = self.indices.number(base * -1 + bound)
        lanes = self.coder.lanes
        if rest.text.startswith("%"):
            for name, end in (("smin", lanes), ("smax", 0)):
                rest = self.body.call(f"llvm.{name}.i64", "i64", [rest, Value(str(end), "i64")])
            rest = self.coder.write.resize(rest, 32)
        else:
            rest = Value(str(max(min(int(rest.text), lanes), 0)), "i32")
        width = self.coder.width
        numbers = [
            Value("<" + ", ".join(f"i32 {p * width + n}" for n in range(width)) + ">",
                  f"<{width} x i32>")
            for p in range(self.coder.count)
        ]  # fmt: skip
        return self.coder.each(
            lambda x, y: self.coder.write.compare("slt", x, y), bool_,
            Code(tuple(numbers), int32, True), Code((rest,), int32),
        )  # fmt: skip

    def load(self, expr: Load, done: Mapping[int, Code]) -> Code:
        """Elements of a buffer, or the default of lanes that are off."""
        count, rest = prefix_of(expr.where, self.indices)
        if expr.buffer.space == "lane" and self.kernel.lanes > 1:
            count, rest = self.coder.lanes, [] if expr.where is None else [expr.where]
        default = None if expr.default is None else done[id(expr.default)]
        same = [part for part in rest if not self._varies(part)]
        masks = [self.code(part) for part in rest if self._varies(part)]
        mask = self._joined(masks)

        def found() -> Code:
            bits = self._elements(expr, count, mask)
            value = loaded(self.coder, self.helper, bits, expr.buffer.dtype)
            if default is None:
                return value
            if mask is not None:
                value = self.coder.select(mask, value, default)
            return value if count >= self.coder.lanes else self._prefixed(value, default, count)

        if not same or default is None:
            return found()
        return self._guarded(self._all(same), found, default, wide=self._varies(expr))

    def _varies(self, expr: Expr) -> bool:
        return self.kernel.lanes > 1 and varies(expr, self.varying)

    def _joined(self, masks: list[Code]) -> Code | None:
        if not masks:
            return None
        found = masks[0]
        for mask in masks[1:]:
            found = self.coder.each(self.coder.write.bit_and, bool_, *self.coder.masks(found, mask))
        return found

    def _all(self, conditions: list[Expr]) -> Code:
        """Whether conditions that are the same in all lanes hold, as a number."""
        found = self._joined([self.coder.number(self.code(part)) for part in conditions])
        assert found is not None  # noqa: S101 (there is a condition)
        return found

    def _guarded(
        self, condition: Code, write: Callable[[], Code], default: Code, *, wide: bool
    ) -> Code:
        """What `write` writes where a number holds, else a default, which costs no access."""
        text = self.body
        flag = self.coder.write.flag(condition.number)
        default = self.coder.widen(default) if wide else default
        if default.dtype is bool_:
            default = self.coder.resized(default, 32)
        before, inside, after = text.label, text.block(), text.block()
        text.add(f"br i1 {flag.text}, label %{inside}, label %{after}")
        text.start(inside)
        with text.scope():
            found = write()
            found = self.coder.widen(found) if wide else found
            if found.dtype is bool_:
                found = self.coder.resized(found, 32)
        last = text.label
        text.add(f"br label %{after}")
        text.start(after)
        pairs = zip(found.parts, default.parts, strict=True)
        parts = [
            text.value(f"phi {x.type} [ {x.text}, %{last} ], [ {y.text}, %{before} ]", x.type)
            for x, y in pairs
        ]
        return Code(tuple(parts), default.dtype, wide)

    def _prefixed(self, value: Code, default: Code, count: int) -> Code:
        """A value in the first lanes, a default in the others."""
        value, default = self.coder.widen(value), self.coder.widen(default)
        if value.dtype is bool_:
            value, default = self.coder.masks(value, default)
        width, parts = self.coder.width, []
        for part, (x, y) in enumerate(zip(value.parts, default.parts, strict=True)):
            here = min(max(count - part * width, 0), width)
            if 0 < here < width:
                flags = ", ".join(f"i1 {'true' if n < here else 'false'}" for n in range(width))
                x = self.body.value(
                    f"select <{width} x i1> <{flags}>, {x.type} {x.text}, {y.type} {y.text}", x.type
                )
            parts.append(x if here else y)
        return Code(tuple(parts), value.dtype, True)

    def _elements(self, expr: Load, count: int, mask: Code | None) -> Code:
        buffer, index = expr.buffer, self.indices.plain(expr.index)
        if buffer.space == "lane" and self.kernel.lanes > 1:
            return self._own(buffer, index, bounded=mask is not None)
        along = self.indices.along(index)
        everywhere = count == self.coder.lanes
        if along is not None and buffer.name in self._turned:
            return self.memory.near(self._turned[buffer.name], along[1] * self.coder.lanes, count)
        if along is not None and mask is None:
            if along[0] == 0 and count > 0:
                return self.memory.same(buffer, along[1])
            if along[0] == 1:
                distance = self._rows.next_row(expr, index) if buffer.role == "input" else 0
                if distance and everywhere and buffer.space == "global":
                    self.memory.prefetch(buffer, along[1] + distance)
                return self.memory.near(buffer, along[1], count)
            if along[0] == -1 and everywhere:
                return self.memory.reversed(buffer, along[1])
        mask = self._with_prefix(mask, count)
        if along is not None and along[0] == 1 and mask is not None:
            return self.memory.masked(buffer, along[1], mask)
        return self.memory.spread(buffer, self.indices.parts(index), mask)

    def _with_prefix(self, mask: Code | None, count: int) -> Code | None:
        """A mask that leaves only the first lanes on."""
        if count >= self.coder.lanes:
            return mask
        width, parts = self.coder.width, []
        for part in range(self.coder.count):
            numbers = ", ".join(
                f"i32 {-1 if part * width + n < count else 0}" for n in range(width)
            )
            parts.append(Value(f"<{numbers}>", f"<{width} x i32>"))
        first = Code(tuple(parts), bool_, True)
        return first if mask is None else self._joined([mask, first])

    def _own(self, buffer: Buffer, index: Index, *, bounded: bool) -> Code:
        """Elements of arrays that each lane has for itself."""
        if bounded and not (index.low >= 0 and index.high < buffer.size):
            index = Greatest(Least(index, buffer.size - 1), 0)
        if not self.indices.varies(index):
            return self.memory.own(buffer, self.indices.number(index))
        places = self.memory.own_index(self.indices.parts(index))
        return self.memory.spread(buffer, places, None)

    # -- stores -----------------------------------------------------------------------------------

    def store(self, statement: Store) -> None:
        """Writes elements."""
        count, rest = prefix_of(statement.where, self.indices)
        if statement.buffer.space == "lane" and self.kernel.lanes > 1:
            count, rest = self.coder.lanes, [] if statement.where is None else [statement.where]
        same = [part for part in rest if not self._varies(part)]
        mask = self._joined([self.code(part) for part in rest if self._varies(part)])
        value = self.code(statement.value)
        value = stored(self.coder, self.helper, value, statement.buffer.dtype)
        if same:
            self.branch(self._all(same), lambda: self._store(statement, value, mask, count), ())
        elif count > 0:
            self._store(statement, value, mask, count)

    def _store(self, statement: Store, value: Code, mask: Code | None, count: int) -> None:
        buffer, index = statement.buffer, self.indices.plain(statement.index)
        if buffer.space == "lane" and self.kernel.lanes > 1:
            self._store_own(buffer, index, value, mask)
            return
        along, lanes = self.indices.along(index), self.coder.lanes
        if lanes == 1 or (mask is None and along is not None and along[0] == 0):
            if count > 0:
                self.memory.put_one(buffer, index, self.coder.lane(value, min(count, lanes) - 1))
            return
        value = self.coder.widen(value)
        if along is not None and along[0] == 1 and mask is None:
            self.memory.put_near(buffer, along[1], value, count, streaming=statement.streaming)
            return
        mask = self._with_prefix(mask, count)
        if along is not None and along[0] == 1 and mask is not None:
            self.memory.put_masked(buffer, along[1], value, mask)
        else:
            self.memory.put_spread(buffer, self.indices.parts(index), value, mask)

    def _store_own(self, buffer: Buffer, index: Index, value: Code, mask: Code | None) -> None:
        value = self.coder.widen(value)
        if mask is not None and not (index.low >= 0 and index.high < buffer.size):
            index = Greatest(Least(index, buffer.size - 1), 0)
        if self.indices.varies(index):
            places = self.memory.own_index(self.indices.parts(index))
            self.memory.put_spread(buffer, places, value, mask)
            return
        element = self.indices.number(index)
        if mask is not None:
            value = self.coder.select(mask, value, self.memory.own(buffer, element))
        self.memory.put_own(buffer, element, value)


def _register_arrays(kernel: Kernel) -> frozenset[str]:
    """Arrays of lanes whose elements all have known numbers once loops are written out."""
    unrolled = {
        s.axis.name for s in statements(kernel.body) if isinstance(s, Loop) and s.unroll
    }  # fmt: skip
    used: dict[str, bool] = {}
    steps = statements(kernel.body)
    accesses: list[Load | Store] = [e for e in all_expressions(kernel.body) if isinstance(e, Load)]
    accesses += [s for s in steps if isinstance(s, Store)]
    for access in accesses:
        if access.buffer.space != "lane":
            continue
        known = all(isinstance(x, Axis) and x.name in unrolled for x in leaves(access.index))
        used[access.buffer.name] = used.get(access.buffer.name, True) and known
    return frozenset([name for name, known in used.items() if known])
