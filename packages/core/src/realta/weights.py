"""Weights: tensors in safetensors files, by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from realta.graph.safetensors import decode, encode
from realta.tensor import Tensor

__all__ = ["load_tensors", "save_tensors"]


def load_tensors(path: str | os.PathLike[str], *, device: Any = None) -> dict[str, Tensor]:
    """The tensors of a safetensors file.

    Args:
        path: file.
        device: where they go; the default device if left out.

    Raises:
        SerializationError: the file is truncated or not in that format.
    """
    with open(path, "rb") as file:
        arrays = decode(file.read())
    return {name: Tensor(array, device=device) for name, array in arrays[0].items()}


def save_tensors(tensors: Mapping[str, Tensor], path: str | os.PathLike[str]) -> None:
    """Writes tensors to a safetensors file; written whole or not at all."""
    data = encode({name: tensor.numpy() for name, tensor in tensors.items()}, {})
    partial = f"{os.fspath(path)}.partial"
    with open(partial, "wb") as file:
        file.write(data)
    os.replace(partial, path)
