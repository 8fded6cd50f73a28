"""The safetensors encoding: named arrays and string metadata in one file, without pickle.

Eight bytes with the length of the header (little-endian), the header as JSON, the elements of all
tensors without gaps. The ``safetensors`` package reads these files, and this module its files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.errors import SerializationError
from realta.types import BY_NAME, DType, as_dtype

__all__ = ["decode", "encode"]

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


def decode(data: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The arrays (read-only, over ``data``) and the metadata of a file.

    Raises:
        SerializationError: the bytes are no such file, or are cut short or damaged.
    """
    header, begin = _header(data)
    metadata = header.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
        raise SerializationError(f"{_METADATA} is not a table of strings", fix=_FIX)
    spans = sorted((_entry(name, entry) for name, entry in header.items()), key=lambda e: e[3])
    tensors: dict[str, NDArray[Any]] = {}
    end = 0
    for name, dtype, shape, (start, stop) in spans:
        if start != end:
            raise SerializationError(
                f"the tensor {name!r} begins at byte {start} of the data, not at {end}", fix=_FIX
            )
        if begin + stop > len(data):
            raise SerializationError(
                f"the file is cut short: the tensor {name!r} ends at byte {begin + stop}, "
                f"the file at {len(data)}",
                fix=_FIX,
            )
        raw = np.frombuffer(data, dtype.numpy.newbyteorder("<"), prod(shape), begin + start)
        tensors[name] = raw.reshape(shape)
        end = stop
    if begin + end != len(data):
        raise SerializationError(
            f"{len(data) - begin - end} bytes follow the last tensor", fix=_FIX
        )
    return tensors, metadata


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    if len(data) < _LENGTH:
        raise SerializationError(
            f"the file is cut short: it has {len(data)} bytes, and its header's length alone "
            f"takes {_LENGTH}",
            fix=_FIX,
        )
    length = int.from_bytes(data[:_LENGTH], "little")
    if length > _HEADER_LIMIT:
        raise SerializationError(
            f"this is no safetensors file: its header would have {length} bytes", fix=_FIX
        )
    if _LENGTH + length > len(data):
        raise SerializationError(
            f"the file is cut short: its header ends at byte {_LENGTH + length}, "
            f"the file at {len(data)}",
            fix=_FIX,
        )
    try:
        header = json.loads(data[_LENGTH : _LENGTH + length], object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise SerializationError(f"the header is damaged: {error}", fix=_FIX) from None
    if not isinstance(header, dict):
        raise SerializationError("the header is damaged: it is not a JSON object", fix=_FIX)
    return header, _LENGTH + length


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _entry(name: str, entry: Any) -> tuple[str, DType, tuple[int, ...], tuple[int, int]]:
    try:
        dtype = _DTYPES[entry["dtype"]]
        shape = tuple(entry["shape"])
        start, stop = entry["data_offsets"]
        good = all(type(n) is int and n >= 0 for n in (*shape, start, stop))
    except (KeyError, TypeError, ValueError):
        good = False
    if not good or stop - start != prod(shape) * dtype.itemsize:
        raise SerializationError(
            f"the entry of the tensor {name!r} is damaged: {json.dumps(entry)[:200]}", fix=_FIX
        )
    return name, dtype, shape, (start, stop)
