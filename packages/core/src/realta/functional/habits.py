"""Habits: names that people bring from other libraries, and what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["FUNCTION_HABITS", "KEYWORD_HABITS", "METHOD_HABITS"]

_NO_GRADIENTS: Final = "gradients are not in this version; it is for inference"

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
    "grad": _NO_GRADIENTS,
    "vjp": _NO_GRADIENTS,
    "value_and_grad": _NO_GRADIENTS,
}
"""Functions of other libraries."""

METHOD_HABITS: Final[Mapping[str, str]] = {
    "cuda": 'write t.to("cuda")',
    "cpu": 'write t.to("cpu")',
    "detach": "leave it out: tensors carry no gradients",
    "backward": _NO_GRADIENTS,
    "grad": _NO_GRADIENTS,
    "requires_grad": _NO_GRADIENTS,
    "requires_grad_": _NO_GRADIENTS,
    "view": "write t.reshape(shape); whether it is a view is never observable",
    "contiguous": "leave it out: layout is never observable",
    "astype": "write t.cast(dtype)",
    "float": "write t.cast(realta.float32)",
    "double": "write t.cast(realta.float64)",
    "half": "write t.cast(realta.float16)",
    "long": "write t.cast(realta.int64)",
    "dim": "write t.rank",
    "numel": "write t.size",
    "copy_": "write t[...] = values",
    "add_": "write t += value, or t[...] = t + value",
    "clone": "write copy.copy(t); tensors are values, so it is rarely needed",
    "block_until_ready": "write t.realize()",
    "compute": "write t.realize()",
}
"""Methods and attributes of other libraries' tensors."""

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
