"""Memory: aligned blocks of host memory, and typed views on handles.

A handle of this backend is any C-contiguous array whose first bytes are the elements of a tensor in
row-major order: a block of bytes from `allocate_block`, or an array of the tensor's own dtype and
shape.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.runtime import allocate_block

__all__ = ["ALIGNMENT", "allocate_block", "as_bytes", "typed"]

ALIGNMENT: Final = 64
_BYTE: Final = np.dtype(np.uint8)


def typed(handle: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The handle as an array of this shape and dtype; the handle itself where it already is one."""
    if handle.dtype is dtype and handle.shape == shape:
        return handle  # type: ignore[no-any-return]
    return np.ndarray(shape, dtype, handle)


def as_bytes(handle: Any, nbytes: int) -> NDArray[np.uint8]:
    """The first bytes of a handle."""
    return np.ndarray((nbytes,), _BYTE, handle)
