"""repeat_interleave against numpy.repeat, with repeats in every form, refusals."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, ShapeError

X = np.arange(6, dtype=np.int32).reshape(2, 3)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_one_number(modes, axis, repeats):
    found = modes(lambda t: F.repeat_interleave(t, repeats, axis), X)
    np.testing.assert_array_equal(found, np.repeat(X, repeats, axis))


@pytest.mark.parametrize("repeats", [[1, 0, 2], (2, 2, 2), np.array([0, 0, 0]), [2]])
def test_one_number_each(modes, repeats):
    found = modes(lambda t: F.repeat_interleave(t, repeats, 1), X)
    np.testing.assert_array_equal(found, np.repeat(X, repeats, 1))


def test_a_tensor_of_repeats_with_the_extent(modes):
    repeats = np.array([1, 0, 2])
    found = modes(lambda t, n: F.repeat_interleave(t, n, 1, out_dim=3), X, repeats)
    np.testing.assert_array_equal(found, np.repeat(X, repeats, 1))
    more = F.repeat_interleave(Tensor(X), Tensor(repeats), 1, out_dim=5).numpy()
    np.testing.assert_array_equal(more[:, 3:], X[:, [2, 2]])
    same = F.repeat_interleave(Tensor(X), Tensor(2), 0, out_dim=4).numpy()
    np.testing.assert_array_equal(same, np.repeat(X, 2, 0))


def test_a_tensor_of_repeats_alone_is_read():
    found = F.repeat_interleave(Tensor(X), Tensor([1, 0, 2]), 1)
    np.testing.assert_array_equal(found.numpy(), np.repeat(X, [1, 0, 2], 1))
    with realta.lazy():
        pending = F.repeat_interleave(Tensor(X), Tensor([1, 0, 2]), 1)
    np.testing.assert_array_equal(pending.numpy(), np.repeat(X, [1, 0, 2], 1))
    with pytest.raises(TypeError):
        realta.compile(lambda n: F.repeat_interleave(X, n, 1))(Tensor([1, 2, 3]).type)


@pytest.mark.parametrize(
    ("error", "args", "message"),
    [
        (ShapeError, ([1, 2], 1), "2 repeats for 3 elements of axis 1"),
        (ShapeError, ([1, 2, 3], 1, 5), "out_dim=5, but the repeats make 6 elements"),
        (ShapeError, (Tensor([1, 2]), 1, 3), "for 3 elements of axis 1"),
        (ShapeError, (2, 2), "axis 2"),
        (ArgumentError, (-1,), "repeats -1 of repeat_interleave"),
        (ArgumentError, (Tensor([1, 2, 3]), 1, -1), "out_dim=-1"),
        (DTypeError, (1.5,), "repeats 1.5 are no integers"),
        (DTypeError, ([1.0, 2.0, 3.0], 1), "are no integers"),
        (DTypeError, (Tensor([1.0, 2.0, 3.0]), 1, 3), "repeats of f32[3]"),
    ],
)
def test_refusals(error, args, message):
    with pytest.raises(error) as found:
        F.repeat_interleave(Tensor(X), *args)
    assert message in str(found.value)
    assert "repeat_interleave(" in str(found.value)
    assert found.value.fix
