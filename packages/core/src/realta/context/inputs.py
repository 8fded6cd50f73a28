"""Inputs of a recorded graph that are bound at run time: numbers, random states, weights."""

from __future__ import annotations

from typing import Any

from realta.context.seed import RandomState
from realta.graph import Input
from realta.types import TensorType, tensor_type, uint32

__all__ = ["DrawInput", "ExternalInput", "ScalarInput"]


class ScalarInput(Input):
    """A Python number given at run time, so that another number does not recompile anything.

    Attributes:
        scalar: the number as the user wrote it.
    """

    __slots__ = ("scalar",)

    def __init__(self, scalar: bool | float, array: Any, type: TensorType) -> None:
        super().__init__(type, "", array)
        self.scalar = scalar


class DrawInput(Input):
    """The random state of one draw.

    Args:
        stream: where a later run of the same graph takes its counter from.
        device: where the draw is computed.
        words: the state if the draw takes its counter now; None in a graph, whose every call does.
    """

    __slots__ = ("stream",)

    def __init__(self, stream: RandomState, device: str, words: Any = None) -> None:
        super().__init__(tensor_type(uint32, (4,), device), "", words)
        self.stream = stream


class ExternalInput(Input):
    """A tensor that a traced function reads by name; each call says which one it is.

    It stands for the handle while the graph is traced, so the handle need not be real.
    """

    __slots__ = ()
