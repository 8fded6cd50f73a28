"""The vector realization: a group is one work-item, its lanes are elements of explicit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from realta.codegen.dialect import CDialect
from realta.codegen.indices import (
    Axis,
    Greatest,
    Index,
    Least,
    Number,
    Position,
    Product,
    Quotient,
    Remainder,
    Sum,
)
from realta.codegen.ir import (
    LANE,
    Buffer,
    Compare,
    Expr,
    Fold,
    FromIndex,
    Load,
    Store,
    Var,
    compute_type,
)
from realta.codegen.preamble import Calls
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.preamble_trace import Helper
from realta.codegen.render_expressions import Code, NamedExpressions, bare
from realta.codegen.render_indices import along_lanes
from realta.codegen.render_kernel import KernelText, combined, conjunction
from realta.codegen.render_memory import VectorMemory
from realta.codegen.uniformity import index_varies
from realta.types import DType, bool_

__all__ = ["VectorText"]


class VectorText(KernelText):
    """Renders a kernel with explicit vectors."""

    @property
    def memory(self) -> VectorMemory:
        """The memory helpers."""
        return VectorMemory(self.preamble, self.lanes, self.index)

    # -- indices ----------------------------------------------------------------------------------

    def along(self, index: Index) -> tuple[int, Index] | None:
        """An index as stride × lane + base."""
        if self.lanes == 1:
            return (0, index)
        return along_lanes(index, self.lanes, self.varying)

    def lane_numbers(self) -> str:
        """The vector of the numbers of the lanes, made once."""
        root, key = self.scopes.root, Axis(LANE, self.lanes)
        if key not in root.names:
            type = self.dialect.spelled(self.index, self.lanes)
            numbers = self.build([str(n) for n in range(self.lanes)], self.index)
            root.head.insert(0, f"const {type} lanes = {numbers};")
            root.names[key] = "lanes"
        return root.names[key]

    def wide_index(self, index: Index) -> str:
        """An index that differs between lanes, as a vector."""
        if self.lanes == 1 or not index_varies(index, self.varying):
            return self.indices.text(index)
        match index:
            case Axis():
                return self.lane_numbers()
            case Position():
                value = self.code(index.value)
                if value.dtype is self.index:
                    return value.text
                return self.converted(value.text, self.index)
            case Sum():
                return "(" + " + ".join(self.wide_index(term) for term in index.terms) + ")"
            case Product():
                return f"({self.wide_index(index.of)} * {self.indices.number(index.factor)})"
            case Quotient() | Remainder():
                return self._wide_division(index)
            case Least() | Greatest():
                sign = "<" if isinstance(index, Least) else ">"
                of = Code(self.wide_index(index.of), self.index, True)
                bound = Code(self.indices.number(index.bound), self.index)
                return self.select(self.compare(sign, of, bound), of, bound).text
        return self.indices.text(index)

    def _wide_division(self, index: Quotient | Remainder) -> str:
        turns = max(0, -(index.of.low // index.divisor))
        of = self.wide_index(index.of)
        if turns:
            of = f"({of} + {self.indices.number(turns * index.divisor)})"
        by = self.indices.number(index.divisor)
        if isinstance(index, Remainder):
            return f"({of} % {by})"
        return f"({of} / {by} - {self.indices.number(turns)})" if turns else f"({of} / {by})"

    # -- values -----------------------------------------------------------------------------------

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        match expr:
            case Var():
                return Code(self.scopes.name(expr.name), expr.dtype, self.is_wide(expr))
            case FromIndex():
                return self.convert(self._index_value(expr.index), expr.dtype)
            case Compare():
                bound = self.indices.number(expr.bound)
                return self.compare("<", self._index_value(expr.index), Code(bound, self.index))
            case Load():
                return self.load(expr, done)
        return super().leaf(expr, done)

    def _index_value(self, index: Index) -> Code:
        wide = self.lanes > 1 and index_varies(index, self.varying)
        if not wide:
            return Code(self.indices.text(index), self.index)
        text = self.wide_index(index)
        return Code(text, self.index, True)

    def load(self, expr: Load, done: Mapping[int, Code]) -> Code:
        """Elements of a buffer."""
        where = None if expr.where is None else done[id(expr.where)]
        default = None if expr.default is None else done[id(expr.default)]
        if expr.buffer.space == "lane" and self.lanes > 1:
            found = self._lane_element(expr)
        elif where is not None and where.wide:
            found = self._masked_elements(expr, where)
        else:
            found = self._elements(expr)
        return found if where is None or default is None else self.select(where, found, default)

    def _elements(self, expr: Load) -> Code:
        dtype, along = bits_type(expr.buffer.dtype), self.along(expr.index)
        if along is not None and along[0] == 0:
            at = bare(self.indices.text(along[1]))
            text, wide = f"{self.scopes.name(expr.buffer.name)}[{at}]", False
        elif along is not None and along[0] == 1:
            assert self.dialect.vector is not None  # noqa: S101 (there are vectors)
            text, wide = self.dialect.vector.load.format(
                lanes=self.lanes, pointer=self.pointer(expr.buffer, along[1])
            ), True  # fmt: skip
        else:
            gather = self.memory.read(expr.buffer.space, dtype, spread=True, masked=False)
            name = self.scopes.name(expr.buffer.name)
            text, wide = f"{gather}({name}, {bare(self.wide_index(expr.index))})", True
        return self.loaded(Code(text, dtype, wide), expr.buffer.dtype)

    def _masked_elements(self, expr: Load, where: Code) -> Code:
        dtype, along = bits_type(expr.buffer.dtype), self.along(expr.index)
        near = along is not None and along[0] == 1
        read = self.memory.read(expr.buffer.space, dtype, spread=not near, masked=True)
        name, mask = self.scopes.name(expr.buffer.name), bare(where.text)
        if near and along is not None:
            text = f"{read}({self.pointer(expr.buffer, along[1])}, {mask})"
        else:
            text = f"{read}({name}, {bare(self.spread_index(expr.index))}, {mask})"
        return self.loaded(Code(text, dtype, True), expr.buffer.dtype)

    def spread_index(self, index: Index) -> str:
        """An index as a vector, also where it is the same in all lanes."""
        if index_varies(index, self.varying):
            return self.wide_index(index)
        return self.build([bare(self.indices.text(index))], self.index)

    def pointer(self, buffer: Buffer, base: Index) -> str:
        """Where an element is."""
        name = self.scopes.name(buffer.name)
        if isinstance(base, Number) and base.value == 0:
            return name
        return f"{name} + {bare(self.indices.text(base))}"

    # -- arrays of lanes --------------------------------------------------------------------------

    def allocate(self, buffer: Buffer) -> None:
        if buffer.space == "group" or self.lanes == 1:
            super().allocate(buffer)
            return
        line = self.dialect.arrays["lane"].format(
            type=self.dialect.register(buffer.dtype, self.lanes),
            name=self.scopes.name(buffer.name), size=buffer.size,
        )  # fmt: skip
        self.scopes.add(line)

    def _lane_element(self, expr: Load) -> Code:
        """An element of an array of vectors: each lane has its own."""
        name, dtype = self.scopes.name(expr.buffer.name), compute_type(expr.buffer.dtype)
        if not index_varies(expr.index, self.varying):
            inside = expr.index.low >= 0 and expr.index.high < expr.buffer.size
            at = expr.index if inside or expr.where is None else _clamped(expr.index, expr.buffer)
            return Code(f"{name}[{bare(self.indices.text(at))}]", dtype, True)
        at = expr.index if expr.where is None else _clamped(expr.index, expr.buffer)
        numbers = self.named(Code(self.wide_index(at), self.index, True), "at")
        elements = [
            self.component(f"{name}[{self.component(numbers, [n])}]", [n])
            for n in range(self.lanes)
        ]
        return Code(self.build(elements, dtype), dtype, True)

    def _store_lane(self, statement: Store) -> None:
        buffer, value = statement.buffer, self.rounded(self.code(statement.value), statement.buffer)
        name, masks = self.scopes.name(buffer.name), conjunction(statement.where)
        mask = self._joined([self.code(part) for part in masks])
        if not index_varies(statement.index, self.varying):
            element = Code(f"{name}[{bare(self.indices.text(statement.index))}]", value.dtype, True)
            if mask is not None:
                value = self.select(mask, value, element)
            line = f"{element.text} = {bare(self.widen(value).text)};"
            if mask is None:
                self.scopes.add(line)
            else:
                self._when_any(mask, line)
            return
        at = self.named(Code(self.wide_index(statement.index), self.index, True), "at")
        value_name = self.named(self.widen(value), "value")
        chosen = None if mask is None else self.named(self.widen(mask), "mask")
        for n in range(self.lanes):
            condition = "" if chosen is None else f"if ({self.component(chosen, [n])}) "
            place = self.component(f"{name}[{self.component(at, [n])}]", [n])
            self.scopes.add(f"{condition}{place} = {self.component(value_name, [n])};")

    def _when_any(self, mask: Code, line: str) -> None:
        """A line that runs if a lane is on: it must not touch memory otherwise."""
        if mask.wide:
            name = self.named(mask, "mask")
            condition = " | ".join(self.component(name, [n]) for n in range(self.lanes))
        else:
            condition = bare(mask.text)
        self.scopes.add(f"if ({condition}) {{ {line} }}")

    def rounded(self, value: Code, buffer: Buffer) -> Code:
        """A value as an element of a buffer holds it, in registers."""
        if not buffer.dtype.is_half:
            return value
        return self.loaded(self.stored(value, buffer.dtype), buffer.dtype)

    # -- stores -----------------------------------------------------------------------------------

    def store(self, statement: Store) -> None:
        if statement.buffer.space == "lane" and self.lanes > 1:
            self._store_lane(statement)
            return
        count = self.lanes
        same: list[Code] = []
        masks: list[Code] = []
        for part in conjunction(statement.where):
            if isinstance(part, Compare) and part.index == self.kernel.lane and self.lanes > 1:
                count = min(count, part.bound)
                continue
            code = self.code(part)
            (masks if code.wide else same).append(code)
        value = self.stored(self.code(statement.value), statement.buffer.dtype)
        if same:
            with self.scopes.nested(f"if ({self.guarded(same)}) {{"):
                self._store(statement, value, masks, count)
        else:
            self._store(statement, value, masks, count)

    def _store(self, statement: Store, value: Code, masks: list[Code], count: int) -> None:
        buffer, along = statement.buffer, self.along(statement.index)
        name, mask = self.scopes.name(buffer.name), self._joined(masks)
        if self.lanes == 1 or (mask is None and along is not None and along[0] == 0):
            number = min(count, self.lanes) - 1  # the last lane that writes
            text = self.component(self.memory_name(value), [number]) if value.wide else value.text
            if number >= 0:
                self.scopes.add(
                    f"{name}[{bare(self.indices.text(statement.index))}] = {bare(text)};"
                )
        elif count < self.lanes:
            self._store_few(statement, value, mask, count)
        elif along is not None and along[0] == 1:
            self._store_near(statement, self.pointer(buffer, along[1]), self.widen(value), mask)
        else:
            write = self.memory.write(
                buffer.space, value.dtype, spread=True, masked=mask is not None
            )
            given = [self.widen(value).text, name, self.spread_index(statement.index)]
            given += [] if mask is None else [mask.text]
            self.scopes.add(f"{write}({', '.join(map(bare, given))});")

    def _store_near(self, statement: Store, pointer: str, value: Code, mask: Code | None) -> None:
        syntax, text = self.dialect.vector, bare(value.text)
        assert syntax is not None  # noqa: S101 (there are vectors)
        space = statement.buffer.space
        if mask is not None:
            write = self.memory.write(space, value.dtype, spread=False, masked=True)
            self.scopes.add(f"{write}({text}, {pointer}, {bare(mask.text)});")
        elif statement.streaming and syntax.streaming and space == "global":
            self.scopes.add(f"{self.memory.stream(value.dtype)}({text}, {pointer});")
        else:
            line = syntax.store.format(lanes=self.lanes, value=text, pointer=pointer)
            self.scopes.add(f"{line};")

    def _store_few(self, statement: Store, value: Code, mask: Code | None, count: int) -> None:
        """The first lanes write, one after the other."""
        value_name = self.memory_name(value)
        chosen = None if mask is None else self.named(mask, "mask")
        name, along = self.scopes.name(statement.buffer.name), self.along(statement.index)
        at = "" if along is not None else self.named(
            Code(self.wide_index(statement.index), self.index, True), "at"
        )  # fmt: skip
        for n in range(count):
            place = (
                self.component(at, [n])
                if along is None
                else bare(self.indices.text(along[1] + along[0] * n))
            )
            condition = "" if chosen is None else f"if ({self.component(chosen, [n])}) "
            element = self.component(value_name, [n]) if value.wide else value_name
            self.scopes.add(f"{condition}{name}[{place}] = {element};")

    def memory_name(self, value: Code) -> str:
        """A value in the type that memory holds, as a name."""
        if value.text.isidentifier() or not value.wide:
            return value.text
        fresh = self.scopes.fresh("value")
        type = self.dialect.spelled(value.dtype, self.lanes)
        self.scopes.add(f"const {type} {fresh} = {bare(value.text)};")
        return fresh

    def _joined(self, masks: list[Code]) -> Code | None:
        if not masks:
            return None
        found = masks[0]
        for mask in masks[1:]:
            found = self.infix("bitwise_and", found, mask)
        return found

    # -- folds ------------------------------------------------------------------------------------

    def fold(self, statement: Fold) -> None:
        values = [self.widen(self.code(value)) for value in statement.values]
        names = [
            self.named(value, var.name)
            for value, var in zip(values, statement.results, strict=True)
        ]
        if statement.width == 1:
            for var, value in zip(statement.results, values, strict=True):
                self.define("const ", var, value)
            return
        whole = statement.width == self.lanes
        steps = _fold_steps(
            self.dialect, self.lanes, self.library_lanes, statement.width, statement.combine,
            tuple(value.dtype for value in values),
        )  # fmt: skip
        for number, step in enumerate(steps, 1):
            for helper, lanes in step.calls:
                self.preamble.call(helper, lanes)
            last = whole and number == len(steps)
            texts = [_filled(text, names) for text in step.texts]
            names = [
                self._step(text, var, last, step.lanes)
                for text, var in zip(texts, statement.results, strict=True)
            ]
        if not whole:
            first = [n - n % statement.width for n in range(self.lanes)]
            for var, name in zip(statement.results, names, strict=True):
                self.define("const ", var, Code(self.component(name, first), var.dtype, True))

    def _step(self, text: str, var: Var, last: bool, lanes: int) -> str:
        """Names the values that are left after a step; the last one is the result."""
        name = self.scopes.name(var.name) if last else self.scopes.fresh(f"{var.name}_{lanes}")
        type = self.dialect.register(var.dtype, lanes)
        self.scopes.add(f"const {type} {name} = {text};")
        return name


class _FoldStep(NamedTuple):
    """A step of a fold: a text for each of its values, and the helpers that they call.

    In the texts a control character, `_PLACES`, stands for the name of each value.
    """

    lanes: int
    texts: tuple[str, ...]
    calls: tuple[tuple[Helper, int], ...]


_PLACES: Final = ("\1", "\2")


def _filled(text: str, names: Sequence[str]) -> str:
    for place, name in zip(_PLACES, names, strict=False):
        text = text.replace(place, name)
    return text


@lru_cache(maxsize=256)
def _fold_steps(
    dialect: CDialect, lanes: int, library_lanes: int, width: int, combine: str,
    dtypes: tuple[DType, ...],
) -> tuple[_FoldStep, ...]:  # fmt: skip
    """The steps of a fold over `width` of the lanes; they depend on no kernel."""
    found = []
    whole, half = width == lanes, width // 2
    while half:
        calls = Calls()
        left = half if whole else lanes
        at = NamedExpressions(dialect, calls, left, library_lanes)
        pairs = [
            _pair(at, place, dtype, half, width, lanes)
            for place, dtype in zip(_PLACES, dtypes, strict=False)
        ]
        texts = tuple(bare(at.code(expr).text) for expr in combined(combine, pairs))
        found.append(_FoldStep(left, texts, tuple(calls.found)))
        half //= 2
    return tuple(found)


def _pair(
    at: NamedExpressions, name: str, dtype: DType, half: int, width: int, lanes: int
) -> tuple[Var, Var]:
    """The two operands of a step: the lanes below the half, and those above."""
    if width == lanes:
        halves = [list(range(half)), list(range(half, 2 * half))]
        texts = [at.component(name, numbers) for numbers in halves]
    else:
        up = [n + half if n % width < half else n for n in range(lanes)]
        texts = [name, at.component(name, up)]
    wide = width != lanes or half > 1
    found = []
    for number, text in enumerate(texts):
        shown = text if wide or dtype is not bool_ else f"({text} & 1)"
        key = f"{name}.{number}"
        at.names[key] = Code(shown, dtype, wide)
        found.append(Var(key, dtype))
    return found[0], found[1]


def _clamped(index: Index, buffer: Buffer) -> Index:
    """An index moved into a buffer: where a lane is off, what it would read does not matter."""
    return Greatest(Least(index, buffer.size - 1), 0)
