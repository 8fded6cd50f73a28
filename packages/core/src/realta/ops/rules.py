"""Type rules: the checks and result types that many ops share.

A rule takes operand types and attributes and gives result types; it raises without ``where``, which
the caller adds. Extents may be symbolic: a comparison that depends on their names raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from realta.errors import ArgumentError, DeviceError, DTypeError, ShapeError
from realta.types import Dim, DType, Shape, TensorType, bool_, tensor_type, uint32

__all__ = [
    "check_axes", "check_axis", "check_choice", "check_dtype", "check_rank", "check_same",
    "common_device", "comparison", "count", "drawn", "elementwise", "extents", "like", "predicate",
    "reduced", "scan",
]  # fmt: skip


def extents(shape: Sequence[int | Dim]) -> str:
    """A shape as errors show it: ``(2, 3)``."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def count(shape: Sequence[int | Dim]) -> Any:
    """The number of elements of a shape, symbolic where an extent is."""
    return prod(shape)


def common_device(types: Sequence[TensorType]) -> str:
    """The device the operands share; one without a device goes with any.

    Raises:
        DeviceError: two operands are on different devices.
    """
    named = dict.fromkeys(t.device for t in types if t.device)
    if len(named) > 1:
        raise DeviceError(
            f"the operands are on the devices {' and '.join(named)}",
            fix="move them to one device with .to",
        )
    return next(iter(named), "")


def like(
    types: Sequence[TensorType], dtype: DType | None = None, shape: Shape | None = None
) -> TensorType:
    """The first operand's type on the operands' device, with another dtype or shape if given."""
    first = types[0]
    return tensor_type(
        first.dtype if dtype is None else dtype,
        first.shape if shape is None else shape,
        common_device(types),
    )


def check_dtype(what: str, type: TensorType, allowed: Sequence[DType] | frozenset[DType]) -> None:
    """Raises DTypeError unless an operand, named by ``what``, has one of the dtypes."""
    if type.dtype not in allowed:
        names = " or ".join(sorted(d.name for d in allowed))
        raise DTypeError(f"{what} must be {names}, got {type.dtype}", fix=f"cast it to {names}")


def check_same(types: Sequence[TensorType], *, shapes: bool = True) -> None:
    """Raises unless the operands have one dtype and, if asked, one shape."""
    first = types[0]
    for other in types[1:]:
        if other.dtype is not first.dtype:
            raise DTypeError(
                f"the operands have the dtypes {first.dtype} and {other.dtype}",
                fix="cast them to one dtype",
            )
        if shapes and other.shape != first.shape:
            raise ShapeError(
                f"the operands have the shapes {extents(first.shape)} and {extents(other.shape)}",
                fix="broadcast them to one shape",
            )


def check_rank(what: str, type: TensorType, least: int) -> None:
    """Raises ShapeError unless an operand, named by ``what``, has enough axes."""
    if type.rank < least:
        raise ShapeError(
            f"{what} needs at least {least} axes, got the shape {extents(type.shape)}",
            fix="reshape it",
        )


def check_axis(axis: int, rank: int, name: str = "axis") -> None:
    """Raises ShapeError unless ``axis`` counts an axis from the start."""
    if not 0 <= axis < rank:
        has = f"the axes 0 to {rank - 1}" if rank else "no axes (it is 0-d)"
        raise ShapeError(
            f"{name} {axis} is out of range: the operand has {has}",
            fix="give an axis it has, counted from the start",
        )


def check_axes(axes: Sequence[int], rank: int, name: str = "axes") -> None:
    """Raises ShapeError unless ``axes`` are different axes counted from the start."""
    for axis in axes:
        check_axis(axis, rank, "axis")
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{name} {extents(axes)} names an axis twice", fix="name each axis once")


def elementwise(*types: TensorType, **_attrs: Any) -> TensorType:
    """Operands of one dtype and shape; the result has both."""
    if len(types) == 1:
        return types[0]
    check_same(types)
    return like(types)


def predicate(x: TensorType) -> TensorType:
    """Bool of the operand's shape."""
    return x.with_dtype(bool_)


def comparison(x: TensorType, y: TensorType) -> TensorType:
    """Operands of one dtype and shape; bool of that shape."""
    check_same((x, y))
    return like((x, y), bool_)


def reduced(
    name: str, *, identity: bool = True, dtype: DType | None = None
) -> Callable[..., TensorType]:
    """The rule of a reduction over ``axes`` (or one ``axis``), which are removed.

    Args:
        name: name of the op, for errors.
        identity: whether a reduction over nothing has a value.
        dtype: dtype of the result where it is not the operand's.
    """

    def rule(
        x: TensorType, *, axes: tuple[int, ...] = (), axis: int | None = None, **_: Any
    ) -> TensorType:
        if axis is None:
            check_axes(axes, x.rank)
        else:
            check_axis(axis, x.rank)
            axes = (axis,)
        for a in axes:
            extent = x.shape[a]
            if not identity and type(extent) is int and extent == 0:
                raise ShapeError(
                    f"{name} over axis {a} of extent 0 has no value",
                    fix="give it at least one element along the axis",
                )
        kept = tuple(d for n, d in enumerate(x.shape) if n not in axes)
        return tensor_type(dtype or x.dtype, kept, x.device)

    return rule


def scan(x: TensorType, *, axis: int, **_attrs: Any) -> TensorType:
    """The operand's type, given an axis it has."""
    check_axis(axis, x.rank)
    return x


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raises ArgumentError unless a string attribute is one of the choices."""
    if value not in choices:
        raise ArgumentError(
            f"the attribute {name!r} is one of {', '.join(map(repr, choices))}, got {value!r}",
            fix="choose one of them",
        )


def drawn(state: TensorType, shape: Shape, dtype: DType, device: str) -> TensorType:
    """The type of what is drawn from a random state, on its device if none is named."""
    check_dtype("the state", state, (uint32,))
    if state.shape != (4,):
        raise ShapeError(
            f"the state has the shape {extents(state.shape)}, not (4,)",
            fix="give counter low, counter high, key low, key high",
        )
    return tensor_type(dtype, shape, device or state.device)
