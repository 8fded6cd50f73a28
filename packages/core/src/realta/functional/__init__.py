"""Functions of tensors: ``F.add``, ``F.softmax`` …; in every realization context the same.

Callable too: ``@realta.functional`` is ``@F.functional``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from realta.context import caller_location, ensure_context, in_graph_context, lazy
from realta.errors import MissingAttribute
from realta.functional.creation import (
    arange,
    constant,
    empty,
    empty_like,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from realta.functional.diagonals import eye, tril, triu
from realta.functional.elementwise import is_elementwise, make_elementwise
from realta.functional.gathering import gather, take
from realta.functional.habits import FUNCTION_HABITS
from realta.functional.indexing import buffer_store, buffer_store_slice, slice_tensor
from realta.functional.joining import chunk, concat, pad, roll, split, stack, tile
from realta.functional.later import LATER
from realta.functional.linalg import attention, dot, linear, matmul, outer
from realta.functional.methods import attach
from realta.functional.movement import (
    barrier,
    broadcast_to,
    flatten,
    flip,
    matrix_transpose,
    moveaxis,
    permute,
    reshape,
    squeeze,
    to,
    transpose,
    unsqueeze,
)
from realta.functional.normalization import layer_norm, logsoftmax, rms_norm, softmax
from realta.functional.operation import fast_path_enabled, set_fast_path
from realta.functional.pointwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    ceil,
    copysign,
    cos,
    cosh,
    div,
    elementwise_max,
    elementwise_min,
    equal,
    erf,
    exp,
    expm1,
    floor,
    floor_div,
    greater,
    greater_equal,
    hypot,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    negate,
    nextafter,
    not_equal,
    reciprocal,
    relu,
    round,
    rsqrt,
    shift_left,
    shift_right,
    sigmoid,
    sign,
    signbit,
    silu,
    sin,
    sinh,
    sqrt,
    square,
    sub,
    tan,
    tanh,
    trunc,
)
from realta.functional.reductions import (
    all,
    any,
    argmax,
    argmin,
    logsumexp,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from realta.functional.region import functional
from realta.functional.scans import (
    cummax,
    cummin,
    cumprod,
    cumsum,
    cumulative_prod,
    cumulative_sum,
)
from realta.functional.scattering import (
    scatter,
    scatter_add,
    scatter_max,
    scatter_min,
    scatter_mul,
    take_along_axis,
)
from realta.functional.sorting import argsort, bottom_k, one_hot, sort, top_k
from realta.functional.special import (
    bitcast,
    cast,
    clamp,
    clip,
    divmod,
    gelu,
    logical_not,
    pos,
    pow,
    where,
)
from realta.on_demand import on_demand
from realta.ops import OpDef, find_op

if TYPE_CHECKING:
    from realta.functional.bands import band_part
    from realta.functional.control import cond, while_loop
    from realta.functional.convolution import conv1d, conv2d, conv2d_transpose, conv3d
    from realta.functional.custom_functions import custom, inplace_custom, register_custom
    from realta.functional.drawing import (
        gaussian,
        gaussian_like,
        normal,
        normal_like,
        uniform,
        uniform_like,
    )
    from realta.functional.dynamic_slices import dynamic_update_slice
    from realta.functional.effects import assert_, print
    from realta.functional.folding import fold, unfold
    from realta.functional.group_normalization import group_norm
    from realta.functional.nd_indexing import (
        gather_nd,
        scatter_nd,
        scatter_nd_add,
        scatter_nd_max,
        scatter_nd_min,
        scatter_nd_mul,
    )
    from realta.functional.places import argwhere, masked_scatter, nonzero
    from realta.functional.pooling import avg_pool2d, max_pool2d
    from realta.functional.regions_of_interest import roi_align
    from realta.functional.repeating import repeat_interleave
    from realta.functional.resizing import resize, resize_bicubic, resize_linear, resize_nearest
    from realta.functional.searching import searchsorted
    from realta.functional.shape_values import rebind, shape_to_tensor, transfer_to
    from realta.functional.spectral import as_interleaved_complex, complex_mul, hann_window, irfft
    from realta.functional.suppression import non_maximum_suppression
    from realta.functional.uniqueness import (
        unique_all,
        unique_counts,
        unique_inverse,
        unique_values,
    )
    from realta.functional.weights import constant_external

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "argsort",
    "argwhere", "as_interleaved_complex", "asin", "asinh", "assert_", "atan", "atan2", "atanh",
    "attention", "avg_pool2d", "band_part", "barrier", "bitcast", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "bottom_k", "broadcast_to", "buffer_store", "buffer_store_slice",
    "cast", "ceil", "chunk", "clamp", "clip", "complex_mul", "concat", "cond", "constant",
    "constant_external", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "copysign", "cos",
    "cosh", "cummax", "cummin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "custom",
    "div", "divmod", "dot", "dynamic_update_slice", "elementwise_max", "elementwise_min", "empty",
    "empty_like", "ensure_context", "equal", "erf", "exp", "expm1", "eye", "fast_path_enabled",
    "flatten", "flip", "floor", "floor_div", "fold", "full", "full_like", "functional", "gather",
    "gather_nd", "gaussian", "gaussian_like", "gelu", "greater", "greater_equal", "group_norm",
    "hann_window", "hypot", "in_graph_context", "inplace_custom", "irfft", "is_finite", "is_inf",
    "is_nan", "layer_norm", "lazy", "less", "less_equal", "linear", "linspace", "log", "log1p",
    "log2", "log10", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logsoftmax", "logsumexp", "masked_scatter", "matmul", "matrix_transpose", "max", "max_pool2d",
    "maximum", "mean", "min", "minimum", "mod", "moveaxis", "mul", "neg", "negate", "nextafter",
    "non_maximum_suppression", "nonzero", "normal", "normal_like", "not_equal", "one_hot", "ones",
    "ones_like", "outer", "pad", "permute", "pos", "pow", "print", "prod", "range", "rebind",
    "reciprocal", "register_custom", "relu", "repeat_interleave", "reshape", "resize",
    "resize_bicubic", "resize_linear", "resize_nearest", "rms_norm", "roi_align", "roll", "round",
    "rsqrt", "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd",
    "scatter_nd_add", "scatter_nd_max", "scatter_nd_min", "scatter_nd_mul", "searchsorted",
    "set_fast_path", "shape_to_tensor", "shift_left", "shift_right", "sigmoid", "sign", "signbit",
    "silu", "sin", "sinh", "slice_tensor", "softmax", "sort", "split", "sqrt", "square", "squeeze",
    "stack", "std", "sub", "sum", "take", "take_along_axis", "tan", "tanh", "tile", "to", "top_k",
    "transfer_to", "transpose", "tril", "triu", "trunc", "unfold", "uniform", "uniform_like",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unsqueeze", "var", "where",
    "while_loop", "zeros", "zeros_like",
]  # fmt: skip

_later: Final[Callable[[str], Callable[..., Any]]] = on_demand(__name__, LATER)
_LATER_NAMES: Final = frozenset(name for names in LATER.values() for name in names)

range = arange

attach(globals())

_made: Final[dict[str, tuple[OpDef, Callable[..., Any]]]] = {}
"""Functions of ops that were defined at run time, with the definition they belong to."""


def __getattr__(name: str) -> Callable[..., Any]:
    """A function that is imported when it is asked for, or that of an op defined at run time."""
    if name in _LATER_NAMES:
        return _later(name)
    op = find_op(name)
    if op is not None and is_elementwise(op):
        made = _made.get(name)
        if made is None or made[0] is not op:
            made = _made[name] = (op, make_elementwise(op))
        return made[1]
    if name in FUNCTION_HABITS:
        raise MissingAttribute(
            f"F has no {name!r}", where=str(caller_location()), fix=FUNCTION_HABITS[name]
        )
    raise AttributeError(f"module 'realta.functional' has no attribute {name!r}")


class _CallableModule(ModuleType):
    """Lets ``realta.functional`` be both this module and the decorator of regions."""

    def __call__(self, fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        """The same as ``F.functional``."""
        return functional(**options) if fn is None else functional(fn, **options)


sys.modules[__name__].__class__ = _CallableModule
