"""Branch state: where draws inside of control flow take their random state from (spec 6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.philox import philox_block
from realta.ops.rules import check_dtype, common_device
from realta.types import TensorType, tensor_type, uint32

__all__: list[str] = []


def _rule(state: TensorType, iteration: TensorType, *, path: int, draw: int) -> TensorType:
    for what, given, shape in (("the state", state, (4,)), ("the iteration", iteration, ())):
        check_dtype(what, given, (uint32,))
        if given.shape != shape:
            raise ShapeError(f"{what} has the shape {shape}, got {given}", fix="reshape it")
    if not 0 <= path < 2**32 or not 0 <= draw < 2**32:
        raise ArgumentError(f"path {path} and draw {draw} must fit 32 bits", fix="count from 0")
    return tensor_type(uint32, (4,), common_device((state, iteration)))


def _reference(state: Array, iteration: Array, *, path: int, draw: int) -> Array:
    low, high, key_low, key_high = (int(word) for word in state)
    words: Any = tuple([np.uint64(int(w)) for w in (iteration, path, low, high)])
    lanes = philox_block(words, (key_low, key_high))
    return np.array([draw, 0, lanes[0], lanes[1]], np.uint32)


define(
    "philox_branch",
    operands=("state", "iteration"),
    rule=_rule,
    reference=_reference,
    doc=(
        "The state of a draw inside of control flow: its key is the first two words of the Philox "
        "block at (iteration, path, counter low, counter high) under the key of the given state, "
        "its counter the number of the draw in its graph."
    ),
    kind=OpKind.RANDOM,
    attrs={
        "path": Attr("int", doc="0 for `then` and `predicate`, 1 for `otherwise` and `body`"),
        "draw": Attr("int", doc="number of the draw in its graph, from 0"),
    },
    dtypes=frozenset({uint32}),
    samples=tuple(
        Sample(((4,), ()), {"path": path, "draw": draw}, "integers")
        for path, draw in ((0, 0), (1, 0), (0, 3), (1, 2**32 - 1))
    ),
    level="random",
)
