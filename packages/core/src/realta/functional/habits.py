"""Habits: names that people bring from other libraries, and what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from realta.tensor.habits import NO_GRADIENTS

__all__ = ["FUNCTION_HABITS", "KEYWORD_HABITS"]

FUNCTION_HABITS: Final[Mapping[str, str]] = {
    "cat": "write F.concat(tensors, axis)",
    "concatenate": "write F.concat(tensors, axis)",
    "select": "write F.where(condition, x, y)",
    "negative": "write F.neg(x) or -x",
    "subtract": "write F.sub(x, y)",
    "multiply": "write F.mul(x, y)",
    "divide": "write F.div(x, y)",
    "power": "write F.pow(x, y)",
    "remainder": "write F.mod(x, y)",
    "isnan": "write F.is_nan(x)",
    "isinf": "write F.is_inf(x)",
    "isfinite": "write F.is_finite(x)",
    "log_softmax": "write F.logsoftmax(x, axis)",
    "scaled_dot_product_attention": "write F.attention(query, key, value)",
    "expand_dims": "write F.unsqueeze(x, axis)",
    "grad": NO_GRADIENTS,
    "vjp": NO_GRADIENTS,
    "value_and_grad": NO_GRADIENTS,
}
"""Functions of other libraries."""

KEYWORD_HABITS: Final[Mapping[str, str]] = {
    "dim": "axis",
    "keepdim": "keepdims",
    "input": "x",
    "other": "y",
    "unbiased": "correction",
    "ddof": "correction",
    "out_dim": "size",
}
"""Keywords of other libraries and ours."""
