"""Digest: the structure of a graph as a short text that is the same in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from realta.graph import Graph, graph_key
from realta.ops import ConstantData, OpDef
from realta.types import TensorType

__all__ = ["graph_digest"]


def graph_digest(graph: Graph) -> str:
    """A digest that two graphs share if and only if they are equal."""
    return hashlib.sha256(_text(graph_key(graph)).encode()).hexdigest()[:24]


def _text(part: Any) -> str:
    """A part of a graph's key; it nests as deep as attributes do, not as graphs do."""
    if isinstance(part, tuple):
        return f"({','.join(map(_text, part))})"
    if isinstance(part, Mapping):
        return f"{{{','.join(f'{k}={_text(v)}' for k, v in part.items())}}}"
    if isinstance(part, OpDef):
        return part.name
    if isinstance(part, ConstantData):
        return f"{part.dtype.short}{part.shape}#{part.digest}"
    return str(part) if isinstance(part, TensorType) else repr(part)
