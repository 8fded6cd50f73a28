"""Judging: what a device that flushes subnormals may do, and what it may not."""

import numpy as np
import pytest
from realta.backend import Numerics, OpByOpBackend
from realta.ops import get_op
from realta_conformance.case import cases_of
from realta_conformance.device import open_backend
from realta_conformance.judging import judge_results

TINY = np.finfo(np.float32).tiny
CASE = next(c for c in cases_of(get_op("add")) if c.id == "core/add-f32-64-special")


def flushed(x):
    return np.where(np.abs(x) < TINY, np.copysign(np.float32(0), x), x)


def device(declared):
    class Flushing(OpByOpBackend):
        name = "flushing"
        numerics = Numerics(subnormals=declared)
        kernels = {"add": lambda node, x, y: x + y}

    return open_backend(Flushing())


def added(inputs, outputs):
    with np.errstate(all="ignore"):
        x, y = CASE.operands()
        total = flushed(x) + flushed(y) if inputs else x + y
        return [flushed(total) if outputs else total]


@pytest.mark.parametrize("inputs", [False, True])
@pytest.mark.parametrize("outputs", [False, True])
def test_flushing_is_right_only_where_it_is_declared(inputs, outputs):
    results = added(inputs, outputs)
    assert judge_results(device("flush"), CASE, results).ok
    assert judge_results(device("keep"), CASE, results).ok is not (inputs or outputs)


def test_other_numbers_stay_wrong():
    (results,) = added(inputs=True, outputs=True)
    (at, *_) = np.flatnonzero(np.isfinite(results) & (results != 0))
    results[at] = np.nextafter(results[at], np.float32(np.inf))
    assert not judge_results(device("flush"), CASE, [results]).ok
