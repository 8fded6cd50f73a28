"""Text: LLVM IR as text: values, functions block by block, and what a module declares for them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple, Union

__all__ = [
    "Body", "Module", "Value", "float_text", "lane_bits", "lane_type", "lanes_of", "vector",
]  # fmt: skip


Line = Union[str, "list[Line]"]
"""A line of text, or a place that holds lines."""


class Value(NamedTuple):
    """An operand: its text, as ``%v3`` or a constant, and its type, as ``<8 x float>``."""

    text: str
    type: str


@cache
def vector(element: str, width: int) -> str:
    """The type of a number of lanes; of one the element's own."""
    return element if width == 1 else f"<{width} x {element}>"


@cache
def lane_type(type: str) -> str:
    """The type of the lanes of a vector, or of a number itself."""
    return type.rpartition(" ")[2].rstrip(">")


@cache
def lanes_of(type: str) -> int:
    """The number of lanes of a type; 1 of a number."""
    return int(type[1:].partition(" ")[0]) if type.startswith("<") else 1


@cache
def lane_bits(type: str) -> int:
    """The width of the lanes of a type in bits."""
    element = lane_type(type)
    return {"float": 32, "double": 64, "half": 16}.get(element) or int(element[1:])


def float_text(value: float, bits: int) -> str:
    """A float as LLVM writes it: the bits of the double that equals it."""
    if bits == 32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class Module:
    """What the functions of a module need beside themselves.

    Attributes:
        declarations: declared functions by name.
        tables: private constant arrays by what they hold.
        functions: texts of helper functions by name, those that they call before them.
    """

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.tables: dict[tuple[str, ...], tuple[str, str]] = {}
        self.functions: dict[str, str] = {}

    def declare(self, name: str, result: str, parameters: Sequence[str]) -> None:
        """Declares a function."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(parameters)})"

    def table(self, texts: Sequence[str], element: str) -> str:
        """The name of a private constant array."""
        key = (element, *texts)
        if key not in self.tables:
            # Named for what it holds: the tables of several kernels stand in one module.
            digest = hashlib.sha256(repr(key).encode()).hexdigest()
            name = f"@table_{digest[:16]}"
            held = ", ".join(f"{element} {text}" for text in texts)
            line = f"{name} = private constant [{len(texts)} x {element}] [{held}]"
            self.tables[key] = (name, line)
        return self.tables[key][0]

    def add(self, other: Module) -> None:
        """Takes in what functions of another module need."""
        self.declarations |= other.declarations
        self.tables |= other.tables
        self.functions |= other.functions

    def lines(self) -> list[str]:
        """Tables, declarations and helper functions."""
        tables = [line for _, line in self.tables.values()]
        return [*tables, *self.declarations.values(), *self.functions.values()]


class Body:
    """The blocks of one function.

    Args:
        module: where it stands.

    Attributes:
        lines: its text so far.
        label: the block that is being written.
        written: number of its instructions so far.
        flags: by mask, the i1 lanes that it was made of, as far as they are known here.
        splats: by number and width, the vector of it in all lanes, likewise.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[Line] = []
        self.label = "entry"
        self.written = 0
        self.flags: dict[Value, Value] = {}
        self.splats: dict[tuple[Value, int], Value] = {}
        self._count = 0
        self._blocks = 0

    def name(self) -> str:
        """A fresh name."""
        self._count += 1
        return f"%v{self._count}"

    def value(self, text: str, type: str) -> Value:
        """An instruction with a result."""
        name = self.name()
        self.written += 1
        self.lines.append(f"  {name} = {text}")
        return Value(name, type)

    def add(self, text: str) -> None:
        """An instruction without a result."""
        self.lines.append("  " + text)

    def call(self, function: str, result: str, operands: Sequence[Value]) -> Value:
        """A call of a function, which is declared."""
        self.module.declare(function, result, [operand.type for operand in operands])
        given = ", ".join(f"{operand.type} {operand.text}" for operand in operands)
        return self.value(f"call {result} @{function}({given})", result)

    def block(self) -> str:
        """The label of a block to come."""
        self._blocks += 1
        return f"b{self._blocks}"

    def start(self, label: str) -> None:
        """Begins a block."""
        self.lines.append(f"{label}:")
        self.label = label

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is known about values inside is forgotten afterwards."""
        known = self.flags, self.splats
        self.flags, self.splats = dict(self.flags), dict(self.splats)
        yield
        self.flags, self.splats = known

    def hole(self) -> list[Line]:
        """A place in the text that is filled later."""
        place: list[Line] = []
        self.lines.append(place)
        return place

    @contextmanager
    def into(self, place: list[Line]) -> Iterator[None]:
        """What is written inside goes to another place of the text."""
        lines, self.lines = self.lines, place
        known = self.flags, self.splats
        self.flags, self.splats = {}, {}
        yield
        self.lines = lines
        self.flags, self.splats = known

    def flat(self) -> list[str]:
        """The text, holes filled."""
        found: list[str] = []
        stack: list[Line] = [self.lines]
        while stack:
            part = stack.pop()
            if isinstance(part, str):
                found.append(part)
            else:
                stack += reversed(part)
        return found

    def splat(self, x: Value, width: int) -> Value:
        """A number in all lanes of a vector."""
        if width == 1:
            return x
        type = vector(x.type, width)
        if not x.text.startswith("%"):
            return Value(f"splat ({x.type} {x.text})", type)
        found = self.splats.get((x, width))
        if found is None:
            one = self.value(f"insertelement {type} poison, {x.type} {x.text}, i32 0", type)
            same = f"<{width} x i32> zeroinitializer"
            found = self.value(f"shufflevector {type} {one.text}, {type} poison, {same}", type)
            self.splats[x, width] = found
        return found

    def when(self, flag: Value, then: Callable[[], Value], otherwise: Value) -> Value:
        """What `then` writes if an i1 holds, else another value."""
        before, inside, after = self.label, self.block(), self.block()
        self.add(f"br i1 {flag.text}, label %{inside}, label %{after}")
        self.start(inside)
        with self.scope():
            found = then()
        last = self.label
        self.add(f"br label %{after}")
        self.start(after)
        return self.value(
            f"phi {found.type} [ {found.text}, %{last} ], [ {otherwise.text}, %{before} ]",
            found.type,
        )

    def table(self, texts: Sequence[str], element: str) -> str:
        """The name of a private constant array."""
        return self.module.table(texts, element)

    def element(self, array: str, element: str, at: Value) -> Value:
        """An element of memory."""
        place = self.value(f"getelementptr {element}, ptr {array}, {at.type} {at.text}", "ptr")
        return self.value(f"load {element}, ptr {place.text}", element)
