"""Where a tensor is not zero: results whose shape depends on values, and padded ones."""

import numpy as np
import pytest
import realta
from hypothesis import given, settings
from hypothesis import strategies as st
from realta import F, Tensor
from realta.errors import ArgumentError, IndexBoundsError, RealizationError, ShapeError
from realta.testing import assert_same_bits

ARRAYS = [
    np.array([0.0, -0.0, 2.0, np.nan, 0.0, -1.0], np.float32),
    np.arange(12).reshape(3, 4) % 3,
    np.array([[[True, False], [False, True]]]),
    np.zeros((2, 3), np.int8), np.ones((2, 0, 3), np.float32), np.zeros((0,), bool),
]  # fmt: skip
EACH = pytest.mark.parametrize("x", ARRAYS, ids=[f"array {n}" for n in range(len(ARRAYS))])


@EACH
def test_nonzero(x):
    for found, wanted in zip(F.nonzero(Tensor(x)), np.nonzero(x), strict=True):
        assert_same_bits(found, wanted)
    assert_same_bits(F.argwhere(Tensor(x)), np.argwhere(x))


@EACH
@pytest.mark.parametrize("size", [0, 1, 4, 30])
def test_padded(modes, x, size):
    expected = np.full((size, x.ndim), -1)
    vectors = np.argwhere(x)
    expected[: len(vectors)] = vectors[:size]

    def body(t):
        columns, count = F.nonzero(t, size=size, fill_value=-1)
        rows, again = F.argwhere(t, size=size, fill_value=-1)
        return *columns, count, rows, again

    *columns, count, rows, again = modes(body, x)
    for found, wanted in zip(columns, expected.T, strict=True):
        assert_same_bits(found, wanted.copy())
    assert_same_bits(rows, expected)
    assert int(count) == int(again) == np.count_nonzero(x)


def test_zero_dimensional():
    assert F.argwhere(Tensor(3.0)).shape == (1, 0)
    assert F.argwhere(Tensor(0.0)).shape == (0, 0)
    rows, count = F.argwhere(Tensor(3.0), size=2)
    assert rows.shape == (2, 0)
    assert count.item() == 1
    with pytest.raises(ShapeError, match="nonzero of a 0-d tensor") as caught:
        F.nonzero(Tensor(3.0))
    assert "test_places.py" in caught.value.where


def test_the_operand_is_demanded_when_recorded():
    x = Tensor(ARRAYS[1])
    with realta.lazy():
        pending, other = x - 1, x * 2
        rows, columns = F.nonzero(pending)
        assert rows.is_real
        assert pending.is_real
        assert not other.is_real
        assert not (columns + 1).is_real
    assert columns.tolist() == np.nonzero(ARRAYS[1] - 1)[1].tolist()

    def body(t):
        return F.nonzero(t + 0)[0]

    with pytest.raises(RealizationError, match="realized inside it"):
        F.functional(body)(x)
    assert F.functional(on_sync="split")(body)(x).tolist() == np.nonzero(ARRAYS[1])[0].tolist()
    with pytest.raises(RealizationError, match="the shape of nonzero depends on values") as caught:
        realta.compile(body, name="model")(x.type)
    assert "'model'" in caught.value.what
    assert "size=" in caught.value.fix
    assert "fill_value=" in caught.value.fix
    assert "test_places.py" in caught.value.where


def test_errors():
    for size in (-1, 2.0, True):
        with pytest.raises(ArgumentError, match="a size of") as caught:
            F.nonzero(Tensor([1]), size=size)
        assert "test_places.py" in caught.value.where
    with pytest.raises(ArgumentError, match="nonzero has no argument 'out_dim'") as caught:
        F.nonzero(Tensor([1]), out_dim="count")
    assert caught.value.fix == "write size= instead"


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_masked_scatter(data):
    shape = tuple(data.draw(st.lists(st.integers(0, 3), max_size=3)))
    bits = data.draw(st.lists(st.booleans(), min_size=1, max_size=40))
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    mask = np.resize(bits, shape).astype(bool)
    updates = -1 - np.arange(mask.sum() + data.draw(st.integers(0, 3)), dtype=np.int32)
    wanted = x.copy()
    wanted[mask] = updates[: mask.sum()]
    assert_same_bits(F.masked_scatter(Tensor(x), Tensor(mask), Tensor(updates)), wanted)


def test_masked_scatter_in_modes(modes):
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    mask = np.array([True, False, True])
    updates = np.array([[7.0, 8.0], [9.0, 10.0]], np.float32)
    found = modes(lambda t, m, u: F.masked_scatter(t, m, u), x, mask, updates)
    assert found.tolist() == [[7, 1, 8], [9, 4, 10]]
    number = modes(lambda t, m: F.masked_scatter(t, m, 0.5), x, mask)
    assert number.tolist() == [[0.5, 1, 0.5], [0.5, 4, 0.5]]
    for fewer in (Tensor([1.0, 2.0, 3.0]), F.zeros(0)):
        with pytest.raises(IndexBoundsError):
            F.masked_scatter(Tensor(x), Tensor(mask), fewer).numpy()
    same = F.masked_scatter(Tensor(x), Tensor([False] * 3), F.zeros(0))
    assert_same_bits(same, x)
    with pytest.raises(ArgumentError, match="a mask of int64"):
        F.masked_scatter(Tensor(x), Tensor([1, 0, 1]), 0.0)
