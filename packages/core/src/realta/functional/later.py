"""Later: functions that are imported when they are first asked for, by the module that has them.

Importing the library must stay cheap, and few programs convolve, sort boxes or resize images.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATER", "LATER_METHODS"]

LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "control": ("cond", "while_loop"),
    "custom_functions": ("custom", "inplace_custom", "register_custom"),
    "dynamic_slices": ("dynamic_update_slice",),
    "effects": ("assert_", "print"),
}
"""By module of this package, the names of `F` that it has."""
LATER_METHODS: Final[tuple[str, ...]] = ()
"""Names in `LATER` that are methods of tensors too; their first argument is the tensor."""
