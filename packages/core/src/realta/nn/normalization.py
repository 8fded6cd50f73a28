"""Normalization layers: LayerNorm, RMSNorm and GemmaRMSNorm, over the last axis."""

from __future__ import annotations

from typing import Any

from realta.functional import cast, layer_norm, ones, rms_norm, zeros
from realta.nn.module import Module
from realta.tensor import Tensor
from realta.types import float32

__all__ = ["GemmaRMSNorm", "LayerNorm", "RMSNorm"]


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias`` over the last axis (Ba et al. 2016).

    Args:
        dim: extent of the last axis.
        eps: added to the variance.
        keep_dtype: True computes in the dtype of ``x``, half types inside in float32; False casts
            ``x`` to float32, uses the parameters as they are, and casts the result back.
        elementwise_affine: whether there is a weight.
        use_bias: whether there is a bias; without a weight there is none.
        dtype: of the parameters; the default float if left out.
        device: where they live; the default device if left out.
    """

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        dim: int,
        eps: float = 1e-5,
        *,
        keep_dtype: bool = True,
        elementwise_affine: bool = True,
        use_bias: bool = True,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        self.dim = dim
        self.eps = eps
        self.keep_dtype = keep_dtype
        affine = elementwise_affine
        self.weight = ones((dim,), dtype=dtype, device=device) if affine else None
        self.bias = zeros((dim,), dtype=dtype, device=device) if affine and use_bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to a tensor of shape (..., dim)."""
        if self.keep_dtype:
            return layer_norm(x, self.weight, self.bias, self.eps)
        return cast(layer_norm(cast(x, float32), self.weight, self.bias, self.eps), x.dtype)


class RMSNorm(Module):
    """``x / sqrt(mean(x * x) + eps) * weight`` over the last axis (Zhang and Sennrich 2019).

    Args:
        dim: extent of the last axis.
        eps: added to the mean square.
        dtype: of the weight; the default float if left out.
        device: where it lives; the default device if left out.
    """

    weight: Tensor

    def __init__(
        self, dim: int, eps: float = 1e-6, *, dtype: Any = None, device: Any = None
    ) -> None:
        self.dim = dim
        self.eps = eps
        self.weight = ones((dim,), dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to a tensor of shape (..., dim)."""
        return rms_norm(x, self.weight, self.eps)


class GemmaRMSNorm(Module):
    """``x / sqrt(mean(x * x) + eps) * (1 + weight)`` over the last axis: checkpoints of Gemma.

    Args:
        dim: extent of the last axis.
        eps: added to the mean square.
        dtype: of the weight, which is zeros; the default float if left out.
        device: where it lives; the default device if left out.
    """

    weight: Tensor

    def __init__(
        self, dim: int, eps: float = 1e-6, *, dtype: Any = None, device: Any = None
    ) -> None:
        self.dim = dim
        self.eps = eps
        self.weight = zeros((dim,), dtype=dtype, device=device)

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to a tensor of shape (..., dim)."""
        return rms_norm(x, self.weight, self.eps, weight_offset=1.0)
