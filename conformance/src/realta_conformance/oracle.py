"""Oracle: compares what a device returned with the truth, and says how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from realta.types import DType

from realta_conformance.expected import Expected
from realta_conformance.formats import FORMATS, Array, ulp, wide

__all__ = ["Verdict", "compare", "same_bits"]

_SIGNLESS_ZERO: Final = frozenset({"nextafter", "sign"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a comparison.

    Args:
        ok: whether the result is within its bound.
        max_ulp: the largest distance from the truth in ulps, 0 for results that are no floats.
        reason: what is wrong at the worst element; empty if all is well.
        bound_use: the largest share of its bound that an element uses; 1 is all of it.
        worst: the place of the worst wrong element.
    """

    ok: bool
    max_ulp: float = 0.0
    reason: str = ""
    bound_use: float = 0.0
    worst: tuple[int, ...] = ()


def same_bits(a: Array, b: Array) -> bool:
    """Whether two arrays hold the same bits, all NaNs taken as one."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    x, y = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if x.tobytes() == y.tobytes():
        return True
    if a.dtype.kind in "biu":
        return False
    bits = np.dtype(f"u{a.dtype.itemsize}")
    with np.errstate(all="ignore"):
        nans = np.isnan(wide(x)) & np.isnan(wide(y))
    return bool(np.all((x.reshape(-1).view(bits) == y.reshape(-1).view(bits)) | nans.reshape(-1)))


def compare(
    op: str, result: Array, expected: Expected, *, flush: bool = False, looser: float | None = None
) -> Verdict:
    """Compares one result with the truth.

    Args:
        op: name of the op; of a few the sign of a zero is unspecified.
        result: the array that came back, in the storage of its dtype.
        expected: the truth and its bound.
        flush: whether the device declares that subnormals become zero.
        looser: the bound in ulps that the device declares for this op and dtype.
    """
    dtype = expected.dtype
    if result.shape != expected.type.static_shape:
        return Verdict(False, reason=f"shape {result.shape}, must be {expected.type.static_shape}")
    if result.dtype != dtype.numpy:
        return Verdict(False, reason=f"dtype {result.dtype}, must be {dtype.numpy}")
    if not result.size:
        return Verdict(True)
    if not dtype.is_float:
        return _equal(result, expected)
    got, truth = wide(result), expected.rounded()
    with np.errstate(all="ignore"):
        good = np.isnan(got) & np.isnan(truth)
        good |= _within(op, dtype, got, truth, expected, looser)
        if expected.free is not None:
            good |= expected.free
        if flush:
            tiny = FORMATS[dtype].tiny
            good |= (got == 0) & (np.abs(truth) < tiny)
        distance = _distance(dtype, got, expected)
        use = _bound_use(dtype, got, expected, good, looser)
    return replace(_verdict(good, distance, result, truth, expected), bound_use=use)


def _equal(result: Array, expected: Expected) -> Verdict:
    good = np.asarray(result == expected.high)
    if expected.free is not None:
        good = good | expected.free
    return _verdict(good, np.zeros(result.shape), result, expected.high, expected)


def _within(
    op: str, dtype: DType, got: Array, truth: Array, expected: Expected, looser: float | None
) -> Array:
    """Where a result equals the rounded truth bit for bit, or lies within the bound around it."""
    signs = (np.signbit(got) == np.signbit(truth)) | (op in _SIGNLESS_ZERO)
    equal: Array = (got == truth) & (signs | (truth != 0))
    if expected.error is None:
        return equal if looser is None else equal | _near(dtype, got, expected, 0 * got, looser)
    # Within a bound either zero will do: the bound says nothing about signs.
    return np.asarray((got == truth) | _near(dtype, got, expected, expected.error, looser))


def _near(
    dtype: DType, got: Array, expected: Expected, error: Array, looser: float | None
) -> Array:
    if looser is not None:
        error = np.maximum(error, looser * ulp(dtype, expected.high))
    largest = FORMATS[dtype].largest
    # Overflow is near only for a truth that is near the largest number.
    reach = np.where(np.isnan(error), np.inf, error)
    reach = np.where(np.isfinite(expected.high), reach, 0.0)
    distance = np.abs(np.clip(got, -largest, largest) - np.clip(expected.high, -largest, largest))
    if expected.low is not None:
        high = expected.high
        distance = np.where(
            np.isfinite(got) & np.isfinite(high), np.abs((got - high) - expected.low), distance
        )
    comparable = ~np.isnan(got) & ~np.isnan(expected.high)
    return np.asarray(comparable & (distance <= reach * (1 + 1e-6)) | np.isinf(reach))


def _bound_use(
    dtype: DType, got: Array, expected: Expected, good: Array, looser: float | None
) -> float:
    """The largest share of its bound that a right element uses."""
    if expected.error is None and looser is None:
        return 0.0
    error = np.zeros(got.shape) if expected.error is None else expected.error
    if looser is not None:
        error = np.maximum(error, looser * ulp(dtype, expected.high))
    low = 0.0 if expected.low is None else expected.low
    away = np.abs((got - expected.high) - low)
    known = good & np.isfinite(away) & np.isfinite(error) & (error > 0)
    return float(np.max(away[known] / error[known])) if known.any() else 0.0


def _distance(dtype: DType, got: Array, expected: Expected) -> Array:
    high = expected.high
    low = 0.0 if expected.low is None else expected.low
    size = np.abs((got - high) - low) / ulp(dtype, high)
    known = np.isfinite(got) & np.isfinite(high)
    return np.where(known, size, 0.0)


def _verdict(
    good: Array, distance: Array, result: Array, truth: Array, expected: Expected
) -> Verdict:
    bad = ~np.asarray(good, bool)
    worst = float(np.max(distance)) if distance.size else 0.0
    if not bad.any():
        return Verdict(True, worst)
    places = np.argwhere(bad)
    at = tuple(int(n) for n in places[np.argmax(distance[bad])])
    where = f"[{', '.join(map(str, at))}]" if at else "the only element"
    allowed = "exactly" if expected.error is None else f"within {float(expected.error[at]):.3g} of"
    reason = (
        f"{int(bad.sum())} of {bad.size} elements are wrong; at {where} "
        f"{_show(result[at])}, must be {allowed} {_show(truth[at])}"
    )
    if expected.dtype.is_float and np.isfinite(distance[at]) and distance[at]:
        reason += f" ({float(distance[at]):.3g} ulp away)"
    return Verdict(False, worst, reason, worst=at)


def _show(value: object) -> str:
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return str(array[()])
    return repr(float(array.astype(np.float64)))


def all_within(
    op: str, results: Sequence[Array], expected: Sequence[Expected], *, flush: bool = False,
    looser: float | None = None,
) -> Verdict:  # fmt: skip
    """The verdict on several results of one call: the first failure, or the largest distance."""
    if len(results) != len(expected):
        return Verdict(False, reason=f"{len(results)} results, must be {len(expected)}")
    worst = use = 0.0
    for n, (result, truth) in enumerate(zip(results, expected, strict=True)):
        verdict = compare(op, result, truth, flush=flush, looser=looser)
        worst, use = max(worst, verdict.max_ulp), max(use, verdict.bound_use)
        if not verdict.ok:
            number = f"result {n}: " if len(results) > 1 else ""
            return Verdict(False, worst, number + verdict.reason, use, verdict.worst)
    return Verdict(True, worst, bound_use=use)
