"""Gathering and scattering against NumPy, with indices that are known and that are not."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.testing import assert_same_bits
from realta.types import BY_NAME

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
REDUCTIONS = ("scatter", "scatter_add", "scatter_mul", "scatter_max", "scatter_min")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_gather(modes, dtype):
    for axis in (0, 1, -1):
        for shape in ((), (5,), (2, 2), (0,)):
            random = np.random.default_rng(0)
            low = 0 if dtype[0] == "u" else -3
            indices = random.integers(low, 3, shape).astype(dtype)
            expected = np.take(X, indices.astype(np.int64), axis=axis)
            assert_same_bits(modes(lambda t, i, a=axis: F.gather(t, i, a), X, indices), expected)
            known = modes(lambda t, i=indices, a=axis: F.gather(t, i, a), X)
            assert_same_bits(known, expected)


def test_take_flattens():
    t = Tensor(X)
    assert F.take(t, [0, -1, 5]).tolist() == [0.0, 11.0, 5.0]
    assert F.take(t, 5).item() == 5.0
    assert F.take(t, Tensor([[1], [2]]), axis=0).tolist() == X[[[1], [2]]].tolist()
    assert t.take([1], axis=1).tolist() == X[:, [1]].tolist()
    assert F.take(t, []).shape == (0,)


@pytest.mark.parametrize("index", [5, -6])
def test_a_known_index_out_of_range_raises_at_the_call(index):
    t = Tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    for call in (
        lambda: F.take(t, index),
        lambda: F.gather(t, [0, index]),
        lambda: F.take_along_axis(t, np.array([index])),
        lambda: F.scatter(t, 0.0, [index]),
    ):
        with pytest.raises(
            IndexBoundsError, match=f"index {index} is out of bounds for axis 0"
        ) as caught:
            call()
        assert "test_gathering.py" in caught.value.where
        assert caught.value.fix == "use -5 to 4"


@pytest.mark.parametrize("index", [5, -6, 2**40])
def test_a_computed_index_out_of_range_raises_at_the_next_wait(index):
    t = Tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    places = Tensor([0, index])

    def calls():
        yield lambda t, i: F.take(t, i)
        yield lambda t, i: F.gather(t, i, 0)
        yield lambda t, i: F.take_along_axis(t, i)
        yield lambda t, i: F.scatter(t, 0.0, i)
        yield lambda t, i: F.scatter_add(t, 1.0, i)

    compiled_type = (t.type, places.type)
    for call in calls():
        with realta.lazy():
            pending = call(t, places)
        found = [
            call(t, places), call(t, places), pending, F.functional(call)(t, places),
            realta.compile(call)(*compiled_type)(t, places),
        ]  # fmt: skip
        for result in found:
            for _ in range(2):
                with pytest.raises(
                    IndexBoundsError, match=f"index {index} is out of bounds"
                ) as caught:
                    result.numpy()
                assert "axis 0" in caught.value.what
                assert "test_gathering.py" in caught.value.where
    # Other work is unaffected, and the operands are.
    assert F.take(t, Tensor([0, -1])).tolist() == [1.0, 5.0]
    assert t.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_modes_for_indices_out_of_range(modes):
    x = np.array([10.0, 20.0, 30.0], np.float32)
    indices = np.array([0, -1, 3, -4, 7, -9])
    clipped, wrapped = modes(
        lambda t, i: (F.take(t, i, mode="clip"), F.take(t, i, mode="wrap")), x, indices
    )
    assert clipped.tolist() == [10, 30, 30, 10, 30, 10]
    assert wrapped.tolist() == [x[i % 3] for i in indices]
    known = F.take(Tensor(x), indices, mode="clip"), F.take(Tensor(x), indices, mode="wrap")
    assert [k.tolist() for k in known] == [clipped.tolist(), wrapped.tolist()]
    huge = Tensor([2**64 - 3], dtype="uint64")
    assert F.take(Tensor(x), huge, mode="clip").tolist() == [30.0]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_along_axis(modes, axis):
    order = np.argsort(-X, axis=axis)
    assert_same_bits(
        modes(lambda t, i: F.take_along_axis(t, i, axis), X, order),
        np.take_along_axis(X, order, axis),
    )
    row = order[:1] if axis % 2 else order[:, :1]
    for x, indices in ((X, row), (X[:1] if axis % 2 else X[:, :1], order)):
        assert_same_bits(
            modes(lambda t, i: F.take_along_axis(t, i, axis), x, indices),
            np.take_along_axis(x, indices, axis),
        )


def scattered(name, x, updates, indices, axis, mode="error"):
    """Updates one after the other in row-major order."""
    combine = {
        "scatter": lambda a, b: b, "scatter_add": lambda a, b: a + b,
        "scatter_mul": lambda a, b: a * b, "scatter_max": max, "scatter_min": min,
    }[name]  # fmt: skip
    result = x.copy()
    updates = np.broadcast_to(updates, indices.shape)
    for place in np.ndindex(*indices.shape):
        index, extent = int(indices[place]), x.shape[axis]
        index = index % extent if mode == "wrap" else index + extent if index < 0 else index
        if not 0 <= index < extent:
            if mode == "drop":
                continue
            index = min(max(index, 0), extent - 1)
        target = list(place)
        target[axis] = index
        result[tuple(target)] = combine(result[tuple(target)], updates[place])
    return result


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int64", "uint8"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_scatter(modes, name, dtype):
    random = np.random.default_rng(0)
    numpy = BY_NAME[dtype].numpy
    x = random.integers(1, 5, (3, 4)).astype(numpy)
    for axis in (0, 1, -1):
        indices = random.integers(-x.shape[axis], x.shape[axis], (2, 3))
        updates = random.integers(1, 4, (2, 3)).astype(numpy)
        expected = scattered(name, x, updates, indices, axis % 2)
        call = getattr(F, name)
        result = modes(lambda t, u, i, a=axis, c=call: c(t, u, i, a), x, updates, indices)
        assert_same_bits(result, expected)
        assert_same_bits(call(Tensor(x), Tensor(updates), indices, axis), expected)
        number = call(Tensor(x), 2, Tensor(indices), axis)
        assert_same_bits(number, scattered(name, x, numpy.type(2), indices, axis % 2))


@pytest.mark.parametrize("mode", ["clip", "wrap", "drop"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_scatter_out_of_range_stays_in_its_row(modes, name, mode):
    indices = np.array([[0, 4, 5], [-5, -9, 1], [3, 100, -100]])
    updates = np.arange(2.0, 11.0, dtype=np.float32).reshape(3, 3)
    expected = scattered(name, X, updates, indices, 1, mode)
    call = getattr(F, name)
    assert_same_bits(
        modes(lambda t, u, i: call(t, u, i, 1, mode=mode), X, updates, indices), expected
    )
    assert_same_bits(call(Tensor(X), Tensor(updates), indices, 1, mode=mode), expected)


def test_the_last_of_doubles_wins():
    assert F.scatter(F.zeros(3), Tensor([1.0, 2.0, 3.0]), [0, 0, 2]).tolist() == [2.0, 0.0, 3.0]
    assert F.scatter_add(F.zeros(3), 1.0, [0, 0, 2]).tolist() == [2.0, 0.0, 1.0]


def test_nothing_to_scatter(modes):
    nothing = np.zeros((3, 0), np.int64)
    assert_same_bits(modes(lambda t, i: F.scatter(t, 1.0, i, 1), X, nothing), X)
    empty = np.zeros((0,), np.float32)
    result = modes(lambda t, i: F.scatter(t, 1.0, i, mode="drop"), empty, np.array([0, 3]))
    assert result.shape == (0,)


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (DTypeError, lambda t: F.take(t, Tensor([0.5])), "integer indices, not float32"),
        (DTypeError, lambda t: F.take(t, [0.5]), "integer indices, not float64"),
        (DTypeError, lambda t: F.take(t, [True]), "integer indices, not bool"),
        (ArgumentError, lambda t: F.take(t, [0], mode="drop"), "no index mode 'drop'"),
        (ArgumentError, lambda t: F.scatter(t, 0.0, [[0]], mode="skip"), "no index mode 'skip'"),
        (ShapeError, lambda t: F.gather(t, [0], axis=2), "axis 2 is out of range"),
        (ShapeError, lambda t: F.take_along_axis(t, [0]), "do not go along axis 1"),
        (ShapeError, lambda t: F.take_along_axis(t, [[0], [0]]), "do not go along axis 1"),
        (ShapeError, lambda t: F.scatter(t, 0.0, np.zeros((4, 1), int), 1), "do not go along"),
        (ShapeError, lambda t: F.scatter(t, F.ones(3), [[0, 1]], 1), "does not broadcast"),
        (ShapeError, lambda t: F.gather(F.zeros((0,)), Tensor([0])), "no elements to gather"),
        (IndexBoundsError, lambda t: F.gather(F.zeros((0,)), [0]), "axis 0 of extent 0"),
    ],
)
def test_errors(kind, call, text):
    with pytest.raises(kind) as caught:
        call(Tensor(X))
    assert text in str(caught.value)
    assert "test_gathering.py" in caught.value.where
    assert caught.value.fix
