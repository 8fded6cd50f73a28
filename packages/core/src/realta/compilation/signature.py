"""Signature: the types of a graph's tensor arguments, and how a call's tensors meet them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from realta.context import caller_location
from realta.errors import DeviceError, DTypeError, ShapeError
from realta.tensor import Tensor
from realta.types import Dim, Shape, TensorType

__all__ = ["Signature", "bind_names", "check_shape"]

_FIX = "pass a tensor of the declared shape"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a graph expects.

    Args:
        name: name of the graph.
        types: types of its tensor arguments, in order; symbolic dimensions are names.
        labels: how errors name each argument: ``0``, ``1.weight``.
    """

    name: str
    types: tuple[TensorType, ...]
    labels: tuple[str, ...]

    def bind(self, tensors: Sequence[Tensor]) -> dict[str, int]:
        """Checks the tensors of a call; returns what the names of dimensions stand for.

        Raises:
            DTypeError, DeviceError, ShapeError: naming the argument, and the dimension.
        """
        names: dict[str, int] = {}
        mismatched = []
        for number, (wanted, tensor) in enumerate(zip(self.types, tensors, strict=True)):
            given = tensor._type
            if given is wanted:
                continue
            if given.dtype is not wanted.dtype:
                raise DTypeError(
                    f"expected {wanted}, got {given}",
                    where=self._place(number),
                    fix=f"cast it, as in t.cast({wanted.dtype})",
                )
            if wanted.device and given.device != wanted.device:
                raise DeviceError(
                    f"expected {wanted}, got {given}",
                    where=self._place(number),
                    fix=f'move it, as in t.to("{wanted.device}")',
                )
            mismatched.append(number)
        # Every name occurs alone somewhere; expressions are worked out when all names are known.
        for step in (bind_names, check_shape):
            for number in mismatched:
                try:
                    step(self.types[number].shape, tensors[number]._type.static_shape, names)
                except ShapeError as error:
                    raise error.at(self._place(number)) from None
        return names

    def _place(self, number: int) -> str:
        return f"argument {self.labels[number]} of {self.name} at {caller_location()}"


def bind_names(declared: Shape, given: tuple[int, ...], names: dict[str, int]) -> None:
    """Binds the names that stand alone in a declared shape to the extents of a tensor.

    Args:
        declared: extents; ints, names and expressions of names.
        given: the tensor's extents.
        names: what is bound so far; added to.

    Raises:
        ShapeError: the ranks differ, or a name would be bound to two numbers.
    """
    if len(declared) != len(given):
        shown = "(" + ", ".join(map(str, declared)) + ")"
        raise ShapeError(f"expected the {len(declared)} axes {shown}, got shape {given}", fix=_FIX)
    for axis, (wanted, extent) in enumerate(zip(declared, given, strict=True)):
        if isinstance(wanted, Dim) and str(wanted) in wanted.names:
            known = names.setdefault(str(wanted), extent)
            if known != extent:
                raise ShapeError(
                    f"axis {axis} is {wanted}, which another argument makes {known}, but it is "
                    f"{extent} here",
                    fix=_FIX,
                )


def check_shape(declared: Shape, given: tuple[int, ...], names: dict[str, int]) -> None:
    """Checks a tensor's extents against a declared shape whose names are all bound.

    Raises:
        ShapeError: an extent differs, or a name stands alone nowhere.
    """
    for axis, (wanted, extent) in enumerate(zip(declared, given, strict=True)):
        if isinstance(wanted, Dim):
            found = wanted.evaluate(names)
            label = f"{wanted} = {found}"
        else:
            found, label = wanted, str(wanted)
        if found != extent:
            raise ShapeError(f"axis {axis} is {label}, but it is {extent} here", fix=_FIX)
