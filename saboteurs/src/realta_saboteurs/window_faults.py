"""Window faults: convolutions and reductions of windows that read the wrong elements."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from realta.backend import Node

from realta_saboteurs.fault import Array, Fault, KernelFault

__all__ = ["WINDOW_FAULTS"]


def _ignores_dilation(right: Any, node: Node, x: Array, filter: Array) -> Any:
    close = {**node.attrs, "dilation": (1,) * len(node.attrs["dilation"])}
    found = node.op.reference(x, filter, **close)
    return found[tuple(slice(0, n) for n in node.types[0].static_shape)]


def _flips_filter(right: Any, node: Node, x: Array, filter: Array) -> Any:
    axes = tuple(range(filter.ndim - 2))
    return node.op.reference(x, np.flip(filter, axes), **node.attrs)


def _mixes_groups(right: Any, node: Node, x: Array, filter: Array) -> Any:
    """Channels are dealt out to the groups in turn, in place of parts side by side."""
    groups = node.attrs["groups"]
    dealt = x.reshape(*x.shape[:-1], -1, groups) if x.size else x
    return node.op.reference(np.moveaxis(dealt, -1, -2).reshape(x.shape), filter, **node.attrs)


def _pads_with_zero(right: Any, node: Node, x: Array) -> Any:
    low, high = node.attrs["low"], node.attrs["high"]
    if node.attrs["reduce"] != "max":
        return right()
    bare = {**node.attrs, "low": (0,) * x.ndim, "high": (0,) * x.ndim}
    shape = [a + d + b for a, d, b in zip(low, x.shape, high, strict=True)]
    wide = np.zeros(shape, x.dtype)
    wide[tuple(slice(a, a + d) for a, d in zip(low, x.shape, strict=True))] = x
    return node.op.reference(wide, **bare)


def _fault(name: str, op: str, kernel: Any, tells: str, key: str) -> Fault:
    return KernelFault(name, tells, frozenset({key}), ops=(op,), kernel=kernel)


WINDOW_FAULTS: Final[tuple[Fault, ...]] = (
    _fault(
        "conv-ignores-dilation",
        "conv_general",
        _ignores_dilation,
        "the elements of a dilated filter meet neighbours",
        "linalg/conv_general/values",
    ),
    _fault(
        "conv-flips-filter",
        "conv_general",
        _flips_filter,
        "the filter is turned round, as mathematics has it",
        "linalg/conv_general/values",
    ),
    _fault(
        "conv-mixes-groups",
        "conv_general",
        _mixes_groups,
        "the channels of groups are dealt out in turn",
        "linalg/conv_general/values",
    ),
    _fault(
        "pool-pads-with-zero",
        "reduce_window",
        _pads_with_zero,
        "the padding of a largest element is 0, so it hides negative elements",
        "math/reduce_window/values",
    ),
)
