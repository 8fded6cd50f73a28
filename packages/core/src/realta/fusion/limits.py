"""Limits: what a device's kernels and buffers may not exceed; fields that planning must respect."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Device limits; None means none known.

    Args:
        buffer_bytes: largest single buffer.
        rank: most axes of a tensor.
        alignment: bytes to which buffers are aligned.
        arguments: most buffer arguments of one kernel (inputs and outputs together).
        parameter_bytes: most bytes of kernel parameters.
        local_bytes: most bytes of group-local memory.
        group_size: most work-items in a group.
    """

    buffer_bytes: int | None = None
    rank: int = 8
    alignment: int = 64
    arguments: int | None = None
    parameter_bytes: int | None = None
    local_bytes: int | None = None
    group_size: int | None = None
