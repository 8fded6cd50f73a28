"""Index vectors against a loop over them, with indices that are known and that are not."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.testing import assert_same_bits

X = np.arange(60.0, dtype=np.float32).reshape(3, 4, 5)
REDUCTIONS = ("scatter_nd", "scatter_nd_add", "scatter_nd_mul", "scatter_nd_max", "scatter_nd_min")


@pytest.mark.parametrize("length", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (0,)], ids=str)
def test_gather_nd(modes, shape, length):
    random = np.random.default_rng(0)
    indices = random.integers(-3, 3, (*shape, length))
    expected = np.empty((*shape, *X.shape[length:]), np.float32)
    for place in np.ndindex(*shape):
        expected[place] = X[tuple(indices[place])]
    assert_same_bits(modes(lambda t, i: F.gather_nd(t, i), X, indices), expected)
    assert_same_bits(F.gather_nd(Tensor(X), indices), expected)
    assert_same_bits(modes(lambda t: F.gather_nd(t, indices), X), expected)


@pytest.mark.parametrize("batch", [1, 2])
def test_batches(modes, batch):
    random = np.random.default_rng(1)
    for length in range(4 - batch):
        indices = random.integers(-4, 4, (*X.shape[:batch], 2, length))
        expected = np.empty((*X.shape[:batch], 2, *X.shape[batch + length :]), np.float32)
        for place in np.ndindex(*X.shape[:batch], 2):
            expected[place] = X[(*place[:-1], *indices[place])]
        found = modes(lambda t, i: F.gather_nd(t, i, batch), X, indices)
        assert_same_bits(found, expected)
        assert_same_bits(F.gather_nd(Tensor(X), indices.tolist(), batch_dims=batch), expected)


def scattered(name, x, updates, indices, mode="error"):
    """Updates one after the other in row-major order."""
    combine = {
        "scatter_nd": lambda a, b: b, "scatter_nd_add": np.add, "scatter_nd_mul": np.multiply,
        "scatter_nd_max": np.maximum, "scatter_nd_min": np.minimum,
    }[name]  # fmt: skip
    result = x.copy()
    length = indices.shape[-1]
    updates = np.broadcast_to(updates, (*indices.shape[:-1], *x.shape[length:]))
    for place in np.ndindex(*indices.shape[:-1]):
        vector = [int(i) for i in indices[place]]
        extents = x.shape[:length]
        if mode == "wrap":
            vector = [i % e for i, e in zip(vector, extents, strict=True)]
        counted = [i + e if i < 0 else i for i, e in zip(vector, extents, strict=True)]
        clipped = [min(max(i, 0), e - 1) for i, e in zip(counted, extents, strict=True)]
        if mode == "drop" and clipped != counted:
            continue
        target = tuple(clipped)
        result[target] = combine(result[target], updates[place])
    return result


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_scatter_nd(modes, name, dtype):
    random = np.random.default_rng(0)
    x = random.integers(1, 5, (3, 4, 2)).astype(dtype)
    call = getattr(F, name)
    for length in range(1, 4):
        indices = random.integers(-2, 2, (3, 2, length))
        updates = random.integers(1, 4, (3, 2, *x.shape[length:])).astype(dtype)
        expected = scattered(name, x, updates, indices)
        found = modes(lambda t, u, i, c=call: c(t, u, i), x, updates, indices)
        assert_same_bits(found, expected)
        assert_same_bits(call(Tensor(x), Tensor(updates), indices), expected)
        number = scattered(name, x, np.asarray(2, dtype), indices)
        assert_same_bits(call(Tensor(x), 2, Tensor(indices)), number)


@pytest.mark.parametrize("mode", ["clip", "wrap", "drop"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_modes_for_indices_out_of_range(modes, name, mode):
    indices = np.array([[0, 4], [-4, 1], [9, -9], [2, -1], [-1, 3]])
    updates = np.arange(2.0, 27.0, dtype=np.float32).reshape(5, 5)
    expected = scattered(name, X, updates, indices, mode)
    call = getattr(F, name)
    found = modes(lambda t, u, i: call(t, u, i, mode=mode), X, updates, indices)
    assert_same_bits(found, expected)
    if mode != "drop":
        clipped = scattered("scatter_nd", X, 0.0, indices, mode)
        assert (clipped == 0).any()
        rows = F.gather_nd(Tensor(X), indices, mode=mode)
        assert_same_bits(F.scatter_nd(Tensor(X), rows, indices, mode=mode), X)


def test_the_last_of_doubles_wins():
    found = F.scatter_nd(F.zeros((2, 2)), Tensor([1.0, 2.0, 3.0]), [[0, 1], [1, 0], [0, 1]])
    assert found.tolist() == [[0.0, 3.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (
            IndexBoundsError,
            lambda t: F.gather_nd(t, [[0, 4]]),
            "index 4 is out of bounds for axis 1",
        ),
        (IndexBoundsError, lambda t: F.scatter_nd(t, 0.0, [[-4]]), "index -4 is out of bounds"),
        (ShapeError, lambda t: F.gather_nd(t, [[0, 0, 0, 0]]), "3 axes"),
        (ShapeError, lambda t: F.gather_nd(t, 0), "indices of shape ()"),
        (ShapeError, lambda t: F.gather_nd(t, [[0]], batch_dims=2), "2 of them for batches"),
        (ShapeError, lambda t: F.gather_nd(t, [[[0]]], batch_dims=1), "differ"),
        (ShapeError, lambda t: F.scatter_nd(t, F.ones(3), [[0, 0]]), "does not broadcast"),
        (DTypeError, lambda t: F.gather_nd(t, [[0.5]]), "integer indices, not float64"),
        (DTypeError, lambda t: F.gather_nd(t, Tensor([[0.5]])), "integer indices, not float32"),
        (ArgumentError, lambda t: F.gather_nd(t, [[0]], mode="drop"), "no index mode 'drop'"),
        (ArgumentError, lambda t: F.scatter_nd(t, 0.0, [[0]], mode="skip"), "no index mode 'skip'"),
    ],
)
def test_errors(kind, call, text):
    with pytest.raises(kind) as caught:
        call(Tensor(X))
    assert text in str(caught.value)
    assert "test_nd_indexing.py" in caught.value.where
    assert caught.value.fix


def test_a_computed_index_out_of_range_raises_at_the_next_wait():
    places = Tensor([[0, 1], [2, 4]])
    compiled = realta.compile(F.gather_nd)(Tensor(X).type, places.type)
    for value in (
        F.gather_nd(Tensor(X), places),
        compiled(Tensor(X), places),
        F.scatter_nd_add(Tensor(X), 1.0, places),
    ):
        with pytest.raises(IndexBoundsError, match="index 4 is out of bounds for axis 1"):
            value.numpy()
