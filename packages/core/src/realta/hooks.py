"""The hook marker that plugins use; the hook specifications are in `realta.plugins`."""

from typing import Final

import pluggy

__all__ = ["PROJECT", "hookimpl", "hookspec"]

PROJECT: Final = "realta"
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
hookspec: Final = pluggy.HookspecMarker(PROJECT)
