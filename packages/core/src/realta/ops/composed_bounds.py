"""Bounds that depend on more than the result: sums, contractions, and composites of them.

Each function returns what a call may err beside some ulps of its result. ``eps`` is the machine
epsilon of the accumulation dtype: float64's for float64, float32's for all narrower floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import Any, Final

import numpy as np

from realta.ops.conversion import Array
from realta.ops.opdef import OpDef
from realta.types import DType

__all__ = ["COMPOSED", "Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an op whose error is to be judged.

    Args:
        op: the op.
        operands: its operands, floats as float64.
        attrs: its attributes.
        expected: the right result in float64.
        eps: machine epsilon of the accumulation dtype.
        dtype: the result's dtype.
    """

    op: OpDef
    operands: tuple[Array, ...]
    attrs: Mapping[str, Any]
    expected: Array
    eps: float
    dtype: DType

    @property
    def x(self) -> Array:
        """The first operand."""
        return self.operands[0]

    def on_magnitudes(self) -> Array:
        """The op of the operands' magnitudes: the scale of its rounding errors."""
        found = self.op.reference(*map(np.abs, self.operands), **self.attrs)
        return np.asarray(found, np.float64)

    def terms(self) -> int:
        """How many elements along the attribute ``axes`` or ``axis``."""
        axes = self.attrs["axes"] if "axes" in self.attrs else (self.attrs["axis"],)
        return prod(self.x.shape[a] for a in axes)


def _sum_factor(terms: float) -> float:
    return 8.0 + 2.0 * float(np.log2(max(terms, 1)))


def _dot_factor(terms: float) -> float:
    return 8.0 + sqrt(terms) / 2.0


def _sum(call: Call) -> Any:
    return _sum_factor(call.terms()) * call.eps * call.on_magnitudes()


def _mean(call: Call) -> Any:
    # One more rounding for the division.
    return _sum(call) + call.eps * np.abs(call.expected)


def _smallest(call: Call) -> float:
    return 2.0**-1074 if call.dtype.itemsize == 8 else 2.0**-149


def _prod(call: Call) -> Any:
    return call.terms() * (call.eps * np.abs(call.expected) + _smallest(call))


def _contraction(call: Call) -> Any:
    x = call.x
    axes = call.attrs.get("x_contract", (x.ndim - 1,))
    return _dot_factor(prod(x.shape[a] for a in axes)) * call.eps * call.on_magnitudes()


def _convolution(call: Call) -> Any:
    filter = call.operands[1]
    return _dot_factor(prod(filter.shape[:-1])) * call.eps * call.on_magnitudes()


def _window(call: Call) -> Any:
    reduce, terms = call.attrs["reduce"], prod(call.attrs["window"])
    if reduce == "add":
        return _sum_factor(terms) * call.eps * call.on_magnitudes()
    if reduce == "mul":
        return terms * (call.eps * np.abs(call.expected) + _smallest(call))
    return 0.0


def _cancelling(call: Call) -> Any:
    largest = np.max([np.abs(operand) for operand in call.operands], axis=0)
    return 4.0 * call.eps * (1.0 + largest)


def _log_of_sum(call: Call) -> Any:
    axes = call.attrs["axes"] if "axes" in call.attrs else (call.attrs["axis"],)
    kept = "axis" in call.attrs
    largest = np.abs(call.x).max(axis=axes, initial=0.0, keepdims=kept)
    return 4.0 * call.eps * (1.0 + np.maximum(largest, np.abs(call.expected)))


def _silu(call: Call) -> Any:
    return 4.0 * np.abs(call.x) * _smallest(call)


def _softmax(call: Call) -> Any:
    axis = call.attrs["axis"]
    below = np.abs(call.x - call.x.max(axis=axis, initial=-np.inf, keepdims=True))
    relative = below + 8.0 + _sum_factor(call.x.shape[axis])
    return call.eps * relative * np.abs(call.expected) + 4.0 * _smallest(call)


def _mean_error(call: Call, axes: tuple[int, ...], *, keep: bool) -> Any:
    terms = prod(call.x.shape[a] for a in axes)
    scale = np.abs(call.x).sum(axis=axes, keepdims=keep) / max(terms, 1)
    return (_sum_factor(terms) + 1.0) * call.eps * scale


def _var(call: Call) -> Any:
    terms = call.terms()
    shift = _mean_error(call, call.attrs["axes"], keep=False)
    weight = terms / np.float64(max(terms - call.attrs["correction"], 0))
    relative = (_sum_factor(terms) + 4.0) * call.eps
    return relative * np.abs(call.expected) + shift * shift * weight


def _layer_norm(call: Call) -> Any:
    x, weight, bias = call.operands
    terms = max(x.shape[-1], 1)
    away = x - x.sum(axis=-1, keepdims=True) / terms
    root = np.sqrt(np.square(away).sum(axis=-1, keepdims=True) / terms + call.attrs["eps"])
    shift = _mean_error(call, (x.ndim - 1,), keep=True) / root
    scaled = np.abs(away / root)
    relative = (_sum_factor(x.shape[-1]) / 2.0 + 6.0) * call.eps
    error = (shift + scaled * (relative + shift * shift)) * np.abs(weight)
    return error + call.eps * np.abs(bias)


def _group_norm(call: Call) -> Any:
    """That of layer_norm for each group, whose elements are brought to a last axis."""
    x, weight, bias = call.operands
    groups = call.attrs["groups"]
    shape = (1, x.shape[1], *(1,) * (x.ndim - 2))
    spread = [np.broadcast_to(v.reshape(shape), x.shape) for v in (weight, bias)]
    lined = (x.shape[0], groups, prod(x.shape[1:]) // groups)
    rows = tuple(v.reshape(lined) for v in (x, *spread))
    return _layer_norm(replace(call, operands=rows)).reshape(x.shape)


def _rms_norm(call: Call) -> Any:
    return (_sum_factor(call.x.shape[-1]) / 2.0 + 6.0) * call.eps * np.abs(call.expected)


def _attention(call: Call) -> Any:
    q, k, v = call.operands
    head, keys = q.shape[-1], k.shape[-2]
    scale = abs(call.attrs["scale"])
    sizes = scale * np.matmul(np.abs(q), np.swapaxes(np.abs(k), -1, -2))
    score = (_dot_factor(head) + 2.0) * call.eps * sizes.max(axis=-1, initial=0.0, keepdims=True)
    weights = call.op.reference(q, k, np.abs(v), **call.attrs)
    relative = 2.0 * score + (8.0 + _sum_factor(keys) + _dot_factor(keys)) * call.eps
    return relative * np.asarray(weights, np.float64)


def _normal(call: Call) -> Any:
    # A radius below 9 times the errors of the angle (2π eps), cosine, logarithm, root and product.
    return 100.0 * call.eps


def _scatter(call: Call) -> Any:
    reduce = call.attrs["reduce"]
    if reduce not in ("add", "mul"):
        return 0.0
    x, indices, updates = call.operands
    counting = {**call.attrs, "reduce": "add"}
    ones = np.ones_like(updates, dtype=np.float64)
    times = call.op.reference(np.zeros(x.shape), indices, ones, **counting)
    if reduce == "mul":
        return times * (call.eps * np.abs(call.expected) + _smallest(call))
    total = call.op.reference(np.abs(x), indices, np.abs(updates), **counting)
    return np.where(times > 0, (8.0 + times / 2.0) * call.eps * total, 0.0)


COMPOSED: Final[Mapping[str, tuple[str, Callable[[Call], Any]]]] = {
    "sum": ("(8 + 2 log2 n) eps sum |x|", _sum),
    "mean": ("(8 + 2 log2 n) eps mean |x| + eps |result|", _mean),
    "cumsum": ("(8 + 2 log2 n) eps cumsum |x|", _sum),
    "prod": ("n eps |result|", _prod),
    "cumprod": ("n eps |result|", _prod),
    "contraction": ("(8 + sqrt(K)/2) eps sum |a||b|", _contraction),
    "convolution": ("(8 + sqrt(K)/2) eps sum |a||b|", _convolution),
    "window": ("(8 + 2 log2 n) eps sum |x| for sums, n eps |result| for products", _window),
    "gelu": ("4 eps (1 + the largest operand's magnitude)", _cancelling),
    "logsumexp": ("4 eps (1 + the largest magnitude of an operand or the result)", _log_of_sum),
    "silu": ("4 |x| times the smallest subnormal", _silu),
    "softmax": ("(16 + 2 log2 n + max - x) eps result + 4 times the smallest subnormal", _softmax),
    "var": ("(12 + 2 log2 n) eps result + (the error of the mean)²", _var),
    "layer_norm": (
        "((10 + log2 n) eps |scaled| + the error of the mean / root) |weight| + eps |bias|",
        _layer_norm,
    ),
    "group_norm": (
        "((10 + log2 n) eps |scaled| + the error of the mean / root) |weight| + eps |bias|",
        _group_norm,
    ),
    "rms_norm": ("(10 + log2 n) eps |result|", _rms_norm),
    "attention": (
        "(2 (10 + sqrt(head)/2) scale sum |q||k| + 24 + 2 log2 n + sqrt(n)/2) eps sum p |v|",
        _attention,
    ),
    "normal": ("100 eps", _normal),
    "scatter": ("(8 + k/2) eps sum |x| for k additions, k eps |result| for k products", _scatter),
}
"""By tolerance name: the bound in words, and as a function of the call."""
