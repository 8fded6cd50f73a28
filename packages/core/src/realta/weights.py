"""Weights: tensors in safetensors files, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from realta.errors import SerializationError
from realta.graph.safetensors import decode, encode
from realta.tensor import Tensor

__all__ = ["load_tensors", "save_tensors"]

Path = str | os.PathLike[str]


def load_tensors(path: Path, *, device: Any = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Args:
        path: file.
        device: where they go; the default device if left out.

    Raises:
        SerializationError: the file is cut short, damaged or not in that format.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        arrays, _ = decode(data)
    except SerializationError as error:
        raise error.at(os.fspath(path)) from None
    return {name: Tensor(array, device=device) for name, array in arrays.items()}


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes tensors to a safetensors file, whole or not at all.

    Args:
        tensors: tensors by name; unrealized ones become real.
        path: file; replaced if it exists.
    """
    data = encode({name: _array(tensor) for name, tensor in tensors.items()}, {})
    partial = f"{os.fspath(path)}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _array(tensor: Any) -> np.ndarray[Any, Any]:
    return tensor.numpy() if isinstance(tensor, Tensor) else np.asarray(tensor)
