"""Lowering: every op that this backend knows, and the element types it is declared for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from realta.backend import DType, bool_, declare, float32, float64, int32, int64, uint32, uint64

from realta_jax.elementwise import ELEMENTWISE, FLOAT_ONLY, Lowering
from realta_jax.structure import STRUCTURE

__all__ = ["DTYPES", "LOWERINGS", "OPS"]

_FLOATS: Final = frozenset({float32, float64})
DTYPES: Final[frozenset[DType]] = _FLOATS | {bool_, int32, int64, uint32, uint64}
LOWERINGS: Final[Mapping[str, Lowering]] = ELEMENTWISE | FLOAT_ONLY | STRUCTURE
OPS: Final[Mapping[str, frozenset[DType]]] = {
    **declare(ELEMENTWISE, DTYPES),
    **declare(FLOAT_ONLY, _FLOATS),
    **declare(STRUCTURE, DTYPES),
}
