"""DType: the element types, their categories and their storage in NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np

from realta.errors import DTypeError

_FROM_ML_DTYPES: Final = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
"""Types that NumPy itself lacks."""
Kind = Literal["bool", "int", "uint", "float"]


class DType:
    """An element type. There is one object per type, so ``is`` compares them.

    Attributes:
        name: the full name, as in ``realta.float32``.
        short: the name in printed graphs, as in ``f32[2,3]``.
        kind: ``"bool"``, ``"int"``, ``"uint"`` or ``"float"``.
        itemsize: bytes of one element in memory.
        numpy: the NumPy dtype that stores it (ml_dtypes for bfloat16 and float8).
    """

    __slots__ = ("itemsize", "kind", "name", "numpy", "short")

    name: str
    short: str
    kind: Kind
    itemsize: int
    numpy: np.dtype[Any]

    def __init__(self, name: str, short: str, kind: Kind, itemsize: int) -> None:
        self.name = name
        self.short = short
        self.kind = kind
        self.itemsize = itemsize
        if name not in _FROM_ML_DTYPES:
            self.numpy = np.dtype(name)

    @property
    def bits(self) -> int:
        """Width in bits."""
        return self.itemsize * 8

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer type (bool is neither)."""
        return self.kind in ("int", "uint")

    @property
    def is_half(self) -> bool:
        """Whether composites of this type compute in float32 and round once (16 bits or fewer)."""
        return self.kind == "float" and self.itemsize <= 2

    def __repr__(self) -> str:
        return f"realta.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, ...]:
        return (as_dtype, (self.name,))


class _MlDType(DType):
    """An element type that NumPy lacks; its NumPy dtype is made when it is first asked for.

    ml_dtypes costs as much to import as a third of NumPy, and few programs need it.
    """

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name != "numpy":
            raise AttributeError(f"'DType' object has no attribute {name!r}")
        self.numpy = np.dtype(getattr(importlib.import_module("ml_dtypes"), self.name))
        return self.numpy


bool_: Final = DType("bool", "bool", "bool", 1)
int8: Final = DType("int8", "i8", "int", 1)
int16: Final = DType("int16", "i16", "int", 2)
int32: Final = DType("int32", "i32", "int", 4)
int64: Final = DType("int64", "i64", "int", 8)
uint8: Final = DType("uint8", "u8", "uint", 1)
uint16: Final = DType("uint16", "u16", "uint", 2)
uint32: Final = DType("uint32", "u32", "uint", 4)
uint64: Final = DType("uint64", "u64", "uint", 8)
float16: Final = DType("float16", "f16", "float", 2)
bfloat16: Final[DType] = _MlDType("bfloat16", "bf16", "float", 2)
float32: Final = DType("float32", "f32", "float", 4)
float64: Final = DType("float64", "f64", "float", 8)
float8_e4m3fn: Final[DType] = _MlDType("float8_e4m3fn", "f8e4m3fn", "float", 1)
float8_e5m2: Final[DType] = _MlDType("float8_e5m2", "f8e5m2", "float", 1)

DTYPES: Final[tuple[DType, ...]] = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2,
)  # fmt: skip
BY_NAME: Final[Mapping[str, DType]] = {d.name: d for d in DTYPES}
BY_SHORT: Final[Mapping[str, DType]] = {d.short: d for d in DTYPES}
STORAGE_ONLY: Final[frozenset[DType]] = frozenset({float8_e4m3fn, float8_e5m2})
"""Types that can be stored and cast, but not computed in."""
INTEGERS: Final[frozenset[DType]] = frozenset(d for d in DTYPES if d.is_integer)
FLOATS: Final[frozenset[DType]] = frozenset(d for d in DTYPES if d.is_float) - STORAGE_ONLY
NUMERIC: Final[frozenset[DType]] = INTEGERS | FLOATS
COMPUTABLE: Final[frozenset[DType]] = NUMERIC | {bool_}

_BY_NUMPY: Final[dict[np.dtype[Any], DType]] = {
    d.numpy: d for d in DTYPES if d.name not in _FROM_ML_DTYPES
}
_BY_PYTHON: Final[Mapping[type, DType]] = {bool: bool_, int: int64}


def as_dtype(spec: object) -> DType:
    """The DType for ``realta.float32``, ``"float32"``, a NumPy or ml_dtypes type, or a tensor type.

    Raises:
        DTypeError: there is no such element type; complex types are named as not in this version.
    """
    if isinstance(spec, DType):
        return spec
    if isinstance(spec, str) and spec in BY_NAME:
        return BY_NAME[spec]
    own = getattr(spec, "dtype", None)
    if isinstance(own, DType):
        return own
    if isinstance(spec, type) and spec in _BY_PYTHON:
        return _BY_PYTHON[spec]
    if spec is float:
        return float32
    numpy = _numpy_dtype(spec)
    if numpy is not None:
        native = numpy if numpy.isnative else numpy.newbyteorder("=")
        found = _BY_NUMPY.get(native)
        if found is None and native.name in _FROM_ML_DTYPES:
            found = _BY_NUMPY[native] = BY_NAME[native.name]
        if found is not None:
            return found
        if numpy.kind == "c":
            raise DTypeError(
                f"dtype {numpy} is complex, and complex numbers are not in this version",
                fix="keep real and imaginary parts as two tensors or as a last axis of size 2",
            )
    raise DTypeError(
        f"{spec!r} is not an element type", fix="use one of " + ", ".join(d.name for d in DTYPES)
    )


def _numpy_dtype(spec: object) -> np.dtype[Any] | None:
    """What NumPy makes of a type, a NumPy dtype or its text; None for everything else.

    ``np.dtype(None)`` is float64 and any object with a ``dtype`` is asked for it, so NumPy is asked
    about these three only.
    """
    if isinstance(spec, np.dtype):
        return spec
    if not isinstance(spec, (str, type)):
        return None
    try:
        return np.dtype(spec)
    except TypeError:
        return None
