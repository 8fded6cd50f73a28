"""The backend numexpr, of the op tier: elementwise ops by numexpr, the rest by NumPy."""

from __future__ import annotations

from realta.backend import OpByOpBackend, hookimpl

from realta_numexpr.kernels import DTYPES, KERNELS

__all__ = ["NumExpr"]


class NumExpr(OpByOpBackend):
    """The backend; its one device is ``numexpr:0``."""

    name = "numexpr"
    kernels = KERNELS
    dtypes = DTYPES


@hookimpl
def realta_backends() -> list[OpByOpBackend]:
    """What realta asks a plugin for."""
    return [NumExpr()]
