"""Locks: those of `threading`, without its import, which costs more than that of a whole layer.

Here for modules that every program loads; others import `threading`.
"""

from _thread import RLock, get_ident
from _thread import allocate_lock as Lock

__all__ = ["Lock", "RLock", "get_ident"]
