"""Literals: numbers as C text, from which a compiler gets every bit back."""

from __future__ import annotations

import struct
from math import isfinite, isnan

from realta.codegen.dialect import CDialect
from realta.errors import ArgumentError
from realta.types import DType, bool_, float32, float64, int64, uint32, uint64

__all__ = ["bit_pattern", "literal"]

_SHORT = 6
"""Digits of a decimal literal that people read easily."""
_HEXADECIMAL = 1 << 12
"""From here on an unsigned number is more likely a pattern of bits than a count."""


def bit_pattern(value: float, dtype: DType) -> int:
    """The bits of a float32 or float64, as an unsigned integer."""
    single = dtype is float32
    return int(struct.unpack("<I" if single else "<Q", _packed(value, single))[0])


def _packed(value: float, single: bool) -> bytes:
    try:
        return struct.pack("<f" if single else "<d", value)
    except OverflowError as error:
        raise ArgumentError(
            f"{value!r} is no {float32}", fix="round the value to the type before it is written"
        ) from error


def literal(value: bool | float, dtype: DType, dialect: CDialect) -> str:
    """A number as an expression of its type in registers; never an operand that needs brackets.

    Floats are short decimals where those are exact and hexadecimal otherwise; infinities and NaN
    are made from their bits, since not every language has names for them.

    Raises:
        ArgumentError: the type cannot hold the number.
    """
    if dtype in (float32, float64):
        return _float(float(value), dtype, dialect)
    if dtype is bool_:
        return "1" if value else "0"
    if isinstance(value, float) or not dtype.is_integer:
        raise ArgumentError(f"{value!r} is no {dtype}", fix="write an integer of the type")
    return _integer(int(value), dtype, dialect)


def _integer(value: int, dtype: DType, dialect: CDialect) -> str:
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    if not low <= value < low + (1 << dtype.bits):
        raise ArgumentError(f"{value} is no {dtype}", fix="wrap it to the type first")
    if dtype.itemsize < 4:
        text = f"({value})" if value < 0 else str(value)
        return f"({dialect.types[dtype]}){text}"
    suffix = "u" if dtype in (uint32, uint64) else ""
    suffix += dialect.long_suffix if dtype in (int64, uint64) else ""
    if value == low and value < 0:
        # There are no negative literals: the lowest integer is not the negative of one.
        return f"({value + 1}{suffix} - 1)"
    if value >= _HEXADECIMAL and dtype.kind == "uint":
        return f"{value:#x}{suffix}"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"


def _float(value: float, dtype: DType, dialect: CDialect) -> str:
    bits = bit_pattern(value, dtype)
    if not isfinite(value):
        if isnan(value):
            bits = 0x7FC00000 if dtype is float32 else 0x7FF8000000000000
        pattern = _integer(bits, uint32 if dtype is float32 else uint64, dialect)
        return f"{dialect.float_bits[dtype][0]}({pattern})"
    if dtype is float32:
        exact: float = struct.unpack("<f", struct.pack("<I", bits))[0]
    else:
        exact = value
    digits = repr(exact)
    short = len(digits.strip("-").replace(".", "")) <= _SHORT and "e" not in digits
    text = (digits if short else _hexadecimal(exact)) + ("f" if dtype is float32 else "")
    return f"({text})" if text.startswith("-") else text


def _hexadecimal(value: float) -> str:
    number, _, exponent = value.hex().partition("p")
    return number.rstrip("0").rstrip(".") + "p" + exponent if "." in number else value.hex()
