"""Convolution layers: Conv1d, Conv2d and ConvTranspose2d."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

from realta import random
from realta.errors import ArgumentError
from realta.functional import conv1d, conv2d, conv2d_transpose
from realta.functional.window_arguments import per_axis
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["Conv1d", "Conv2d", "ConvTranspose2d"]

Numbers = int | Sequence[int]


class _Convolution(Module):
    """What the layers share: a weight in one of two layouts, an optional bias, sizes.

    Weights and bias are drawn uniformly from ±1/sqrt(n), n being the number of terms of a result
    (LeCun et al. 1998); under ``lazy()`` nothing is drawn or allocated until one is asked for.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self, window: tuple[int, ...], channels: tuple[int, int], num_groups: int, *,
        transposed: bool, permute: bool, has_bias: bool, dtype: Any, device: Any,
    ) -> None:  # fmt: skip
        if type(num_groups) is not int or num_groups < 1 or any(c % num_groups for c in channels):
            raise ArgumentError(
                f"{channels[0]} and {channels[1]} channels in {num_groups!r} groups",
                where=type(self).__name__,
                fix="make both numbers of channels multiples of num_groups",
            )
        taken, made = channels
        # A transposed convolution has the weight of the convolution whose transpose it is.
        pair = (made // num_groups, taken) if transposed else (taken // num_groups, made)
        shape = (pair[1], pair[0], *window) if permute else (*window, *pair)
        terms = prod(window) * (taken // num_groups)
        limit = 1.0 / sqrt(terms) if terms > 0 else 1.0
        limits = (-limit, limit)
        self.num_groups = num_groups
        self.permute = permute
        self.weight = random.uniform(shape, limits, dtype=dtype, device=device)
        self.bias = (
            random.uniform((made,), limits, dtype=dtype, device=device) if has_bias else None
        )


class Conv1d(_Convolution):
    """`F.conv1d` with a weight and a bias of its own.

    Args:
        kernel_size: extent of the window.
        in_channels: channels of the input.
        out_channels: channels of the result.
        dtype: of the parameters; the default float if left out.
        stride: how far apart windows start.
        padding: zeros on both sides, or (before, after).
        dilation: how far apart the elements of a window are.
        num_groups: parts of the channels that go together.
        device: where the parameters live; the default device if left out.
        has_bias: whether there is a bias.
        permute: False takes (batch, length, channels), with a weight of (window, channels of a
            group, results); True takes (batch, channels, length), with PyTorch's weight of
            (results, channels of a group, window).
        name: has no effect; kept for programs that come from MAX.

    Raises:
        ArgumentError: channels that do not divide into the groups, or sizes that are too small.
    """

    def __init__(
        self,
        kernel_size: int,
        in_channels: int,
        out_channels: int,
        dtype: Any = None,
        stride: int = 1,
        padding: Numbers = 0,
        dilation: int = 1,
        num_groups: int = 1,
        device: Any = None,
        has_bias: bool = False,
        permute: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            per_axis("kernel_size", kernel_size, 1), (in_channels, out_channels), num_groups,
            transposed=False, permute=permute, has_bias=has_bias, dtype=dtype, device=device,
        )  # fmt: skip
        self.stride, self.padding, self.dilation = stride, padding, dilation

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to (batch, length, channels), or with ``permute`` channels second."""
        layouts = ("NCL", "FCS") if self.permute else ("NLC", "SCF")
        return conv1d(
            x, self.weight, self.stride, self.dilation, self.padding, self.num_groups, self.bias,
            *layouts,
        )  # fmt: skip


class Conv2d(_Convolution):
    """`F.conv2d` with a weight and a bias of its own.

    Args:
        kernel_size: extents of the window: one number, or two.
        in_channels: channels of the input.
        out_channels: channels of the result.
        dtype: of the parameters; the default float if left out.
        stride: how far apart windows start.
        padding: zeros around: one number, one for each axis, or four.
        dilation: how far apart the elements of a window are.
        num_groups: parts of the channels that go together.
        device: where the parameters live; the default device if left out.
        has_bias: whether there is a bias.
        permute: False takes NHWC with an RSCF weight; True takes NCHW with an FCRS weight, as
            PyTorch has them.
        name: has no effect; kept for programs that come from MAX.

    Raises:
        ArgumentError: channels that do not divide into the groups, or sizes that are too small.
    """

    def __init__(
        self,
        kernel_size: Numbers,
        in_channels: int,
        out_channels: int,
        dtype: Any = None,
        stride: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        num_groups: int = 1,
        device: Any = None,
        has_bias: bool = False,
        permute: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            per_axis("kernel_size", kernel_size, 2), (in_channels, out_channels), num_groups,
            transposed=False, permute=permute, has_bias=has_bias, dtype=dtype, device=device,
        )  # fmt: skip
        self.stride, self.padding, self.dilation = stride, padding, dilation

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to (batch, height, width, channels), or to NCHW with ``permute``."""
        layouts = ("NCHW", "FCRS") if self.permute else ("NHWC", "RSCF")
        return conv2d(
            x, self.weight, self.stride, self.dilation, self.padding, self.num_groups, self.bias,
            *layouts,
        )  # fmt: skip


class ConvTranspose2d(_Convolution):
    """`F.conv2d_transpose` with a weight and a bias of its own.

    Args:
        kernel_size: extents of the window: one number, or two.
        in_channels: channels of the input.
        out_channels: channels of the result.
        dtype: of the parameters; the default float if left out.
        stride: how far apart the copies of the window start in the result.
        padding: how much is cut off the result: one number, one for each axis, or four.
        dilation: how far apart the elements of a window are.
        output_padding: how much is added after each axis of the result.
        num_groups: parts of the channels that go together.
        device: where the parameters live; the default device if left out.
        has_bias: whether there is a bias.
        permute: False takes NHWC, with a weight of (height, width, results of a group, channels);
            True takes NCHW, with PyTorch's weight of (channels, results of a group, height, width).
        name: has no effect; kept for programs that come from MAX.

    Raises:
        ArgumentError: channels that do not divide into the groups, or sizes that are too small.
    """

    def __init__(
        self,
        kernel_size: Numbers,
        in_channels: int,
        out_channels: int,
        dtype: Any = None,
        stride: Numbers = 1,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        output_padding: Numbers = 0,
        num_groups: int = 1,
        device: Any = None,
        has_bias: bool = False,
        permute: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(
            per_axis("kernel_size", kernel_size, 2), (in_channels, out_channels), num_groups,
            transposed=True, permute=permute, has_bias=has_bias, dtype=dtype, device=device,
        )  # fmt: skip
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.output_padding = output_padding

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to (batch, height, width, channels), or to NCHW with ``permute``."""
        layouts = ("NCHW", "FCRS") if self.permute else ("NHWC", "RSCF")
        return conv2d_transpose(
            x, self.weight, self.stride, self.dilation, self.padding, self.output_padding,
            self.bias, *layouts, self.num_groups,
        )  # fmt: skip
