"""Joining, splitting, padding and rolling against NumPy, in all modes."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.testing import assert_same_bits

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
Y = -X


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t, u: F.concat([t, u]), np.concatenate([X, Y])),
        (lambda t, u: F.concat((t, u, t), axis=-1), np.concatenate([X, Y, X], axis=-1)),
        (lambda t, u: F.concat([t, u[:, :0]], axis=1), X),
        (lambda t, u: F.concat([t, u[0]], axis=None), np.concatenate([X, Y[0]], axis=None)),
        (lambda t, u: F.concat(t), X.reshape(6, 4)),
        (lambda t, u: F.stack([t, u]), np.stack([X, Y])),
        (lambda t, u: F.stack([t, u], axis=-1), np.stack([X, Y], axis=-1)),
        (lambda t, u: F.stack([t], axis=1), np.stack([X], axis=1)),
        (lambda t, u: F.stack([1.0, t[0, 0, 1], 3.0]), np.array([1, 1, 3], np.float32)),
        (lambda t, u: F.tile(t, 2), np.tile(X, 2)),
        (lambda t, u: F.tile(t, (2, 1, 1, 3)), np.tile(X, (2, 1, 1, 3))),
        (lambda t, u: F.tile(t, (0, 1)), np.tile(X, (0, 1))),
        (lambda t, u: F.roll(t, 5), np.roll(X, 5)),
        (lambda t, u: F.roll(t, -1, 1), np.roll(X, -1, 1)),
        (lambda t, u: F.roll(t, (1, 2), (0, -1)), np.roll(X, (1, 2), (0, -1))),
        (lambda t, u: F.roll(t, 3, (1, 2)), np.roll(X, 3, (1, 2))),
        (lambda t, u: F.pad(t, [0, 0, 1, 2, 3, 0]), np.pad(X, [(0, 0), (1, 2), (3, 0)])),
        (
            lambda t, u: F.pad(t, [(1, 0), (0, 0), (0, 1)], value=7.25),
            np.pad(X, [(1, 0), (0, 0), (0, 1)], constant_values=7.25),
        ),
        (
            lambda t, u: F.pad(t, [2, 3, 0, 1, 0, 5], "edge"),
            np.pad(X, [(2, 3), (0, 1), (0, 5)], "edge"),
        ),
        (
            lambda t, u: F.pad(t, [1, 1, 2, 2, 3, 1], "reflect"),
            np.pad(X, [(1, 1), (2, 2), (3, 1)], "reflect"),
        ),
    ],
)
def test_against_numpy(modes, call, expected):
    assert_same_bits(modes(call, X, Y), expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: F.split(t, 2, axis=1), [X[:, :2], X[:, 2:]]),
        (lambda t: F.split(t, [1, 0, 3], axis=-1), [X[..., :1], X[..., 1:1], X[..., 1:]]),
        (lambda t: F.split(t, 7), [X]),
        (lambda t: F.chunk(t, 2, axis=2), [X[..., :2], X[..., 2:]]),
        (lambda t: F.chunk(t, 1), [X]),
        (lambda t: F.chunk(t[:0], 3), [X[:0]] * 3),
        (lambda t: F.split(t[:0], 3), [X[:0]]),
    ],
)
def test_parts(modes, call, expected):
    found = modes(call, X)
    found = found if isinstance(found, list) else [found]
    assert len(found) == len(expected)
    for part, wanted in zip(found, expected, strict=True):
        assert_same_bits(part, wanted)


def test_dtypes_are_promoted():
    assert F.concat([Tensor([1]), Tensor([0.5])]).tolist() == [1.0, 0.5]
    assert F.stack([Tensor(1, dtype="int8"), Tensor(200, dtype="uint8")]).dtype is realta.int16
    assert F.stack([Tensor(1, dtype="int8"), 2]).dtype is realta.int8


def test_padding_takes_its_value_in_the_dtype(modes):
    x = np.array([1, 2], np.int8)
    assert modes(lambda t: F.pad(t, (1, 1), value=-3), x).tolist() == [-3, 1, 2, -3]
    for value in (0.1, 0.2, 0.3):
        assert F.pad(Tensor([1.0]), (0, 1), value=value).tolist()[1] == np.float32(value)
    with pytest.raises(OverflowError):
        F.pad(Tensor(x), (1, 1), value=300)


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (ShapeError, lambda t: F.concat([t, t[0]]), "do not join"),
        (ShapeError, lambda t: F.concat([t, t[:, :1]]), "do not join"),
        (ShapeError, lambda t: F.concat([t, t], axis=3), "axis 3 is out of range"),
        (ShapeError, lambda t: F.concat([t[0, 0, 0]]), "no axes"),
        (ArgumentError, lambda t: F.concat([]), "concat of no tensors"),
        (ArgumentError, lambda t: F.stack([]), "stack of no tensors"),
        (ShapeError, lambda t: F.stack([t, t[0]]), "stack of shapes"),
        (ShapeError, lambda t: F.split(t, [1, 1], axis=1), "do not add up to the extent 3"),
        (ShapeError, lambda t: F.split(t, [4, -1], axis=1), "do not add up"),
        (ArgumentError, lambda t: F.split(t, 0), "parts of 0"),
        (ShapeError, lambda t: F.chunk(t, 2, axis=1), "extent 3 of axis 1 does not divide into 2"),
        (ShapeError, lambda t: F.chunk(t, 0), "does not divide into 0"),
        (ArgumentError, lambda t: F.pad(t, [1, 1]), "for 3 axes"),
        (ArgumentError, lambda t: F.pad(t, [-1, 0, 0, 0, 0, 0]), "two sizes >= 0"),
        (ArgumentError, lambda t: F.pad(t, [0] * 6, "wrap"), "no mode 'wrap'"),
        (ShapeError, lambda t: F.pad(t, [2, 0, 0, 0, 0, 0], "reflect"), "border of 2"),
        (ShapeError, lambda t: F.pad(t[:0], [1, 0, 0, 0, 0, 0], "edge"), "extent of 0"),
        (ArgumentError, lambda t: F.roll(t, (1, 2), (0, 1, 2)), "2 shifts for 3 axes"),
        (ArgumentError, lambda t: F.tile(t, -1), "counts >= 0"),
    ],
)
def test_errors(kind, call, text):
    with pytest.raises(kind) as caught:
        call(Tensor(X))
    assert text in str(caught.value)
    assert "test_joining.py" in str(caught.value)
    assert caught.value.fix
