"""The safetensors encoding: named arrays and string metadata in one file, without pickle.

Eight bytes with the length of the header (little-endian), the header as JSON, the elements of all
tensors without gaps. The ``safetensors`` package reads these files, and this module its files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from realta.errors import SerializationError
from realta.types import BY_NAME, DType, as_dtype

__all__ = ["Layout", "Span", "decode", "encode", "read_layout"]

_NAMES: Final[Mapping[str, str]] = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64",
    "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64",
    "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip
_DTYPES: Final[Mapping[str, DType]] = {short: BY_NAME[name] for name, short in _NAMES.items()}
_METADATA: Final = "__metadata__"
_LENGTH: Final = 8
_HEADER_LIMIT: Final = 2**30
_BYTES_LIMIT: Final = 2**63
_FIX: Final = "fetch or save the file again"


def encode(tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file.

    Args:
        tensors: arrays of any element types, by name.
        metadata: strings by name.

    Raises:
        DTypeError: an array's dtype is no element type.
    """
    header: dict[str, Any] = {_METADATA: dict(metadata)} if metadata else {}
    parts: list[bytes] = []
    end = 0
    # Wide elements first: then every tensor begins at a multiple of its element's size.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    for name, array in ordered:
        dtype = as_dtype(array.dtype)
        data = array.astype(dtype.numpy.newbyteorder("<"), copy=False).tobytes(order="C")
        header[name] = {
            "dtype": _NAMES[dtype.name],
            "shape": list(array.shape),
            "data_offsets": [end, end + len(data)],
        }
        parts.append(data)
        end += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *parts])


class Span(NamedTuple):
    """Where a tensor lies in a file.

    Args:
        dtype: element type.
        shape: extents.
        start: first byte, counted from the beginning of the file.
        stop: end.
    """

    dtype: DType
    shape: tuple[int, ...]
    start: int
    stop: int

    def array(self, data: bytes, offset: int = 0) -> NDArray[Any]:
        """The tensor, read-only, over bytes that hold it from ``offset`` on."""
        order = self.dtype.numpy.newbyteorder("<")
        return np.frombuffer(data, order, prod(self.shape), offset).reshape(self.shape)


class Layout(NamedTuple):
    """What a file holds, apart from the elements.

    Args:
        spans: where each tensor lies, in the order of the file.
        metadata: strings by name.
    """

    spans: Mapping[str, Span]
    metadata: Mapping[str, str]


def decode(data: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays (read-only, over ``data``) and the metadata of a file.

    Raises:
        SerializationError: the bytes are no such file, or are cut short or damaged.
    """
    layout = read_layout(lambda start, stop: data[start:stop], len(data))
    arrays = {name: span.array(data, span.start) for name, span in layout.spans.items()}
    return arrays, dict(layout.metadata)


def read_layout(read: Callable[[int, int], bytes], size: int) -> Layout:
    """The layout of a file; reads its header and nothing else.

    Args:
        read: gives the bytes from a place to another.
        size: bytes of the whole file.

    Raises:
        SerializationError: it is no such file, or is cut short or damaged.
    """
    header, begin = _header(read, size)
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
        raise SerializationError(f"{_METADATA} is not a table of strings", fix=_FIX)
    found = [(name, _span(name, entry)) for name, entry in header.items()]
    spans: dict[str, Span] = {}
    end = 0
    for name, span in sorted(found, key=lambda item: (item[1].start, item[1].stop)):
        if span.start != end:
            raise SerializationError(
                f"the tensor {name!r} begins at byte {span.start} of the data, not at {end}",
                fix=_FIX,
            )
        end = span.stop
        if begin + end > size:
            raise SerializationError(
                f"the file is cut short: the tensor {name!r} ends at byte {begin + end}, "
                f"the file at {size}",
                fix=_FIX,
            )
        spans[name] = span._replace(start=begin + span.start, stop=begin + end)
    if begin + end != size:
        raise SerializationError(f"{size - begin - end} bytes follow the last tensor", fix=_FIX)
    return Layout(spans, metadata)


def _header(read: Callable[[int, int], bytes], size: int) -> tuple[dict[str, Any], int]:
    if size < _LENGTH:
        raise SerializationError(
            f"the file is cut short: it has {size} bytes, and its header's length alone "
            f"takes {_LENGTH}",
            fix=_FIX,
        )
    length = int.from_bytes(read(0, _LENGTH), "little")
    if length > _HEADER_LIMIT:
        raise SerializationError(
            f"this is no safetensors file: its header would have {length} bytes", fix=_FIX
        )
    end = _LENGTH + length
    if end > size:
        raise SerializationError(
            f"the file is cut short: its header ends at byte {end}, the file at {size}", fix=_FIX
        )
    try:
        header = json.loads(read(_LENGTH, end), object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"the header is damaged: {error}", fix=_FIX) from None
    if not isinstance(header, dict):
        raise SerializationError("the header is damaged: it is not a JSON object", fix=_FIX)
    return header, end


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _span(name: str, entry: Any) -> Span:
    """A tensor's entry; its bytes counted from the beginning of the data."""
    try:
        dtype = _DTYPES[entry["dtype"]]
        shape = tuple(entry["shape"])
        start, stop = entry["data_offsets"]
        good = all(type(n) is int and 0 <= n < _BYTES_LIMIT for n in (*shape, start, stop))
    except (KeyError, TypeError, ValueError):
        good = False
    # Extents whose product overflows are no shape of an array, also where another one is 0.
    if not good or prod(filter(None, shape)) * dtype.itemsize >= _BYTES_LIMIT:
        raise _damaged(name, entry)
    if stop - start != prod(shape) * dtype.itemsize:
        raise _damaged(name, entry)
    return Span(dtype, shape, start, stop)


def _damaged(name: str, entry: Any) -> SerializationError:
    shown = json.dumps(entry)[:200]
    return SerializationError(f"the entry of the tensor {name!r} is damaged: {shown}", fix=_FIX)
