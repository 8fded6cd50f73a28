"""Functions of tensors: ``F.add``, ``F.softmax`` …; in every realization context the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from realta.errors import UnsupportedOp
from realta.functional.creation import (
    arange,
    constant,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from realta.functional.elementwise import (
    cast,
    clip,
    divmod,
    gelu,
    is_elementwise,
    make_elementwise,
    where,
)
from realta.functional.habits import FUNCTION_HABITS, METHOD_HABITS
from realta.functional.indexing import (
    buffer_store,
    buffer_store_slice,
    gather,
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    slice_tensor,
    take,
    take_along_axis,
)
from realta.functional.linalg import attention, dot, layer_norm, linear, matmul, outer, rms_norm
from realta.functional.methods import attach_methods, attach_operators
from realta.functional.movement import (
    barrier,
    broadcast_to,
    chunk,
    concat,
    flatten,
    flip,
    matrix_transpose,
    moveaxis,
    pad,
    permute,
    reshape,
    roll,
    split,
    squeeze,
    stack,
    tile,
    to,
    transpose,
    unsqueeze,
)
from realta.functional.operation import fast_path_enabled, set_fast_path
from realta.functional.reductions import (
    all,
    any,
    argmax,
    argmin,
    cummax,
    cummin,
    cumprod,
    cumsum,
    logsoftmax,
    logsumexp,
    max,
    mean,
    min,
    prod,
    softmax,
    std,
    sum,
    var,
)
from realta.functional.region import functional
from realta.functional.sorting import argsort, bottom_k, one_hot, sort, top_k
from realta.ops import all_ops, find_op
from realta.tensor.tensor import add_habits

_written = [
    "all", "any", "arange", "argmax", "argmin", "argsort", "attention", "barrier", "bottom_k",
    "broadcast_to", "buffer_store", "buffer_store_slice", "cast", "chunk", "clip", "concat",
    "constant", "cummax", "cummin", "cumprod", "cumsum", "divmod", "dot", "empty", "empty_like",
    "eye", "flatten", "flip", "full", "full_like", "functional", "gather", "gelu", "layer_norm",
    "linear", "linspace", "logsoftmax", "logsumexp", "matmul", "matrix_transpose", "max", "mean",
    "min", "moveaxis", "one_hot", "ones", "ones_like", "outer", "pad", "permute", "prod",
    "reshape", "rms_norm", "roll", "scatter", "scatter_add", "scatter_max", "scatter_min",
    "scatter_mul", "slice_tensor", "softmax", "sort", "split", "squeeze", "stack", "std", "sum",
    "take", "take_along_axis", "tile", "to", "top_k", "transpose", "tril", "triu", "unsqueeze",
    "var", "where", "zeros", "zeros_like",
]  # fmt: skip


def _derived() -> dict[str, Callable[..., Any]]:
    """The functions of all elementwise ops that have none written by hand."""
    taken = set(_written)
    return {
        op.name: make_elementwise(op)
        for op in all_ops()
        if is_elementwise(op) and op.name not in taken
    }


_functions = _derived()
globals().update(_functions)
logical_and, logical_or, logical_xor = (
    _functions.get(name) or _functions[f"bitwise_{name[8:]}"]
    for name in ("logical_and", "logical_or", "logical_xor")
)
elementwise_max, elementwise_min = _functions["maximum"], _functions["minimum"]
negate = _functions["neg"]
pos = lambda x: cast(x, x.dtype)  # noqa: E731

__all__ = sorted(
    {*_written, *_functions, "elementwise_max", "elementwise_min", "fast_path_enabled", "logical_and",
     "logical_or", "logical_xor", "negate", "pos", "set_fast_path"}
)  # fmt: skip

attach_operators({name: globals()[name] for name in __all__})
attach_methods({name: globals()[name] for name in __all__})
add_habits(METHOD_HABITS)


def __getattr__(name: str) -> Any:
    """The function of an elementwise op that was defined at run time, or a hint for a foreign name."""
    op = find_op(name)
    if op is not None and is_elementwise(op):
        function = make_elementwise(op)
        globals()[name] = function
        return function
    if name in FUNCTION_HABITS:
        raise UnsupportedOp(f"F has no {name!r}", fix=FUNCTION_HABITS[name])
    raise AttributeError(f"module 'realta.functional' has no attribute {name!r}")
