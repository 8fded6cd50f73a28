"""Sorting: stable, NaN last in both directions, zeros in their order."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import bfloat16, bool_, float16, float32, float64, int8, tensor_type, uint64

DTYPES = [float16, bfloat16, float32, float64, int8, uint64, bool_]


def _both(runner, x, dtype, axis, descending):
    builder = Builder()
    operand = builder.input(tensor_type(dtype, x.shape))
    graph = builder.finish(
        builder.sort(operand, axis=axis, descending=descending),
        builder.argsort(operand, axis=axis, descending=descending),
    )
    return runner.run(graph, [x])


def _key(value, descending):
    if np.isnan(float(value)):
        return (1, 0)
    return (0, -float(value) if descending else float(value))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1,), (33,), (4, 65), (65, 4), (0,), (3, 0)], ids=str)
def test_against_pythons_stable_sort(shape, dtype, descending, runner, values, equal_bits):
    x = values(shape, dtype, "special" if dtype.is_float else "small")
    for axis in range(len(shape)):
        found, order = _both(runner, x, dtype, axis, descending)
        assert order.dtype == np.int64
        lines, places = np.moveaxis(x, axis, -1), np.moveaxis(order, axis, -1)
        for index in np.ndindex(lines.shape[:-1]):
            line = lines[index]
            expected = sorted(range(line.size), key=lambda n: _key(line[n], descending))
            assert places[index].tolist() == expected
        assert equal_bits(found, np.take_along_axis(x, order, axis))


@pytest.mark.parametrize("descending", [False, True])
def test_many_zeros_of_both_signs(descending, runner, equal_bits):
    rng = np.random.default_rng(2)
    x = rng.choice([0.0, -0.0, 1.0, -1.0, np.nan], (50, 300)).astype(np.float32)
    found, order = _both(runner, x, float32, 1, descending)
    assert equal_bits(found, np.take_along_axis(x, order, 1))
