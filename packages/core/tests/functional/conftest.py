"""Runs a function in every mode and shows that the bits are the same."""

from collections.abc import Callable

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.functional.arguments import constant_of
from realta.testing import assert_same_bits
from realta.tree import leaves


def pytest_make_parametrize_id(val, argname):
    """Names a lambda among parameters by the place where it is written."""
    code = getattr(val, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return None
    columns = [column for _, _, column, _ in code.co_positions() if column]
    return f"line {code.co_firstlineno}.{min(columns, default=0)}"


@pytest.fixture(autouse=True)
def _on_reference(reference):
    """The default device."""


def values(result) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in leaves(result)]


def in_modes(function: Callable, *arrays) -> dict[str, list[np.ndarray]]:
    """The results of a function of tensors by mode."""
    tensors = [Tensor(a) for a in arrays]
    types = [t.type for t in tensors]
    found = {"eager": values(function(*tensors)), "eager again": values(function(*tensors))}
    F.set_fast_path(False)
    try:
        found["traced every time"] = values(function(*tensors))
    finally:
        F.set_fast_path(True)
    with realta.lazy():
        pending = function(*tensors)
    found["lazy"] = values(pending)
    region = F.functional(function)
    for mode in ("region", "region again", "region once more"):
        found[mode] = values(region(*tensors))
    compiled = realta.compile(function, name="compiled")(*types)
    found["compiled"] = values(compiled(*tensors))
    found["compiled again"] = values(compiled(*tensors))

    def of_constants():
        return function(*[constant_of(a, t) for a, t in zip(arrays, types, strict=True)])

    found["constants"] = values(F.functional(of_constants)())
    for tensor, array in zip(tensors, arrays, strict=True):
        assert_same_bits(tensor, array)
    return found


@pytest.fixture
def modes():
    """``modes(function, *arrays)``: the eager result as an array or a list of arrays.

    It fails unless every other mode gives the same bits, and if an operand was changed.
    """

    def run(function, *arrays):
        found = in_modes(function, *[np.asarray(a) for a in arrays])
        eager = found.pop("eager")
        for mode, results in found.items():
            assert len(results) == len(eager), mode
            for result, wanted in zip(results, eager, strict=True):
                try:
                    assert_same_bits(result, wanted)
                except AssertionError as error:
                    raise AssertionError(f"{mode}: {error}") from None
        return eager[0] if len(eager) == 1 else eager

    return run
