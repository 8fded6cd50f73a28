"""ExchangedTensor: a tensor's values for NumPy, DLPack and programs for the array API."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.context import caller_location
from realta.errors import ArgumentError, ExchangeError, UnsupportedOp
from realta.tensor.base import TensorBase

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ExchangedTensor"]

_HOST: Final = (1, 0)
"""DLPack's name of host memory: kDLCPU, and no number."""
_STANDARD: Final = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
"""Versions of the array API standard; each has what those before it have."""


class ExchangedTensor(TensorBase):
    """Hands out its values: read-only where memory is shared, since versions never change."""

    __slots__ = ()
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """`realta.array_api`.

        Args:
            api_version: a version of the standard; the newest if None.

        Raises:
            ArgumentError: another version.
        """
        if api_version is not None and api_version not in _STANDARD:
            raise ArgumentError(
                f"the array API {api_version!r} is not among the versions here",
                where=f"__array_namespace__ at {caller_location()}",
                fix="use one of " + ", ".join(_STANDARD),
            )
        # By name, since few programs use it: importing this library must stay cheap.
        return importlib.import_module("realta.array_api")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self._real_storage().numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ExchangeError(
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
        where = f"__dlpack__ of {self._type} at {caller_location()}"
        if self.dtype.numpy.kind not in "biuf":
            raise ExchangeError(
                f"NumPy exports no {self.dtype} through DLPack",
                where=where,
                fix="cast to float32 first",
            )
        wanted = _HOST if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if wanted != _HOST or stream is not None:
            raise ExchangeError(
                "tensors are exported in host memory, where there are no streams",
                where=where,
                fix="leave out stream=, and dl_device= or give (1, 0)",
            )
        # A legacy consumer ignores that the memory is read-only, so it gets its own.
        legacy = max_version is None or tuple(max_version) < (1, 0)
        if legacy and copy is False:
            raise ExchangeError(
                "a consumer of DLPack before 1.0 could write to memory that is not its own",
                where=where,
                fix="let it copy, or use a newer one",
            )
        array = self._real_storage().numpy()
        if legacy:
            return array.copy().__dlpack__()
        return array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _HOST

    def __complex__(self) -> complex:
        return complex(self.item())

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The tensor on another device: ``t.to(device)`` by the array API's name.

        Args:
            device: where.
            stream: None; streams are never visible.

        Raises:
            UnsupportedOp: a stream.
            BackendNotFound, BackendUnavailable: the device cannot be used.
        """
        if stream is not None:
            raise UnsupportedOp(
                "to_device takes no stream: streams are never visible",
                where=f"to_device of {self._type} at {caller_location()}",
                fix="leave it out",
            )
        moved: Any = self
        return moved.to(device)
