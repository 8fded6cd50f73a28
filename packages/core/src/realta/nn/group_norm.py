"""GroupNorm: groups of channels, each normalized by its own mean and variance."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError
from realta.functional import group_norm, ones, zeros
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["GroupNorm"]


class GroupNorm(Module):
    """`F.group_norm` with a weight and a bias for each channel (Wu and He 2018).

    Args:
        num_groups: how many groups of adjacent channels there are.
        num_channels: extent of axis 1 of the input.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
        dtype: of the parameters; the default float if left out.
        device: where they live; the default device if left out.

    Raises:
        ArgumentError: channels that do not divide into the groups.
    """

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        *,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        if type(num_groups) is not int or num_groups < 1 or num_channels % num_groups:
            raise ArgumentError(
                f"{num_channels} channels in {num_groups!r} groups",
                where="GroupNorm",
                fix="make num_channels a multiple of num_groups",
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.weight = ones((num_channels,), dtype=dtype, device=device) if affine else None
        self.bias = zeros((num_channels,), dtype=dtype, device=device) if affine else None

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to a tensor of shape (batch, num_channels, ...)."""
        return group_norm(x, self.weight, self.bias, self.num_groups, self.eps)
