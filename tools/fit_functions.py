"""Fits: the coefficients of the polynomials in `realta_llvm.functions`, found anew.

    python tools/fit_functions.py [NAME ...]

Prints for each fit and float type the coefficients, lowest power first, as they stand in the
modules, and the greatest error that they leave in units of the last place of what is approximated
(2^-24 and 2^-53 of it).

A fit is a minimax polynomial by Remez exchange on a dense set of Chebyshev nodes, in 60 digits. The
coefficients are rounded to the type from the lowest on: each time one has been rounded the others
are fitted again to what it leaves, so that they make up for its rounding. (Not where 0 is inside of
the interval: powers without the lowest ones all vanish there.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp
import numpy as np

__all__ = ["FITS", "Fit", "coefficients", "spelled"]

DIGITS = 60
NODES = 500
Number = Any
Real = Callable[[Number], Number]


@dataclass(frozen=True)
class Fit:
    """A function to be approximated by a polynomial.

    Args:
        doc: what is approximated.
        function: in multiple precision.
        low: where the interval starts.
        high: where it ends.
        weight: by what an error is multiplied for it to be relative to the function's result.
        counts: number of coefficients, for float32 and float64; 0 where there is no such fit.
    """

    doc: str
    function: Real
    low: float
    high: float
    weight: Real
    counts: tuple[int, int]


def _rest_of_log(z: Number) -> Number:
    """(log((1 + s) / (1 - s)) - 2 s) / s³ with z = s²."""
    s = mp.sqrt(z)
    return (mp.log((1 + s) / (1 - s)) - 2 * s) / (s * z)


def _rest(function: Real, first: int = 1) -> Real:
    """(function(x) / x - first) / x² with z = x²."""
    return lambda z: (function(mp.sqrt(z)) / mp.sqrt(z) - first) / z


def _scaled_erfc(x: Number) -> Number:
    return mp.erfc(x) * mp.exp(x * x)


HALF_LN2 = 0.34658
"""Half of log(2), rounded up."""
SQUARE = 0.029438
"""((sqrt(2) - 1) / (sqrt(2) + 1))², rounded up: the greatest s² of a logarithm."""
EIGHTH = 0.617
"""(π/4)², rounded up."""
TAN_EIGHTH = 0.171573
"""tan(π/8)², rounded up."""

FITS: dict[str, Fit] = {
    "exp": Fit(
        "(exp(r) - 1 - r) / r²", lambda r: (mp.expm1(r) - r) / r**2,
        -HALF_LN2, HALF_LN2, lambda r: abs(r), (5, 10),
    ),
    "log": Fit(
        "(log((1 + s) / (1 - s)) - 2 s) / s³ in z = s²", _rest_of_log,
        0, SQUARE, lambda z: z / 2, (3, 7),
    ),
    "sin": Fit(
        "(sin(r) - r) / r³ in z = r²", _rest(mp.sin), 0, EIGHTH, lambda z: z, (3, 6),
    ),
    "cos": Fit(
        "(cos(r) - 1 + r²/2) / r⁴ in z = r²",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        0, EIGHTH, lambda z: z**2, (3, 6),
    ),
    "asin": Fit(
        "(asin(x) - x) / x³ in z = x²", _rest(mp.asin), 0, 0.25, lambda z: z, (5, 12),
    ),
    "atan": Fit(
        "(atan(t) - t) / t³ in z = t²", _rest(mp.atan), 0, TAN_EIGHTH, lambda z: z, (4, 11),
    ),
    "sinh": Fit(
        "(sinh(x) - x) / x³ in z = x²", _rest(mp.sinh), 0, 1, lambda z: z, (4, 8),
    ),
    "erfc": Fit(
        "log(1 - erf(2 + t))", lambda t: mp.log(mp.erfc(t + 2)), -1, 2, lambda t: mp.erfc(t + 2),
        (7, 0),
    ),
    "long erfc": Fit(
        "log(1 - erf(2 + t))", lambda t: mp.log(mp.erfc(t + 2)), -1, 4, lambda t: mp.erfc(t + 2),
        (0, 18),
    ),
    "single log": Fit(
        "(log((1 + s) / (1 - s)) - 2 s) / s³ in z = s², for pow of float32", _rest_of_log,
        0, SQUARE, lambda z: z / 2, (0, 5),
    ),
    "single exp": Fit(
        "(exp(r) - 1 - r) / r², for pow of float32", lambda r: (mp.expm1(r) - r) / r**2,
        -HALF_LN2, HALF_LN2, lambda r: r**2, (0, 6),
    ),
    "pair log": Fit(
        "(log((1 + s) / (1 - s)) - 2 s - 2/3 s³) / s⁵ in z = s², for pow of float64",
        lambda z: (_rest_of_log(z) - mp.mpf(2) / 3) / z, 0, SQUARE, lambda z: z**2 / 2, (0, 8),
    ),
    "erf": Fit(
        "erf(x) / x - 1 in z = x²", lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
        0, 1, lambda z: 1, (7, 13),
    ),
}  # fmt: skip


def _solve(nodes: Sequence[tuple[Number, Number, Number]], powers: range) -> Any:
    """The polynomial whose weighted errors at these nodes are alike, with signs in turn."""
    rows = [[*(x**k * weight for k in powers), (-1) ** i] for i, (x, _, weight) in enumerate(nodes)]
    right = [value * weight for _, value, weight in nodes]
    return mp.lu_solve(mp.matrix(rows), mp.matrix(right))


def _extremes(errors: Sequence[Number], count: int) -> list[int]:
    """Where the error is greatest between two changes of its sign: `count` places in turn."""
    found: list[int] = []
    for at, error in enumerate(errors):
        if found and (error > 0) == (errors[found[-1]] > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = at
        else:
            found.append(at)
    while len(found) > count:
        ends = (found[0], found[-1])
        found.remove(min(ends, key=lambda at: abs(errors[at])))
    return found


def _minimax(z: list[Number], f: list[Number], w: list[Number], powers: range) -> list[Number]:
    """The coefficients of the polynomial with the least weighted error at all nodes."""
    count = len(powers) + 1
    places = [round((len(z) - 1) * (1 - np.cos(np.pi * i / (count - 1))) / 2) for i in range(count)]
    for _ in range(30):
        solved = _solve([(z[at], f[at], w[at]) for at in places], powers)
        found = [solved[i] for i in range(len(powers))]
        errors = [
            (y - mp.polyval(found[::-1], x) * x ** powers[0]) * weight
            for x, y, weight in zip(z, f, w, strict=True)
        ]
        extremes = _extremes(errors, count)
        if len(extremes) < count or extremes == places:
            break
        places = extremes
    return found


def coefficients(name: str, bits: int) -> tuple[list[float], float]:
    """The coefficients of a fit, rounded to float32 or float64, and the error that they leave.

    Args:
        name: a name of `FITS`.
        bits: 32 or 64.

    Returns:
        The coefficients, lowest power first, and the greatest error in units of 2^-24 or 2^-53.
    """
    fit = FITS[name]
    count = fit.counts[bits == 64]
    with mp.workdps(DIGITS):
        low, high = mp.mpf(fit.low), mp.mpf(fit.high)
        turns = [mp.cos(mp.pi * (i + mp.mpf(1) / 2) / NODES) for i in range(NODES)]
        z = [(low + high) / 2 - (high - low) / 2 * turn for turn in turns]
        f, w = [fit.function(x) for x in z], [fit.weight(x) for x in z]
        rest, rounded = list(f), []
        for k in range(count):
            if k == 0 or low >= 0:
                fitted = _minimax(z, rest, w, range(k, count))
            rounded.append(_nearest(fitted.pop(0), bits))
            rest = [y - mp.mpf(rounded[-1]) * x**k for x, y in zip(z, rest, strict=True)]
        error = max(abs(y * weight) for y, weight in zip(rest, w, strict=True))
        return rounded, float(error * 2 ** (24 if bits == 32 else 53))


def _nearest(value: Number, bits: int) -> float:
    return float(value) if bits == 64 else float(np.float32(float(value)))


def spelled(value: float) -> str:
    """A coefficient as the modules have it: hexadecimal, without digits that say nothing."""
    mantissa, _, exponent = value.hex().partition("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}"


def main(names: Sequence[str]) -> None:
    """Prints the fits of these names, or all."""
    for name in names or FITS:
        print(f"{name}: {FITS[name].doc}")
        for bits in (32, 64):
            if not FITS[name].counts[bits == 64]:
                continue
            found, error = coefficients(name, bits)
            print(f"  float{bits}, error {error:.3f}")
            print("    " + " ".join(spelled(value) for value in found))


if __name__ == "__main__":
    main(sys.argv[1:])
