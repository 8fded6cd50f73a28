"""Movement identities: reshapes, permutes, slices, casts and the like that undo or compose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from realta.graph import Node, Value
from realta.types import STORAGE_ONLY, DType, TensorType

__all__ = ["MOVEMENTS", "Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """An op on operands that would compute the same as a node."""

    op: str
    operands: tuple[Value, ...]
    attrs: Mapping[str, Any]


Operands = tuple[Value, ...]
Attrs = Mapping[str, Any]
Found = Call | Value | None
Rule = Callable[[Operands, Attrs, TensorType], Found]
"""``rule(operands, attrs, result type)``: a simpler call, a value that is the same, or None."""


def _inner(value: Value, op: str) -> Node | None:
    return value if isinstance(value, Node) and value.op.name == op else None


def _of_scalar(value: Value) -> Node | None:
    """The broadcast of a 0-d value: any rearrangement of it is again a broadcast."""
    inner = _inner(value, "broadcast")
    return inner if inner is not None and not inner.operands[0].type.shape else None


def _reshape(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    if x.type is type:
        return x
    inner = _inner(x, "reshape")
    if inner is not None:
        return Call("reshape", inner.operands, attrs)
    scalar = _of_scalar(x)
    return Call("broadcast", scalar.operands, {"shape": type.shape}) if scalar else None


def _permute(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    axes = attrs["axes"]
    if axes == tuple(range(len(axes))):
        return x
    inner = _inner(x, "permute")
    if inner is not None:
        return Call(
            "permute", inner.operands, {"axes": tuple(inner.attrs["axes"][a] for a in axes)}
        )
    scalar = _of_scalar(x)
    return Call("broadcast", scalar.operands, {"shape": type.shape}) if scalar else None


def _broadcast(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    if x.type is type:
        return x
    inner = _inner(x, "broadcast")
    if inner is not None:
        return Call("broadcast", inner.operands, attrs)
    inner = _inner(x, "reshape")
    if inner is not None:
        source = inner.operands[0].type.shape
        extra = len(x.type.shape) - len(source)
        if extra > 0 and all(_is_one(d) for d in x.type.shape[:extra]):
            # Leading axes of extent 1 are what broadcasting adds by itself.
            tail = x.type.with_shape(x.type.shape[extra:])
            if tail is x.type.with_shape(source):
                return Call("broadcast", inner.operands, attrs)
    return None


def _is_one(extent: Any) -> bool:
    """Whether an extent is the number 1 (a symbolic one is not, whatever it may become)."""
    return type(extent) is int and extent == 1


def _slice(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    start, step = attrs["start"], attrs["step"]
    if x.type is type and not any(start) and all(s == 1 for s in step):
        return x
    scalar = _of_scalar(x)
    if scalar is not None:
        return Call("broadcast", scalar.operands, {"shape": type.shape})
    inner = _inner(x, "slice")
    if inner is None or not type.is_static:
        return None
    parts = [
        _compose(*part)
        for part in zip(
            inner.attrs["start"], inner.attrs["step"], start, step, type.shape, strict=True
        )
    ]
    starts, stops, steps = (tuple(p[n] for p in parts) for n in range(3))
    return Call("slice", inner.operands, {"start": starts, "stop": stops, "step": steps})


def _compose(start: int, step: int, then: int, by: int, extent: Any) -> tuple[int, int, int]:
    """One axis of a slice of a slice, as the start, stop and step of one slice."""
    if extent == 0:
        return (0, 0, 1)
    first, stride = start + then * step, step * by
    if extent == 1:
        return (first, first + 1, 1)
    last = first + (extent - 1) * stride
    return (first, last + (1 if stride > 0 else -1), stride)


def _pad(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    return operands[0] if not any(attrs["low"]) and not any(attrs["high"]) else None


def _concat(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    if len(operands) == 1:
        return operands[0]
    axis = attrs["axis"]
    filled = tuple(v for v in operands if _extent(v, axis) != 0)
    if not filled or len(filled) == len(operands):
        return None
    return Call("concat", filled, attrs)


def _extent(value: Value, axis: int) -> int | None:
    """The extent of an axis, None where it is symbolic."""
    extent = value.type.shape[axis]
    return extent if type(extent) is int else None


def _cast(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    if x.type is type:
        return x
    inner = _inner(x, "cast")
    if inner is None or inner.operands[0].type is not type:
        return None
    # There and back: nothing is lost if the type in between holds every number of the first.
    return inner.operands[0] if _holds(x.type.dtype, type.dtype) else None


_PRECISION: Final[Mapping[str, tuple[int, int]]] = {
    # dtype: bits of precision, exponent range as log2 of the largest power
    "float8_e4m3fn": (4, 9), "float8_e5m2": (3, 16), "float16": (11, 16), "bfloat16": (8, 128),
    "float32": (24, 128), "float64": (53, 1024),
}  # fmt: skip


def _holds(wide: DType, narrow: DType) -> bool:
    """Whether every number of one dtype is also one of another: a cast to it loses nothing."""
    if narrow.kind == "bool":
        return wide.kind != "bool" and wide not in STORAGE_ONLY
    if wide.kind == "bool" or wide in STORAGE_ONLY:
        return False
    digits = narrow.bits - (narrow.kind == "int")
    if narrow.is_float:
        if not wide.is_float:
            return False
        (p, e), (q, f) = _PRECISION[wide.name], _PRECISION[narrow.name]
        return p > q and e >= f and wide.itemsize > narrow.itemsize
    if wide.is_float:
        p, e = _PRECISION[wide.name]
        return p >= digits and e > digits
    if narrow.kind == "int" and wide.kind == "uint":
        return False
    return wide.bits - (wide.kind == "int") >= digits


def _bitcast(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    (x,) = operands
    if x.type is type:
        return x
    inner = _inner(x, "bitcast")
    return Call("bitcast", inner.operands, attrs) if inner is not None else None


def _select(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    _, x, y = operands
    return x if x is y else None


def _update_slice(operands: Operands, attrs: Attrs, type: TensorType) -> Found:
    _, value = operands
    if value.type is not type or not type.is_static:
        return None  # a value of the operand's type replaces all of it, unless it is turned round
    return value if all(s == 1 for s in attrs["step"]) else None


MOVEMENTS: Final[Mapping[str, Rule]] = {
    "reshape": _reshape, "permute": _permute, "broadcast": _broadcast, "slice": _slice,
    "pad": _pad, "concat": _concat, "cast": _cast, "bitcast": _bitcast, "select": _select,
    "update_slice": _update_slice,
}  # fmt: skip
"""Identities by op name. Each holds bit for bit."""
