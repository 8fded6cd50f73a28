"""Plain data: trees and static values as JSON, for files that need no Python source to be read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.compilation.staging import Slot
from realta.errors import SerializationError
from realta.plugins import Device
from realta.tree import TreeDef, unflatten
from realta.types import DType, as_dtype

__all__ = ["pack", "pack_tree", "unpack", "unpack_tree"]

_KINDS: Final = {"tuple": tuple, "list": list, "dict": dict}
_LEAF: Final = ("leaf",)


def pack(value: Any, what: str) -> Any:
    """A static value as JSON.

    Args:
        value: None, a bool, an int, a float, text, a dtype, a device, an array or `Slot`.
        what: what it is, for errors.

    Raises:
        SerializationError: it is something else.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if value is Slot:
        return {"slot": True}
    if type(value) is float:
        return {"float": value.hex()}  # also infinities and NaN, which JSON lacks
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, Device):
        return {"device": value.name}
    if isinstance(value, np.ndarray):
        dtype = as_dtype(value.dtype)
        return {"array": [dtype.name, list(value.shape), value.tobytes().hex()]}
    raise SerializationError(
        f"{what} is {type(value).__name__}, which a file cannot hold",
        fix="pass numbers, text, dtypes or arrays, or make it part of the module",
    )


def unpack(data: Any) -> Any:
    """A static value out of JSON.

    Raises:
        KeyError, TypeError, ValueError: it was not written by `pack`.
    """
    if not isinstance(data, dict):
        return data
    ((kind, value),) = data.items()
    if kind == "slot":
        return Slot
    if kind == "float":
        return float.fromhex(value)
    if kind == "dtype":
        return as_dtype(value)
    if kind == "device":
        return Device(value)
    if kind == "array":
        name, shape, digits = value
        array = np.frombuffer(bytes.fromhex(digits), as_dtype(name).numpy)
        return array.reshape(shape)
    raise ValueError(f"an unknown kind of value {kind!r}")


def pack_tree(tree: TreeDef, what: str) -> Any:
    """A tree's structure as JSON.

    Args:
        tree: nested tuples, lists and dicts.
        what: what it is the structure of, for errors.

    Raises:
        SerializationError: a class other than these takes part, or a key that is no plain value.
    """
    steps: list[Any] = []
    for step in tree.steps:
        if step == _LEAF:
            steps.append(None)
            continue
        kind, keys, count = step
        name = next((n for n, known in _KINDS.items() if kind is known), None)
        if name is None:
            raise SerializationError(
                f"{what} are nested in {kind.__name__}, a class that a file cannot hold",
                fix="nest them in tuples, lists and dicts",
            )
        steps.append([name, keys if isinstance(keys, int) else _keys(keys, what), count])
    return {"steps": steps, "orders": [_keys(order, what) for order in tree.orders]}


def _keys(keys: Any, what: str) -> list[Any]:
    return [pack(key, f"a key of {what}") for key in keys]


def unpack_tree(data: Any) -> TreeDef:
    """A tree's structure out of JSON.

    Raises:
        KeyError, TypeError, ValueError, IndexError: it was not written by `pack_tree`.
    """
    steps: list[Any] = []
    for step in data["steps"]:
        if step is None:
            steps.append(_LEAF)
            continue
        name, keys, count = step
        wanted = keys if isinstance(keys, int) else tuple([unpack(key) for key in keys])
        steps.append((_KINDS[name], wanted, count))
    orders = tuple([tuple([unpack(key) for key in order]) for order in data["orders"]])
    tree = TreeDef(tuple(steps), orders)
    unflatten(tree, [None] * tree.count)  # raises if it is no tree
    return tree
