"""The literal parser: types, attribute values and constants out of a graph text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from realta.errors import RealtaError
from realta.graph.graph import Graph
from realta.graph.literals import DEVICE
from realta.graph.scanner import Scanner
from realta.ops import ConstantData
from realta.types import BY_SHORT, Dim, DType, TensorType, as_dim, convert_scalar, tensor_type

__all__ = ["STRING", "LiteralParser"]

STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TYPE: Final = re.compile(
    rf'([A-Za-z]\w*)\[([^\[\]\n]*)\](?:@(?:({DEVICE})|("(?:[^"\\\n]|\\.)*")))?'
)
_INTEGER: Final = re.compile(r"-?\d+(?=\s*[,\])])")
_NUMBER: Final = re.compile(
    r"-?(?:inf\b|nan\b(?::0x[0-9a-f]+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|true\b|false\b"
)
_BOOL: Final = re.compile(r"(true|false)\b")
_NAME: Final = re.compile(r"[A-Za-z]\w*")
_DIGEST: Final = re.compile(r"#([0-9a-f]+)")
_DIGEST_FIX: Final = "load the container that the graph was saved in, or pass constants="


class LiteralParser:
    """Reads literals at the position of a scanner.

    Args:
        scanner: the text.
        constants: constants too large for the text, by digest.
    """

    def __init__(self, scanner: Scanner, constants: Mapping[str, ConstantData]) -> None:
        self.scanner = scanner
        self.constants = constants
        self.graphs: list[tuple[str, Graph]] = []
        """The graphs that stood in attributes so far, with their texts."""
        self._types: dict[str, TensorType] = {}

    def literal(self, kind: str) -> Any:
        """An attribute value of a kind of `realta.ops.Attr`."""
        return _READERS[kind](self)

    def type(self) -> TensorType:
        """A tensor type: ``f32[batch, 3]@numpy:0``."""
        found = self.scanner.match(_TYPE)
        if found is None:
            raise self._expected("a type such as f32[2, 3]")
        text = found.group(0)
        known = self._types.get(text)
        if known is None:
            dtype = self._dtype_named(found.group(1), self.scanner.start)
            shape = tuple(
                self._extent(part, position)
                for part, position in _split(found.group(2), found.start(2))
            )
            quoted = found.group(4)
            device = json.loads(quoted) if quoted else found.group(3) or ""
            known = self._types[text] = tensor_type(dtype, shape, device)
        return known

    def _expected(self, what: str) -> Exception:
        return self.scanner.error(f"expected {what}, found {self.scanner.found()}")

    def _dtype_named(self, name: str, position: int) -> DType:
        found = BY_SHORT.get(name)
        if found is None:
            raise self.scanner.error(
                f"{name!r} is no element type", at=position, fix=f"use one of {', '.join(BY_SHORT)}"
            )
        return found

    def _extent(self, text: str, position: int) -> int | Dim:
        try:
            return as_dim(text)
        except RealtaError as error:
            raise self.scanner.error(error.what, at=position, fix=error.fix) from None

    def _integer(self) -> int | Dim:
        found = self.scanner.match(_INTEGER)
        if found is not None:
            return int(self._number(found.group(0)))
        start = self.scanner.start
        text = self.scanner.text[start : _expression_end(self.scanner.text, start)]
        if not text.strip():
            raise self._expected("an integer")
        try:
            value = Dim(text)
        except RealtaError as error:
            raise self.scanner.error(error.what, fix=error.fix) from None
        self.scanner.position = start + len(text)
        return value

    def _integers(self) -> tuple[int | Dim, ...]:
        return tuple(self._list(self._integer, "an integer"))

    def _shape(self) -> tuple[int | Dim, ...]:
        start = self.scanner.start
        shape = self._integers()
        if any(type(d) is int and d < 0 for d in shape):
            raise self.scanner.error("an extent cannot be negative", at=start, fix="give ints >= 0")
        return shape

    def _pads(self) -> tuple[tuple[int | Dim, ...], ...]:
        return tuple(self._list(self._integers, "a pair of integers"))

    def _type_list(self) -> tuple[TensorType, ...]:
        return tuple(self._list(self.type, "'='"))

    def _list(self, item: Callable[[], Any], what: str) -> list[Any]:
        self.scanner.expect("[", "'='" if what == "an integer" else what)
        items: list[Any] = []
        if self.scanner.accept("]"):
            return items
        while True:
            items.append(item())
            if not self.scanner.accept(","):
                break
        self.scanner.expect("]", "the list")
        return items

    def _float(self) -> int | float:
        found = self.scanner.match(_NUMBER)
        text = found.group(0) if found else ""
        if not text or text in ("true", "false") or ":" in text:
            raise self._expected("a number")
        return self._number(text)

    def _bool(self) -> bool:
        found = self.scanner.match(_BOOL)
        if found is None:
            raise self._expected("true or false")
        return found.group(1) == "true"

    def string(self) -> str:
        """A string in double quotes, with JSON's escapes."""
        found = self.scanner.match(STRING)
        if found is None:
            raise self._expected("a string in double quotes")
        try:
            return str(json.loads(found.group(0)))
        except ValueError:
            raise self.scanner.error("the string has an escape that JSON does not have") from None

    def _dtype(self) -> DType:
        found = self.scanner.match(_NAME)
        if found is None:
            raise self._expected("an element type such as f32")
        return self._dtype_named(found.group(0), self.scanner.start)

    def _array(self) -> ConstantData:
        type = self.type()
        if not type.is_static or type.device:
            raise self.scanner.error("a constant has integer extents and no device here")
        found = self.scanner.match(_DIGEST)
        if found is not None:
            return self._carried(found.group(1), type)
        start = self.scanner.start
        elements = self._elements(type.dtype)
        if len(elements) != type.size:
            raise self.scanner.error(
                f"{type} has {type.size} element(s), but {len(elements)} are written", at=start
            )
        array = np.empty(type.static_shape, type.dtype.numpy)
        flat = array.reshape(-1)
        for number, element in enumerate(elements):
            flat[number] = element
        return ConstantData(array)

    def _carried(self, digest: str, type: TensorType) -> ConstantData:
        data = self.constants.get(digest)
        if data is None:
            raise self.scanner.error(
                f"the text does not carry the constant #{digest}", fix=_DIGEST_FIX
            )
        if data.dtype is not type.dtype or data.shape != type.shape:
            raise self.scanner.error(
                f"the constant #{digest} is {data.dtype.short}{list(data.shape)}, not {type}"
            )
        return data

    def _elements(self, dtype: DType) -> list[Any]:
        """Elements in row-major order; the brackets around them are for the reader."""
        elements: list[Any] = []
        depth = 0
        while True:
            if self.scanner.accept("["):
                depth += 1
                if not self.scanner.accept("]"):
                    continue
                depth -= 1
            else:
                elements.append(self._element(dtype))
            while depth and not self.scanner.accept(","):
                self.scanner.expect("]", "the elements")
                depth -= 1
            if not depth:
                return elements

    def _number(self, text: str) -> int | float:
        try:
            return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
        except ValueError:  # Python reads no more than some thousand digits
            raise self.scanner.error("the number has too many digits") from None

    def _element(self, dtype: DType) -> Any:
        found = self.scanner.match(_NUMBER)
        if found is None:
            raise self._expected(f"a value of {dtype}")
        text = found.group(0)
        if (text in ("true", "false")) != (dtype.kind == "bool"):
            raise self.scanner.error(f"{text} is no value of {dtype}")
        if dtype.kind == "bool":
            return text == "true"
        if ":" in text:
            return self._payload(int(text.partition(":")[2], 16), dtype)
        try:
            return convert_scalar(self._number(text), dtype)
        except RealtaError as error:
            raise self.scanner.error(error.what, fix=error.fix) from None

    def _payload(self, bits: int, dtype: DType) -> Any:
        if not dtype.is_float or bits >> dtype.bits:
            raise self.scanner.error(f"{dtype} has no such NaN")
        found = np.array([bits], f"u{dtype.itemsize}").view(dtype.numpy)
        if not np.isnan(found)[0]:
            raise self.scanner.error(f"{bits:#x} are not the bits of a NaN in {dtype}")
        return found[0]


def _split(text: str, position: int) -> list[tuple[str, int]]:
    """The extents between commas, each with its position; commas in parentheses do not count."""
    parts: list[tuple[str, int]] = []
    start = 0
    while text.strip():
        end = _expression_end(text, start)
        piece = text[start:end]
        lead = len(piece) - len(piece.lstrip())
        parts.append((piece.strip(), position + start + lead))
        if end >= len(text):
            break
        start = end + 1
    return parts


def _expression_end(text: str, start: int) -> int:
    """Where an expression ends: at a comma, a bracket or a line's end outside of parentheses."""
    depth = 0
    for position in range(start, len(text)):
        sign = text[position]
        if sign in "(":
            depth += 1
        elif sign == ")" and depth:
            depth -= 1
        elif sign in "]\n" or (sign in ",)" and not depth):
            return position
    return len(text)


_READERS: Final[Mapping[str, Callable[[LiteralParser], Any]]] = {
    "int": LiteralParser._integer,
    "float": LiteralParser._float,
    "bool": LiteralParser._bool,
    "str": LiteralParser.string,
    "dtype": LiteralParser._dtype,
    "ints": LiteralParser._integers,
    "shape": LiteralParser._shape,
    "pads": LiteralParser._pads,
    "type": LiteralParser.type,
    "types": LiteralParser._type_list,
    "array": LiteralParser._array,
}
