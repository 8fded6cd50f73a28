"""Quiet: floating-point warnings off around our kernels, at the price of two assignments.

`numpy.errstate` builds its state at every entry, which costs as much as a small addition. The
state is a context variable, so one that was built once can be set and reset.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from types import TracebackType
from typing import Any, Final

import numpy as np

__all__ = ["QUIET_STATE", "STATE", "Quiet", "quietly"]


def _find_state() -> tuple[Any, Any]:
    try:
        from numpy._core import umath

        return umath._extobj_contextvar, umath._make_extobj(all="ignore")
    except AttributeError:  # a NumPy that keeps its state elsewhere
        return None, None


_found = _find_state()
STATE: Final[Any] = _found[0]
"""NumPy's context variable of error handling; None if it cannot be found."""
QUIET_STATE: Final[Any] = _found[1]
"""Its value that ignores everything."""


class Quiet:
    """``with Quiet():`` infinities and NaNs are results, not accidents; a new one each time."""

    __slots__ = ("_errstate", "_token")

    def __enter__(self) -> None:
        if STATE is None:
            self._errstate = np.errstate(all="ignore")
            self._errstate.__enter__()
        else:
            self._token = STATE.set(QUIET_STATE)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if STATE is None:
            self._errstate.__exit__(kind, error, traceback)
        else:
            STATE.reset(self._token)


def quietly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function run in a context of its own where warnings are off: cheaper than set and reset.

    The function must not run Python code, which would find the caller's context variables missing.

    Raises:
        RuntimeError: when called while another thread is in it.
    """
    context = Context()
    context.run(STATE.set, QUIET_STATE)
    return partial(context.run, function)
