"""Memory: elements of buffers as vectors: neighbours, spread elements, lanes that are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Buffer, Compare, Expr
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.render_kernel import conjunction
from realta.types import DType

from realta_llvm.code import Code, Coder, element_type
from realta_llvm.indices import Indices, known_multiple
from realta_llvm.text import Value, lanes_of, vector

__all__ = ["Memory", "prefix_of"]

_MANGLED: Final = {"float": "f32", "double": "f64"}
_ALIGNMENT: Final = 64
"""How buffers of this backend are aligned."""


def prefix_of(where: Expr | None, indices: Indices) -> tuple[int, list[Expr]]:
    """How many of the first lanes a predicate leaves on, and what else it asks for."""
    lanes = indices.coder.lanes
    count, rest = lanes, []
    for part in conjunction(where):
        if isinstance(part, Compare) and lanes > 1:
            along = indices.along(indices.plain(part.index))
            if along is not None and along[0] == 1 and isinstance(along[1], Number):
                count = min(count, max(0, part.bound - along[1].value))
                continue
        rest.append(part)
    return count, rest


class Memory:
    """Writes loads and stores of elements as memory holds them.

    Args:
        coder: writes instructions.
        indices: writes indices.
    """

    def __init__(self, coder: Coder, indices: Indices) -> None:
        self.coder = coder
        self.body = coder.body
        self.indices = indices
        self.pointers: dict[str, str] = {}
        self.streams = False

    def _at(self, buffer: Buffer, base: Index) -> Value:
        """Where an element is."""
        pointer = self.pointers[buffer.name]
        if isinstance(base, Number) and base.value == 0:
            return Value(pointer, "ptr")
        return self._offset(
            Value(pointer, "ptr"), bits_type(buffer.dtype), self.indices.number(base)
        )

    def _offset(self, pointer: Value, dtype: DType, by: Value) -> Value:
        element = element_type(dtype)
        return self.body.value(
            f"getelementptr {element}, ptr {pointer.text}, {by.type} {by.text}", "ptr"
        )

    def _part_at(self, pointer: Value, dtype: DType, part: int) -> Value:
        if part == 0:
            return pointer
        return self._offset(pointer, dtype, Value(str(part * self.coder.width), "i64"))

    # -- loads ------------------------------------------------------------------------------------

    def same(self, buffer: Buffer, index: Index) -> Code:
        """One element for all lanes."""
        dtype = bits_type(buffer.dtype)
        place = self._at(buffer, index)
        return Code((self._load(place, dtype, 1),), dtype)

    def near(self, buffer: Buffer, base: Index, count: int) -> Code:
        """Neighbours, of which only the first are there; the others are undefined."""
        dtype, width = bits_type(buffer.dtype), self.coder.width
        start = self._at(buffer, base)
        parts = []
        for part in range(self.coder.count):
            here = min(max(count - part * width, 0), width)
            if here == 0:
                zero = Value("zeroinitializer", vector(element_type(dtype), width))
                parts.append(zero if width > 1 else Value("0", zero.type))
                continue
            found = self._load(self._part_at(start, dtype, part), dtype, here)
            if here < width:
                found = self._padded(found, here)
            parts.append(found)
        return Code(tuple(parts), dtype, True)

    def _padded(self, x: Value, here: int) -> Value:
        width = self.coder.width
        if here == 1:
            type = vector(x.type, width)
            return self.body.value(
                f"insertelement {type} zeroinitializer, {x.type} {x.text}, i32 0", type
            )
        # The others must be harmless in whatever is computed of them: they repeat the first.
        return self.coder.shuffle(x, None, [n if n < here else 0 for n in range(width)])

    def _load(self, place: Value, dtype: DType, count: int) -> Value:
        type = vector(element_type(dtype), count)
        return self.body.value(f"load {type}, ptr {place.text}, align {dtype.itemsize}", type)

    def reversed(self, buffer: Buffer, base: Index) -> Code:
        """Neighbours in falling order, all of them there."""
        lanes = self.coder.lanes
        found = self.near(buffer, base - (lanes - 1), lanes)
        turned = [
            self.coder.shuffle(p, None, range(self.coder.width - 1, -1, -1))
            for p in reversed(found.parts)
        ]
        return Code(tuple(turned), found.dtype, True)

    def masked(self, buffer: Buffer, base: Index, mask: Code) -> Code:
        """Neighbours where a mask holds, else 0."""
        dtype = bits_type(buffer.dtype)
        start = self._at(buffer, base)
        parts = []
        for part, flag in enumerate(self.coder.flags(self.coder.widen(mask))):
            place = self._part_at(start, dtype, part)
            parts.append(self._masked_load(place, dtype, flag))
        return Code(tuple(parts), dtype, True)

    def _masked_load(self, place: Value, dtype: DType, flag: Value) -> Value:
        type = vector(element_type(dtype), self.coder.width)
        self.body.module.declare(
            f"llvm.masked.load.{_mangled(type)}.p0", type, ["ptr", flag.type, type]
        )
        return self.body.value(
            f"call {type} @llvm.masked.load.{_mangled(type)}.p0(ptr align {dtype.itemsize} "
            f"{place.text}, {flag.type} {flag.text}, {type} zeroinitializer)",
            type,
        )

    def spread(self, buffer: Buffer, at: Sequence[Value], mask: Code | None) -> Code:
        """Elements by number; where a mask does not hold, 0."""
        dtype = bits_type(buffer.dtype)
        places = self._places(buffer, at)
        parts = []
        for place, flag in zip(places, self._flags(mask), strict=True):
            type = vector(element_type(dtype), self.coder.width)
            name = f"llvm.masked.gather.{_mangled(type)}.{_mangled(place.type)}"
            self.body.module.declare(name, type, [place.type, flag.type, type])
            parts.append(
                self.body.value(
                    f"call {type} @{name}({place.type} align {dtype.itemsize} {place.text}, "
                    f"{flag.type} {flag.text}, {type} zeroinitializer)",
                    type,
                )
            )
        return Code(tuple(parts), dtype, True)

    def _places(self, buffer: Buffer, at: Sequence[Value]) -> list[Value]:
        element = element_type(bits_type(buffer.dtype))
        type = vector("ptr", self.coder.width)
        pointer = self.pointers[buffer.name]
        return [
            self.body.value(
                f"getelementptr {element}, ptr {pointer}, {part.type} {part.text}", type
            )
            for part in at
        ]

    def _flags(self, mask: Code | None) -> list[Value]:
        if mask is None:
            type = vector("i1", self.coder.width)
            return [Value("splat (i1 true)", type)] * self.coder.count
        return self.coder.flags(self.coder.widen(mask))

    def prefetch(self, buffer: Buffer, base: Index) -> None:
        """Asks for memory that will be read soon; it may lie behind the buffer."""
        place = self._at(buffer, base)
        self.body.module.declare("llvm.prefetch.p0", "void", ["ptr", "i32", "i32", "i32"])
        self.body.add(f"call void @llvm.prefetch.p0(ptr {place.text}, i32 0, i32 3, i32 1)")

    # -- stores -----------------------------------------------------------------------------------

    def put_one(self, buffer: Buffer, index: Index, value: Value) -> None:
        """One element."""
        place, size = self._at(buffer, index), bits_type(buffer.dtype).itemsize
        self.body.add(f"store {value.type} {value.text}, ptr {place.text}, align {size}")

    def put_near(
        self, buffer: Buffer, base: Index, value: Code, count: int, *, streaming: bool
    ) -> None:
        """Neighbours, of which only the first are written."""
        dtype, width = value.dtype, self.coder.width
        start = self._at(buffer, base)
        stream = streaming and count == self.coder.lanes and self._aligned(base, dtype)
        for part, given in enumerate(value.parts):
            here, piece = min(max(count - part * width, 0), width), given
            if here == 0:
                break
            if here < width:
                piece = (
                    self.coder.extract(given, 0) if here == 1
                    else self.coder.shuffle(given, None, range(here))
                )  # fmt: skip
            place = self._part_at(start, dtype, part)
            tail = f"align {dtype.itemsize}"
            if stream:
                tail = f"align {width * dtype.itemsize}, !nontemporal !0"
                self.streams = True
            self.body.add(f"store {piece.type} {piece.text}, ptr {place.text}, {tail}")

    def _aligned(self, base: Index, dtype: DType) -> bool:
        """Whether every part of a vector begins where a store past the caches may."""
        nbytes = self.coder.width * dtype.itemsize
        if nbytes < 16 or nbytes > _ALIGNMENT:
            return False
        return (known_multiple(base) * dtype.itemsize) % nbytes == 0

    def put_masked(self, buffer: Buffer, base: Index, value: Code, mask: Code) -> None:
        """Neighbours where a mask holds."""
        dtype = value.dtype
        start = self._at(buffer, base)
        flags = self.coder.flags(self.coder.widen(mask))
        for part, (given, flag) in enumerate(zip(value.parts, flags, strict=True)):
            place = self._part_at(start, dtype, part)
            name = f"llvm.masked.store.{_mangled(given.type)}.p0"
            self.body.module.declare(name, "void", [given.type, "ptr", flag.type])
            self.body.add(
                f"call void @{name}({given.type} {given.text}, ptr align {dtype.itemsize} "
                f"{place.text}, {flag.type} {flag.text})"
            )

    def put_spread(
        self, buffer: Buffer, at: Sequence[Value], value: Code, mask: Code | None
    ) -> None:
        """Elements by number where a mask holds; of equal places the last lane wins."""
        places = self._places(buffer, at)
        triples = zip(value.parts, places, self._flags(mask), strict=True)
        for given, place, flag in triples:
            name = f"llvm.masked.scatter.{_mangled(given.type)}.{_mangled(place.type)}"
            self.body.module.declare(name, "void", [given.type, place.type, flag.type])
            self.body.add(
                f"call void @{name}({given.type} {given.text}, {place.type} align "
                f"{value.dtype.itemsize} {place.text}, {flag.type} {flag.text})"
            )

    # -- elements that each lane has for itself ---------------------------------------------------

    def own(self, buffer: Buffer, element: Value) -> Code:
        """The same element of each lane's own array."""
        dtype = bits_type(buffer.dtype)
        start = self._own_place(buffer, element)
        parts = [
            self._load(self._part_at(start, dtype, part), dtype, self.coder.width)
            for part in range(self.coder.count)
        ]
        return Code(tuple(parts), dtype, True)

    def put_own(self, buffer: Buffer, element: Value, value: Code) -> None:
        """Writes the same element of each lane's own array."""
        start = self._own_place(buffer, element)
        for part, given in enumerate(value.parts):
            place = self._part_at(start, value.dtype, part)
            size = value.dtype.itemsize
            self.body.add(f"store {given.type} {given.text}, ptr {place.text}, align {size}")

    def _own_place(self, buffer: Buffer, element: Value) -> Value:
        lanes = self.coder.lanes
        at = (
            Value(str(int(element.text) * lanes), "i64")
            if not element.text.startswith("%")
            else self.body.value(f"mul i64 {element.text}, {lanes}", "i64")
        )
        return self._offset(Value(self.pointers[buffer.name], "ptr"), bits_type(buffer.dtype), at)

    def own_index(self, elements: Sequence[Value]) -> tuple[Value, ...]:
        """Where elements of the lanes' own arrays are, each lane having another one."""
        found = []
        for part, numbers in zip(elements, self.indices.lane_numbers(), strict=True):
            lanes = self.body.splat(
                Value(str(self.coder.lanes), f"i{self.indices.bits}"), lanes_of(part.type)
            )
            write = self.coder.write
            found.append(write.int_add(write.int_mul(part, lanes), numbers))
        return tuple(found)


def _mangled(type: str) -> str:
    head, _, element = type.rpartition(" ")
    element = element.rstrip(">")
    short = "p0" if element == "ptr" else _MANGLED.get(element, element)
    return f"v{head[1:].partition(' ')[0]}{short}" if head else short
