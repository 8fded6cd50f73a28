"""Random numbers: counter-based, the same integer bits on every device and in every mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.context import RandomState, global_state
from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import apply, as_tensor, broadcast, recording, scalar_like
from realta.functional.creation import device_name, shape_of
from realta.functional.operation import operation
from realta.functional.replay import Static
from realta.plugins import current_dtype
from realta.tensor import Tensor, wrap
from realta.types import DType, as_dtype

__all__ = [
    "Generator", "gaussian", "gaussian_like", "normal", "normal_like", "randint", "seed",
    "set_seed", "uniform", "uniform_like",
]  # fmt: skip

Shape = int | Sequence[Any]


class Generator(Static):
    """A private stream: its own key and counter, untouched by `set_seed`.

    Args:
        key: 0 <= key < 2**64.

    Raises:
        ArgumentError: the key is not such an integer.
    """

    __slots__ = ("_state",)

    def __init__(self, key: int) -> None:
        self._state = RandomState(key)

    def seed(self) -> Tensor:
        """Key and counter as uint64[2]."""
        return Tensor(self._state.snapshot())

    def uniform(self, shape: Shape = (), range: Sequence[float] = (0, 1), **options: Any) -> Tensor:
        """Like `realta.random.uniform`, from this stream."""
        return uniform(shape, range, generator=self, **options)

    def normal(
        self, shape: Shape = (), mean: float = 0.0, std: float = 1.0, **options: Any
    ) -> Tensor:
        """Like `realta.random.normal`, from this stream."""
        return normal(shape, mean, std, generator=self, **options)

    def randint(self, low: int, high: int, shape: Shape = (), **options: Any) -> Tensor:
        """Like `realta.random.randint`, from this stream."""
        return randint(low, high, shape, generator=self, **options)


def set_seed(key: int) -> None:
    """Sets the global stream's key and begins again at draw 0.

    Raises:
        ArgumentError: the key is not an integer from 0 to 2**64 - 1.
    """
    global_state.reset(key)


def seed() -> Tensor:
    """A snapshot of the global stream: key and counter as uint64[2]."""
    return Tensor(global_state.snapshot())


def _draw(
    op: str, shape: tuple[Any, ...], dtype: DType, device: str, generator: Any, **more: Any
) -> Tensor:
    """Records one draw: it takes the next counter now and gets it as a parameter.

    Arguments are checked before, so that a call that fails takes no counter.
    """
    stream = global_state if generator is None else generator._state
    context = recording()
    state = wrap(context, context.draw(stream, device))
    return apply(op, state, shape=shape, dtype=dtype, device=device, **more)


def _float(dtype: Any) -> DType:
    found = current_dtype() if dtype is None else as_dtype(dtype)
    if not found.is_float or found.itemsize < 2:
        raise DTypeError(
            f"uniform and normal draw float16, bfloat16, float32 or float64, not {found}",
            fix="use randint for integers, or cast the result",
        )
    return found


def _scalar(value: float, like: Tensor) -> Tensor:
    """A number as a parameter, stretched to the draw's shape."""
    scalar = scalar_like(float(value), like.dtype, like._type.device)
    return broadcast(scalar, like._type.shape)


@operation
def uniform(
    shape: Shape = (),
    range: Sequence[float] = (0, 1),
    *,
    dtype: Any = None,
    device: Any = None,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform values in ``[a, b)``: ``a + u * (b - a)`` with u from the mantissa bits of each lane.

    Args:
        shape: extents.
        range: a and b, with a < b.
        dtype: float type; the default float if left out.
        device: where; the default device if left out.
        generator: a private stream instead of the global one.

    Raises:
        ArgumentError: the range is not two finite numbers in order, or holds no number of the
            dtype.
    """
    found = _float(dtype)
    low, high = _bounds(range, found)
    unit = _draw("random_uniform", shape_of(shape), found, device_name(device), generator)
    if (low, high) == (0.0, 1.0):
        return unit
    scaled = apply("mul", unit, _scalar(high - low, unit))
    moved = apply("add", scaled, _scalar(low, unit))
    # Both roundings may reach b.
    return apply("minimum", moved, _scalar(_below(high, found), unit))


def _bounds(range: Sequence[float], dtype: DType) -> tuple[float, float]:
    bounds = tuple(range)
    if len(bounds) != 2 or not all(math.isfinite(b) for b in bounds) or not bounds[0] < bounds[1]:
        raise ArgumentError(
            f"the range {bounds!r} is empty or no range",
            fix="give two finite numbers (a, b) with a < b, as in (0, 1)",
        )
    low, high = (float(b) for b in bounds)
    with np.errstate(over="ignore"):
        scale = [float(np.asarray(v).astype(dtype.numpy)) for v in (low, high - low)]
    if not all(map(math.isfinite, scale)) or _below(high, dtype) < low:
        raise ArgumentError(
            f"the range {bounds!r} cannot be drawn from in {dtype}",
            fix="choose a wider dtype, or a range that it can tell apart",
        )
    return low, high


def _below(value: float, dtype: DType) -> float:
    """The largest number of a dtype below ``value``."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(value).astype(dtype.numpy)
    if float(rounded) < value:
        return float(rounded)
    return float(np.nextafter(rounded, np.asarray(-np.inf).astype(dtype.numpy)))


@operation
def normal(
    shape: Shape = (),
    mean: float = 0.0,
    std: float = 1.0,
    *,
    dtype: Any = None,
    device: Any = None,
    generator: Generator | None = None,
) -> Tensor:
    """Normal values ``mean + std * z``, z by the transform of Box and Muller (1958).

    Args:
        shape: extents.
        mean: mean.
        std: standard deviation, not negative.
        dtype: float type; the default float if left out.
        device: where; the default device if left out.
        generator: a private stream instead of the global one.

    Raises:
        ArgumentError: a negative standard deviation.
    """
    if not std >= 0:
        raise ArgumentError(f"a standard deviation of {std!r}", fix="give a number >= 0")
    found = _float(dtype)
    unit = _draw("random_normal", shape_of(shape), found, device_name(device), generator)
    if std != 1.0:
        unit = apply("mul", unit, _scalar(std, unit))
    return unit if mean == 0.0 else apply("add", unit, _scalar(mean, unit))


@operation
def randint(
    low: int,
    high: int,
    shape: Shape = (),
    *,
    dtype: Any = "int64",
    device: Any = None,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from ``low`` (included) to ``high`` (excluded).

    Args:
        low: smallest value.
        high: one more than the largest value.
        shape: extents.
        dtype: integer type.
        device: where; the default device if left out.
        generator: a private stream instead of the global one.

    Raises:
        ArgumentError: the range is empty or does not fit the dtype.
        DTypeError: the dtype is not an integer type.
    """
    found = as_dtype(dtype)
    if not found.is_integer:
        raise DTypeError(f"randint draws integers, not {found}", fix="use uniform for floats")
    info = np.iinfo(found.numpy)
    if not info.min <= low < high <= int(info.max) + 1:
        raise ArgumentError(
            f"there is no {found} from {low} to {high} (excluded)",
            fix=f"give low < high within {info.min} and {int(info.max) + 1}",
        )
    return _draw(
        "random_integers", shape_of(shape), found, device_name(device), generator,
        low=int(low), high=int(high),
    )  # fmt: skip


def uniform_like(x: Any, range: Sequence[float] = (0, 1), **options: Any) -> Tensor:
    """`uniform` in the shape, dtype and device of another tensor."""
    like = as_tensor(x)
    return uniform(like.shape, range, dtype=like.dtype, device=like._type.device, **options)


def normal_like(x: Any, mean: float = 0.0, std: float = 1.0, **options: Any) -> Tensor:
    """`normal` in the shape, dtype and device of another tensor."""
    like = as_tensor(x)
    return normal(like.shape, mean, std, dtype=like.dtype, device=like._type.device, **options)


gaussian, gaussian_like = normal, normal_like
