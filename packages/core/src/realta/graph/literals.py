"""Literals: types, attribute values and constants as graph texts write them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from realta.ops import ConstantData
from realta.types import DType, TensorType, convert_scalar

__all__ = ["DEVICE", "INLINE_ELEMENTS", "literal_text", "type_text"]

INLINE_ELEMENTS: Final = 16
"""Constants with more elements are named by their digest; the container carries them."""
DEVICE: Final = r"[A-Za-z0-9_.:\-]+"
"""A device name that stands in a text as it is; others are quoted as JSON strings."""

_DEVICE: Final = re.compile(DEVICE)


def type_text(type: TensorType) -> str:
    """A tensor type: ``f32[batch, 3]@numpy:0``."""
    text = f"{type.dtype.short}[{', '.join(map(str, type.shape))}]"
    if not type.device:
        return text
    plain = _DEVICE.fullmatch(type.device)
    return f"{text}@{type.device if plain else json.dumps(type.device)}"


def literal_text(kind: str, value: Any) -> str:
    """An attribute value of a kind of `realta.ops.Attr`."""
    return _WRITERS[kind](value)


def _list_text(values: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _types_text(types: Sequence[TensorType]) -> str:
    return f"[{', '.join(map(type_text, types))}]"


def _pads_text(values: Sequence[Sequence[Any]]) -> str:
    return _list_text([_list_text(pair) for pair in values])


def _array_text(data: ConstantData) -> str:
    head = f"{data.dtype.short}{_list_text(data.shape)}"
    if data.array.size > INLINE_ELEMENTS:
        return f"{head} #{data.digest}"
    elements = [_element_text(e, data.dtype) for e in data.array.reshape(-1)]
    return f"{head} {_nested_text(elements, data.shape)}"


def _nested_text(elements: list[str], shape: tuple[int, ...]) -> str:
    """Elements in row-major order as nested lists; ``[]`` where there are none."""
    if not elements:
        return "[]"
    for extent in reversed(shape):
        elements = [
            f"[{', '.join(elements[start : start + extent])}]"
            for start in range(0, len(elements), extent)
        ]
    return elements[0]


def _element_text(element: np.generic, dtype: DType) -> str:
    if dtype.kind == "bool":
        return "true" if element else "false"
    if not dtype.is_float:
        return str(int(element))
    return _float_text(float(element), element, dtype)


def _float_text(value: float, element: np.generic, dtype: DType) -> str:
    """The shortest decimal that gives the same bits again."""
    bits = element.tobytes()
    if math.isnan(value):
        if convert_scalar(math.nan, dtype).tobytes() == bits:
            return "nan"
        payload = np.frombuffer(bits, f"u{dtype.itemsize}")[0]
        return f"nan:{int(payload):#x}"
    for digits in range(1, 17):
        short = float(f"{value:.{digits}g}")
        if convert_scalar(short, dtype).tobytes() == bits:
            return repr(short)
    return repr(value)


_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "int": str,
    "float": repr,
    "bool": lambda value: "true" if value else "false",
    "str": json.dumps,
    "dtype": lambda value: str(value.short),
    "ints": _list_text,
    "shape": _list_text,
    "pads": _pads_text,
    "type": type_text,
    "types": _types_text,
    "array": _array_text,
}
