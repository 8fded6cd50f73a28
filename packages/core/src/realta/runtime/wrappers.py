"""Wrappers that are installed around compile and execute; see `realta.runtime.hooks`.

Apart from it, since the hot paths of eager ops look here whether anybody watches, and importing the
library must not import the contract.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["Wrapper", "compile_wrappers", "execute_wrappers"]

Wrapper = Callable[[Any, Callable[[], Any]], Any]
compile_wrappers: Final[list[Wrapper]] = []
execute_wrappers: Final[list[Wrapper]] = []
