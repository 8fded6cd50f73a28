"""Coefficients: those of the modules are what the fitting tool finds."""

import pytest
from realta_llvm.functions import (
    error_function,
    exponential,
    hyperbolic,
    inverse_trigonometry,
    logarithm,
    power,
    trigonometry,
)

from tools.fit_functions import FITS, coefficients, spelled

TABLES = {
    "exp": exponential.EXP, "log": logarithm.LOG, "sin": trigonometry.SIN, "cos": trigonometry.COS,
    "asin": inverse_trigonometry.ASIN, "atan": inverse_trigonometry.ATAN, "sinh": hyperbolic.SINH,
    "erf": error_function.ERF, "erfc": {32: error_function.ERFC[32]},
    "long erfc": {64: error_function.ERFC[64]}, "single log": {64: power.SINGLE_LOG},
    "single exp": {64: power.SINGLE_EXP}, "pair log": {64: power.PAIR_LOG},
}  # fmt: skip
QUICK = [("sin", 32), ("cos", 32), ("log", 32), ("exp", 32)]
ALL = [(name, bits) for name, found in TABLES.items() for bits in found]


def check(name, bits):
    found, error = coefficients(name, bits)
    assert tuple(found) == TABLES[name][bits]
    if not name.startswith("single"):
        assert error < 0.6


def test_every_fit_is_used():
    assert set(FITS) == set(TABLES)
    for name, fit in FITS.items():
        assert [len(TABLES[name].get(bits, ())) for bits in (32, 64)] == list(fit.counts)


@pytest.mark.parametrize(("name", "bits"), QUICK)
def test_fitting_again_gives_the_same(name, bits):
    check(name, bits)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bits"), [case for case in ALL if case not in QUICK])
def test_fitting_all_again_gives_the_same(name, bits):
    check(name, bits)


def test_coefficients_are_spelled_shortly():
    assert spelled(0.5) == "0x1p-1"
    assert spelled(float.fromhex("0x1.5554bp-3")) == "0x1.5554bp-3"
    assert float.fromhex(spelled(1 / 3)) == 1 / 3
