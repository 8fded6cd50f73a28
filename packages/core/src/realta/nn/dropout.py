"""Dropout: kept for models that have it; this version computes without gradients."""

from __future__ import annotations

from realta.context import caller_location
from realta.errors import ArgumentError
from realta.functional.arguments import same_version
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["Dropout"]


class Dropout(Module):
    """The identity: dropout acts in training only, and this version has no gradients.

    It stands in models so that their structure and the names of their parameters are those of the
    checkpoint.

    Args:
        rate: the part of the elements that training would set to zero.

    Raises:
        ArgumentError: the rate is not from 0 to 1.
    """

    def __init__(self, rate: float = 0.5) -> None:
        if not 0.0 <= rate <= 1.0:
            raise ArgumentError(
                f"a dropout rate of {rate}",
                where=str(caller_location()),
                fix="give a number from 0 to 1",
            )
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """The tensor itself, as a new handle."""
        return same_version(x)
