"""Habits: attributes that people bring from other libraries, and what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["METHOD_HABITS", "NO_GRADIENTS"]

NO_GRADIENTS: Final = "gradients are not in this version; it is for inference"

METHOD_HABITS: Final[Mapping[str, str]] = {
    "cuda": 'write t.to("cuda")',
    "cpu": 'write t.to("cpu")',
    "detach": "leave it out: tensors carry no gradients",
    "backward": NO_GRADIENTS,
    "grad": NO_GRADIENTS,
    "requires_grad": NO_GRADIENTS,
    "requires_grad_": NO_GRADIENTS,
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
