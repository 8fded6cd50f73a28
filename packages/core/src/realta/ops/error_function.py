"""The error function in float64, after the rational approximations of FreeBSD's ``s_erf.c``.

NumPy has none. Four intervals, each with its own rational function; the error is below 1 ulp.
The coefficients come with this notice:

    Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
    Developed at SunPro, a Sun Microsystems, Inc. business.
    Permission to use, copy, modify, and distribute this software is freely granted, provided that
    this notice is preserved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from realta.ops.conversion import Array

__all__ = ["erf"]

_ERX: Final = 8.45062911510467529297e-01
"""erf(1) to 24 bits."""
_EFX: Final = 1.28379167095512586316e-01
"""2/sqrt(pi) - 1."""

# fmt: off
_PP: Final = (
    1.28379167095512558561e-01, -3.25042107247001499370e-01, -2.84817495755985104766e-02,
    -5.77027029648944159157e-03, -2.37630166566501626084e-05,
)
_QQ: Final = (
    1.0, 3.97917223959155352819e-01, 6.50222499887672944485e-02, 5.08130628187576562776e-03,
    1.32494738004321644526e-04, -3.96022827877536812320e-06,
)
_PA: Final = (
    -2.36211856075265944077e-03, 4.14856118683748331666e-01, -3.72207876035701323847e-01,
    3.18346619901161753674e-01, -1.10894694282396677476e-01, 3.54783043256182359371e-02,
    -2.16637559486879084300e-03,
)
_QA: Final = (
    1.0, 1.06420880400844228286e-01, 5.40397917702171048937e-01, 7.18286544141962662868e-02,
    1.26171219808761642112e-01, 1.36370839120290507362e-02, 1.19844998467991074170e-02,
)
_RA: Final = (
    -9.86494403484714822705e-03, -6.93858572707181764372e-01, -1.05586262253232909814e+01,
    -6.23753324503260060396e+01, -1.62396669462573470355e+02, -1.84605092906711035994e+02,
    -8.12874355063065934246e+01, -9.81432934416914548592e+00,
)
_SA: Final = (
    1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02, 4.34565877475229228821e+02,
    6.45387271733267880336e+02, 4.29008140027567833386e+02, 1.08635005541779435134e+02,
    6.57024977031928170135e+00, -6.04244152148580987438e-02,
)
_RB: Final = (
    -9.86494292470009928597e-03, -7.99283237680523006574e-01, -1.77579549177547519889e+01,
    -1.60636384855821916062e+02, -6.37566443368389627722e+02, -1.02509513161107724954e+03,
    -4.83519191608651397019e+02,
)
_SB: Final = (
    1.0, 3.03380607434824582924e+01, 3.25792512996573918826e+02, 1.53672958608443695994e+03,
    3.19985821950859553908e+03, 2.55305040643316442583e+03, 4.74528541206955367215e+02,
    -2.24409524465858183362e+01,
)
# fmt: on


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    total = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _tail(x: Array) -> Array:
    """1 - erf(x) for 1.25 <= x < 6."""
    s = 1.0 / (x * x)
    near = x < 1.0 / 0.35
    ratio = np.where(
        near,
        _polynomial(_RA, s) / _polynomial(_SA, s),
        _polynomial(_RB, s) / _polynomial(_SB, s),
    )
    # x without its low 32 bits squares exactly.
    z = (x.view(np.uint64) & np.uint64(0xFFFFFFFF00000000)).view(np.float64)
    return np.exp(-z * z - 0.5625) * np.exp((z - x) * (z + x) + ratio) / x


def erf(x: Array) -> Array:
    """The error function of a float64 array; callers silence NumPy's warnings."""
    magnitude = np.abs(np.atleast_1d(x))
    z = magnitude * magnitude
    small = magnitude + magnitude * (_polynomial(_PP, z) / _polynomial(_QQ, z))
    s = magnitude - 1.0
    middle = _ERX + _polynomial(_PA, s) / _polynomial(_QA, s)
    large = 1.0 - _tail(np.clip(magnitude, 1.25, 6.0))
    result = np.where(magnitude < 0.84375, small, np.where(magnitude < 1.25, middle, large))
    result = np.where(magnitude >= 6.0, 1.0, result)
    result = np.where(np.isnan(magnitude), magnitude, result)
    signed: Array = np.copysign(result, np.atleast_1d(x))
    return signed.reshape(np.shape(x))
