"""Lowerings of single ops, by name: what no fusion group of another kind can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.attention import lower_attention
from realta.codegen.singles.bounds import lower_check_bounds
from realta.codegen.singles.creation import lower_iota
from realta.codegen.singles.gather import lower_gather
from realta.codegen.singles.philox import lower_philox
from realta.codegen.singles.scan import lower_scan
from realta.codegen.singles.scatter import lower_scatter
from realta.codegen.singles.sort import lower_sort
from realta.codegen.singles.unreduced import lower_unreduced
from realta.codegen.singles.update import lower_update_slice
from realta.codegen.singles.window import lower_reduce_window
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["SINGLES"]

SINGLES: Final[Mapping[str, Callable[[Node, DeviceProfile, Limits], Lowered]]] = {
    "all": lower_unreduced,
    "any": lower_unreduced,
    "argsort": lower_sort,
    "attention": lower_attention,
    "check_bounds": lower_check_bounds,
    "cummax": lower_scan,
    "cummin": lower_scan,
    "cumprod": lower_scan,
    "cumsum": lower_scan,
    "gather": lower_gather,
    "iota": lower_iota,
    "max": lower_unreduced,
    "min": lower_unreduced,
    "philox_bits": lower_philox,
    "prod": lower_unreduced,
    "reduce_window": lower_reduce_window,
    "scatter": lower_scatter,
    "sort": lower_sort,
    "sum": lower_unreduced,
    "update_slice": lower_update_slice,
}
"""Each takes a node of static shapes with elements in its result, and a profile that fits the
device."""
