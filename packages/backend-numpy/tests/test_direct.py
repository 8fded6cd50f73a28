"""Direct calls: fresh arrays, no warnings, blocks of bytes noticed, zero-dimensional results."""

import gc
import weakref

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import float32, int8, int32, tensor_type, uint8
from realta_numpy.quiet import quietly


def _binary(runner, name, dtype, shape):
    builder = Builder()
    x, y = (builder.input(tensor_type(dtype, shape)) for _ in range(2))
    return runner.compile(builder.finish(getattr(builder, name)(x, y)))


@pytest.mark.parametrize("dtype", [float32, int32, uint8, int8], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (10,), (2, 5), (1, 64), (64,), (5, 1)], ids=str)
@pytest.mark.parametrize("name", ["add", "mul", "less", "bitwise_xor"])
def test_every_mix_of_arrays_and_blocks(name, shape, dtype, runner):
    if name == "bitwise_xor" and dtype is float32:
        pytest.skip("no bits of floats")
    executable = _binary(runner, name, dtype, shape)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(0, 100, shape).astype(dtype.numpy) for _ in range(2))
    expected = executable.direct(x, y)
    assert isinstance(expected, np.ndarray)
    assert expected.shape == shape
    x, y = np.asarray(x), np.asarray(y)
    flat = x.reshape(-1)
    for left in (x, runner.upload(x), flat, flat.reshape(1, 1, -1)):
        for right in (y, runner.upload(y), y.reshape(-1, 1)):
            found = executable.direct(left, right)
            assert found.dtype == expected.dtype
            assert found.shape == shape
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("shape", [(4,), ()], ids=str)
def test_infinities_warn_nobody(shape, runner):
    div = _binary(runner, "div", float32, shape)
    with np.errstate(all="raise"):  # whatever the caller has set
        found = div.direct(np.ones(shape, np.float32), np.zeros(shape, np.float32))
        assert np.isinf(found).all()
        assert np.geterr()["divide"] == "raise"
    integers = _binary(runner, "floor_div", int32, shape)
    with np.errstate(all="raise"):
        found = integers.direct(np.ones(shape, np.int32), np.zeros(shape, np.int32))
    assert not found.any()


def test_each_call_makes_its_own_result_and_keeps_none(runner):
    add = _binary(runner, "add", float32, (10,))
    x = np.ones(10, np.float32)
    first, second = add.direct(x, x), add.direct(x, x)
    assert not np.shares_memory(first, second)
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None


def test_large_results_come_from_core(runner):
    assert _binary(runner, "add", float32, (1 << 15,)).direct is None
    assert _binary(runner, "add", float32, (1 << 14,)).direct is not None


def test_small_graphs_of_several_results(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (3, 4)))
    graph = builder.finish(builder.sum(x, axes=(0,)), builder.exp(x))
    total, power = runner.compile(graph).direct(np.zeros((3, 4), np.float32))
    assert total.tolist() == [0] * 4
    assert power.tolist() == [[1] * 4] * 3


def test_the_bare_call_of_a_float_ufunc_is_quiet_and_leaves_the_callers_state(runner):
    div = _binary(runner, "div", float32, (4,))
    assert div.bare is not div.direct
    with np.errstate(all="raise"):
        found = div.bare(np.ones(4, np.float32), np.zeros(4, np.float32))
        assert np.isinf(found).all()
        assert np.geterr()["divide"] == "raise"


def test_the_bare_call_refuses_to_be_entered_twice():
    calls = []

    def enter_again(x):
        calls.append(x)
        return again(x) if len(calls) < 2 else x

    again = quietly(enter_again)
    with pytest.raises(RuntimeError):
        again(1)
    calls.clear()
    assert quietly(lambda x: x)(5) == 5
