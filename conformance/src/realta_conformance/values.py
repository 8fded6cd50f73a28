"""Values: deterministic operands for every domain and dtype, special values on purpose.

Every array is drawn from a generator seeded by the id of its case, so a case has the same operands
on every machine, in every order, alone or in company.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from realta.errors import ArgumentError
from realta.types import DType

from realta_conformance.formats import FORMATS, Array, native, round_to
from realta_conformance.truth.integers import limits

__all__ = ["DOMAINS", "SEED", "draw", "generator", "special_values"]

Generator = np.random.Generator
Shape = tuple[int, ...]


SEED: Final = 0
"""Printed in every report; with it and its id a case has its values."""


def generator(*names: object) -> Generator:
    """A random generator that depends on names only."""
    text = "/".join(map(str, (SEED, *names)))
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))


def _any(g: Generator, n: int, dtype: DType) -> Array:
    reach = 6 if dtype.is_half else 12
    values = g.uniform(-4, 4, n)
    large = g.normal(size=n) * 2.0 ** g.integers(-reach, reach, n)
    whole = g.integers(-5, 6, n).astype(np.float64)
    choice = g.random(n)
    return np.where(choice < 0.7, values, np.where(choice < 0.9, large, whole))


def _nonzero(g: Generator, n: int, dtype: DType) -> Array:
    values = _any(g, n, dtype)
    return np.where(np.abs(values) < 2.0**-6, 1.5, values)


def _extreme(g: Generator, n: int, dtype: DType) -> Array:
    return np.resize(special_values(dtype), n)


_FLOATS: Final[Mapping[str, Callable[[Generator, int, DType], Array]]] = {
    "any": _any,
    "positive": lambda g, n, dtype: np.abs(_nonzero(g, n, dtype)),
    "nonzero": _nonzero,
    "unit": lambda g, n, dtype: g.uniform(-1, 1, n),
    "small": lambda g, n, dtype: g.uniform(-2, 2, n),
    "integers": lambda g, n, dtype: g.integers(-10, 11, n).astype(np.float64),
    "probability": lambda g, n, dtype: g.uniform(2.0**-10, 1 - 2.0**-8, n),
    "sorted": lambda g, n, dtype: np.sort(_any(g, n, dtype)),
    "special": _extreme,
}


def _any_int(g: Generator, n: int, dtype: DType) -> Array:
    low, high = limits(dtype)
    full = g.integers(low, high, n, dtype=dtype.numpy, endpoint=True)
    near = g.integers(max(low, -100), min(high, 100), n, dtype=dtype.numpy, endpoint=True)
    return np.where(g.random(n) < 0.6, near, full)


def _between(first: int, last: int) -> Callable[[Generator, int, DType], Array]:
    def values(g: Generator, n: int, dtype: DType) -> Array:
        low, high = limits(dtype)
        return g.integers(max(low, first), min(high, last), n, dtype=dtype.numpy, endpoint=True)

    return values


def _nonzero_int(g: Generator, n: int, dtype: DType) -> Array:
    values = _any_int(g, n, dtype)
    return np.where(values == 0, np.array(3, dtype.numpy), values)


_INTS: Final[Mapping[str, Callable[[Generator, int, DType], Array]]] = {
    "any": _any_int,
    "positive": _between(1, 100),
    "nonzero": _nonzero_int,
    "unit": _between(-1, 1),
    "small": _between(-8, 8),
    "integers": _between(-10, 10),
    "probability": _between(0, 1),
    "sorted": lambda g, n, dtype: np.sort(_any_int(g, n, dtype)),
    "special": lambda g, n, dtype: np.resize(special_values(dtype), n),
}
DOMAINS: Final = (*_FLOATS, "indices")


def special_values(dtype: DType) -> Array:
    """Values at which implementations differ: NaN, infinities, zeros, extremes, ties."""
    if dtype.kind == "bool":
        return np.array([True, False])
    if dtype.is_integer:
        low, high = limits(dtype)
        near = [
            0,
            1,
            2,
            3,
            7,
            5,
            high,
            low,
            high - 1,
            low + 1,
            high // 2,
            dtype.bits - 1,
            dtype.bits,
        ]
        near += [-1, -2, -3, -7] if low < 0 else [4, 6, 8, 9]
        return np.array(near, dtype.numpy)
    form = FORMATS[dtype]
    values = [
        math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0,
        form.tiny, -form.tiny, form.smallest, -form.smallest, form.tiny * 0.5, form.largest,
        -form.largest, form.eps, 1 + form.eps, 1 - form.eps / 2, 100.25, -7.75,
    ]  # fmt: skip
    if not form.infinite:
        values = [v for v in values if not math.isinf(v)]
    return round_to(dtype, np.array(values))


def _special(number: int, shape: Shape, dtype: DType, turn: int) -> Array:
    """Special values in an order that pairs each with different ones of another operand.

    Operand 0 runs through the list; operand n starts elsewhere and moves on in every round, so that
    equal, opposite and unrelated values meet.
    """
    values = special_values(dtype)
    place = np.arange(math.prod(shape))
    rounds = place // len(values)
    chosen = (place + turn * 5 + number * (1 + 5 * rounds)) % len(values)
    return np.asarray(values[chosen]).reshape(shape)


def draw(
    domain: str,
    dtype: DType,
    shape: Shape,
    *,
    seed: Generator,
    number: int = 0,
    turn: int = 0,
    extent: int | None = None,
) -> Array:
    """An operand in the storage of its dtype.

    Args:
        domain: name of the domain of `realta.ops.Sample`.
        dtype: its element type.
        shape: its shape.
        seed: where randomness comes from.
        number: which operand it is; special values of different operands are paired by it.
        turn: which call it is for; special values start elsewhere in each.
        extent: length of the axis that ``indices`` point into, half of them from its end.

    Raises:
        ArgumentError: there is no such domain.
    """
    if domain not in DOMAINS:
        raise ArgumentError(
            f"there is no domain {domain!r}", fix="use one of " + ", ".join(DOMAINS)
        )
    n = math.prod(shape)
    if domain == "indices":
        reach = 1 if extent is None else max(extent, 1)
        low = -reach if dtype.kind == "int" else 0
        return seed.integers(low, reach, n, dtype=dtype.numpy).reshape(shape)
    if domain == "special":
        return native(dtype, _special(number, shape, dtype, turn))
    if dtype.kind == "bool":
        return (seed.random(n) < 0.5).reshape(shape)
    if dtype.is_integer:
        return native(dtype, _INTS[domain](seed, n, dtype)).reshape(shape)
    return native(dtype, round_to(dtype, _FLOATS[domain](seed, n, dtype))).reshape(shape)
