"""Shapes as tensors, shapes asserted, moves to a target."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ShapeError
from realta.types import as_dim


def test_shape_to_tensor():
    found = F.shape_to_tensor((2, 3, 0))
    assert (found.tolist(), str(found.dtype)) == ([2, 3, 0], "int64")
    assert F.shape_to_tensor(()).shape == (0,)
    with pytest.raises(ShapeError):
        F.shape_to_tensor((2, -1))


def test_symbolic_extents_are_known_when_the_graph_runs():
    def shape(x):
        return F.shape_to_tensor((*x.shape, x.shape[0] * 2))

    compiled = realta.compile(shape)(realta.TensorType("float32", ("batch", 3)))
    for batch in (0, 1, 5):
        found = compiled(Tensor(np.ones((batch, 3), np.float32)))
        assert found.tolist() == [batch, 3, 2 * batch]


def test_rebind(modes):
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(modes(lambda t: F.rebind(t, (2, 3)), x), x)
    with pytest.raises(ShapeError, match=r"two rows: rebind of f32\[2,3\]@reference:0 to \(2, 4\)"):
        F.rebind(Tensor(x), (2, 4), "two rows")


def test_rebind_of_symbolic_extents():
    def same(x):
        return F.rebind(x, (x.shape[0], 3))

    compiled = realta.compile(same)(realta.TensorType("float32", ("batch", 3)))
    assert compiled(Tensor(np.ones((4, 3), np.float32))).shape == (4, 3)
    for other in (("batch", 4), ("batch",), (as_dim("batch") + 1, 3)):
        with pytest.raises(ShapeError, match="rebind of"):
            realta.compile(lambda x, s=other: F.rebind(x, s))(
                realta.TensorType("float32", ("batch", 3))
            )


def test_rebind_gives_extents_other_names(modes):
    def added(x, y):
        return F.rebind(x, ("n",), "as many of both") + y

    types = [realta.TensorType("float32", (name,)) for name in ("m", "n")]
    compiled = realta.compile(added)(*types)
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    assert compiled(x, y).tolist() == [4, 6]
    with pytest.raises(ShapeError, match=r"as many of both: rebind of f32\[3\]") as caught:
        compiled(Tensor([1.0, 2.0, 3.0]), y)
    assert __file__ in str(caught.value)
    assert compiled(y, x).tolist() == [4, 6]


def test_rebind_to_numbers_is_checked_at_the_call():
    halves = realta.compile(lambda x: F.rebind(x, (4,)).reshape((2, 2)))(
        realta.TensorType("float32", ("n",))
    )
    assert halves(Tensor([1.0, 2.0, 3.0, 4.0])).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ShapeError, match="rebind of"):
        halves(Tensor([1.0, 2.0]))


def test_transfer_to():
    x = Tensor([1.0, 2.0])
    found = F.transfer_to(x, "reference")
    assert found is not x
    assert found.tolist() == [1.0, 2.0]
