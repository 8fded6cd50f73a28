"""Composite truth: softmax, norms, means and attention by their textbook formulas.

They are written here anew, not taken from the registry's decompositions: a wrong decomposition must
not agree with itself. With finite float64 operands they run on numbers of 40 digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import mpmath
import numpy as np

from realta_conformance.formats import Array
from realta_conformance.truth.floats import DIGITS, Pair

__all__ = ["COMPOSITE_OPS", "composite"]


class _Doubles:
    """The functions that formulas use, on float64 arrays."""

    exp = staticmethod(np.exp)
    log = staticmethod(np.log)
    sqrt = staticmethod(np.sqrt)


class _Digits:
    """The same on arrays of mpmath numbers."""

    exp = staticmethod(np.frompyfunc(mpmath.exp, 1, 1))
    log = staticmethod(np.frompyfunc(mpmath.log, 1, 1))
    sqrt = staticmethod(np.frompyfunc(mpmath.sqrt, 1, 1))


def _top(x: Array, axes: tuple[int, ...]) -> Array:
    """The largest element over axes, kept; -inf over nothing."""
    if x.dtype == object:
        return np.asarray(x.max(axis=axes, keepdims=True), object)
    return np.asarray(x.max(axis=axes, keepdims=True, initial=-np.inf))


def _total(x: Array, axes: tuple[int, ...], keep: bool = False) -> Array:
    return np.asarray(x.sum(axis=axes, keepdims=keep), x.dtype)


def _softmax(m: Any, x: Array, *, axis: int) -> Array:
    e = m.exp(x - _top(x, (axis,)))
    return np.asarray(e / _total(e, (axis,), True))


def _logsoftmax(m: Any, x: Array, *, axis: int) -> Array:
    shifted = x - _top(x, (axis,))
    return np.asarray(shifted - m.log(_total(m.exp(shifted), (axis,), True)))


def _logsumexp(m: Any, x: Array, *, axes: Sequence[int]) -> Array:
    over = tuple(axes)
    top = _top(x, over)
    shift = top if top.dtype == object else np.where(np.isfinite(top), top, 0.0)
    total = _total(np.asarray(m.exp(x - shift), x.dtype), over, True)
    return np.asarray(m.log(total) + shift).reshape(_total(x, over).shape)


def _count(x: Array, axes: Sequence[int]) -> int:
    return math.prod(x.shape[n] for n in axes)


def _mean(m: Any, x: Array, *, axes: Sequence[int]) -> Array:
    return np.asarray(_total(x, tuple(axes)) / np.float64(_count(x, axes)))


def _var(m: Any, x: Array, *, axes: Sequence[int], correction: float = 0.0) -> Array:
    over = tuple(axes)
    centred = np.asarray(x - _total(x, over, True) / np.float64(_count(x, axes)), x.dtype)
    rest = np.float64(max(_count(x, axes) - correction, 0.0))
    return np.asarray(_total(np.asarray(centred * centred, x.dtype), over) / rest)


def _layer_norm(m: Any, x: Array, weight: Array, bias: Array, *, eps: float) -> Array:
    n = np.float64(x.shape[-1])
    centred = x - x.sum(axis=-1, keepdims=True) / n
    spread = (centred * centred).sum(axis=-1, keepdims=True) / n
    return np.asarray(centred / m.sqrt(spread + eps) * weight + bias)


def _rms_norm(m: Any, x: Array, weight: Array, *, eps: float) -> Array:
    square = (x * x).sum(axis=-1, keepdims=True) / np.float64(x.shape[-1])
    return np.asarray(x / m.sqrt(square + eps) * weight)


def _group_norm(m: Any, x: Array, weight: Array, bias: Array, *, groups: int, eps: float) -> Array:
    parts = np.split(x, groups, axis=1) if x.size else [x]
    axes = tuple(range(1, x.ndim))
    normal = []
    for part in parts:
        n = np.float64(math.prod(part.shape[1:]))
        centred = part - part.sum(axis=axes, keepdims=True) / n
        spread = (centred * centred).sum(axis=axes, keepdims=True) / n
        normal.append(centred / m.sqrt(spread + eps))
    shape = (x.shape[1], *(1,) * (x.ndim - 2))
    joined = np.concatenate(normal, axis=1)
    return np.asarray(joined * weight.reshape(shape) + bias.reshape(shape))


def _matmul(m: Any, x: Array, y: Array) -> Array:
    return np.asarray(np.matmul(x, y))


def _attention(
    m: Any, q: Array, k: Array, v: Array, *, scale: float, causal: bool = False
) -> Array:
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    if causal:
        seen = np.tril(np.ones(scores.shape[-2:], bool))
        top = np.where(seen, scores, -np.inf).max(axis=-1, keepdims=True)
        e = np.where(seen, m.exp(np.where(seen, scores - top, 0 * scores)), 0)
    else:
        e = m.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(np.matmul(e / e.sum(axis=-1, keepdims=True), v))


COMPOSITE_OPS: Final[Mapping[str, Callable[..., Array]]] = {
    "softmax": _softmax,
    "logsoftmax": _logsoftmax,
    "logsumexp": _logsumexp,
    "mean": _mean,
    "var": _var,
    "layer_norm": _layer_norm,
    "rms_norm": _rms_norm,
    "group_norm": _group_norm,
    "matmul": _matmul,
    "attention": _attention,
}
"""Formulas by name; the first parameter holds the functions they use."""
_to_digits = np.frompyfunc(lambda v: mpmath.mpf(float(v)), 1, 1)


def composite(name: str, operands: tuple[Array, ...], attrs: Mapping[str, Any], fine: bool) -> Pair:
    """A composite on float64 arrays, as two doubles.

    Args:
        name: key of `COMPOSITE_OPS`.
        operands: float64 arrays.
        attrs: its attributes.
        fine: whether float64 is not fine enough (the result is float64 itself).
    """
    formula = COMPOSITE_OPS[name]
    if fine and all(np.isfinite(x).all() and x.size for x in operands):
        try:
            return _in_digits(formula, operands, attrs)
        except ZeroDivisionError:  # float64 knows what x / 0 is
            pass
    with np.errstate(all="ignore"):
        high = np.asarray(formula(_Doubles, *operands, **attrs), np.float64)
    return high, np.zeros(high.shape)


def _in_digits(
    formula: Callable[..., Array], operands: tuple[Array, ...], attrs: Mapping[str, Any]
) -> Pair:
    with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
        exact = [np.asarray(_to_digits(x), object) for x in operands]
        value = np.asarray(formula(_Digits, *exact, **attrs), object)
        high = np.array([float(v) for v in value.ravel()], np.float64).reshape(value.shape)
        rest = [float(v - mpmath.mpf(float(h))) for v, h in zip(value.flat, high.flat, strict=True)]
    return high, np.array(rest, np.float64).reshape(value.shape)
