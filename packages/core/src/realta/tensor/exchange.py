"""ExchangedTensor: a tensor's values for NumPy and for everything that speaks DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from realta.context import caller_location
from realta.errors import ArgumentError, UnsupportedOp
from realta.tensor.base import TensorBase

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ExchangedTensor"]


class ExchangedTensor(TensorBase):
    """Hands out its values: read-only where memory is shared, since versions never change."""

    __slots__ = ()
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self._real_storage().numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ArgumentError(
                    f"{self.dtype} to {dtype} cannot be had without a copy",
                    where=str(caller_location()),
                    fix="use copy=None",
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        if self._storage_only():
            raise UnsupportedOp(
                f"NumPy exports no {self.dtype} through DLPack",
                where=str(caller_location()),
                fix="cast to float32 first",
            )
        array = self._real_storage().numpy()
        # A legacy consumer ignores that the memory is read-only, so it gets its own.
        legacy = max_version is None or max_version < (1, 0)
        if legacy and copy is False:
            raise ArgumentError(
                "a consumer of DLPack before 1.0 could write to memory that is not its own",
                where=str(caller_location()),
                fix="let it copy, or use a newer one",
            )
        if legacy or copy:
            array = array.copy()
        if legacy:
            return array.__dlpack__()
        return array.__dlpack__(max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def _storage_only(self) -> bool:
        return self.dtype.numpy.kind not in "biuf"
