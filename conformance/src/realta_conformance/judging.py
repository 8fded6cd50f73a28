"""Judging: whether a device's results of a case are right, with what the device declares in mind.

A device that flushes subnormals may take those of its operands as zeros, or write zeros in place of
those of its results, or both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from realta_conformance.case import Case
from realta_conformance.device import Device
from realta_conformance.formats import FORMATS, Array, wide
from realta_conformance.oracle import Verdict, all_within

__all__ = ["judge_results"]


def judge_results(device: Device, case: Case, results: Sequence[Array], turn: int = 0) -> Verdict:
    """The verdict on the results of a case.

    Args:
        device: the device that they come from.
        case: the case.
        results: its results.
        turn: 0 for the first call, 1 for the second one.
    """
    looser = device.looser(case.op, case.dtype)
    operands, expected = case.calls()[turn]
    verdict = all_within(case.op, results, expected, flush=device.flushes, looser=looser)
    if verdict.ok or not device.flushes:
        return verdict
    flushed = [
        _flushed(case, n, x) if t.dtype.is_float else x
        for n, (t, x) in enumerate(zip(case.types, operands, strict=True))
    ]
    again = all_within(case.op, results, case.expected(flushed), flush=True, looser=looser)
    return again if again.ok else verdict


def _flushed(case: Case, number: int, array: Array) -> Array:
    """An operand with zeros of the same signs in place of subnormals."""
    values = wide(array)
    tiny = np.abs(values) < FORMATS[case.types[number].dtype].tiny
    return np.where(tiny, np.copysign(0.0, values), values).astype(array.dtype)
