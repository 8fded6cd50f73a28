"""Movement functions against NumPy over dtypes and shapes, in all modes."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.testing import assert_same_bits
from realta.types import BY_NAME, DTYPES

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", [d.name for d in DTYPES])
def test_every_dtype_moves(modes, dtype):
    x = (np.arange(6).reshape(2, 3) % 2).astype(BY_NAME[dtype].numpy)
    found = modes(
        lambda t: (
            F.reshape(t, (3, 2)), F.permute(t, [1, 0]), F.flip(t), F.broadcast_to(t, (4, 2, 3)),
            F.concat([t, t]), F.tile(t, (1, 2)), F.roll(t, 1, 1), t[::-1, 1:], F.gather(t, [1]),
        ),
        x,
    )  # fmt: skip
    expected = [
        x.reshape(3, 2), x.T, np.flip(x), np.broadcast_to(x, (4, 2, 3)), np.concatenate([x, x]),
        np.tile(x, (1, 2)), np.roll(x, 1, 1), x[::-1, 1:], x[[1]],
    ]  # fmt: skip
    for result, wanted in zip(found, expected, strict=True):
        assert_same_bits(result, wanted)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda t: F.reshape(t, 24), X.reshape(24)),
        (lambda t: F.reshape(t, (4, -1)), X.reshape(4, 6)),
        (lambda t: F.reshape(t, [2, 3, 4]), X),
        (lambda t: t.reshape((1, 24, 1)), X.reshape(1, 24, 1)),
        (lambda t: F.flatten(t), X.reshape(24)),
        (lambda t: F.flatten(t, 1), X.reshape(2, 12)),
        (lambda t: F.flatten(t, -3, 1), X.reshape(6, 4)),
        (lambda t: F.permute(t, [2, 0, 1]), X.transpose(2, 0, 1)),
        (lambda t: F.permute(t, (-1, 0, 1)), X.transpose(2, 0, 1)),
        (lambda t: F.transpose(t), X.swapaxes(1, 2)),
        (lambda t: F.transpose(t, 0, -1), X.swapaxes(0, 2)),
        (lambda t: t.T, X.swapaxes(1, 2)),
        (lambda t: t.mT, X.swapaxes(1, 2)),
        (lambda t: F.moveaxis(t, 0, -1), np.moveaxis(X, 0, -1)),
        (lambda t: F.moveaxis(t, [0, 2], [1, 0]), np.moveaxis(X, [0, 2], [1, 0])),
        (lambda t: F.unsqueeze(t, 0), X[None]),
        (lambda t: F.unsqueeze(t, [0, -1]), X[None, ..., None]),
        (lambda t: F.squeeze(F.unsqueeze(t, [1, 3])), X),
        (lambda t: F.squeeze(F.unsqueeze(t, [1, 3]), 1), X[:, :, None]),
        (lambda t: F.flip(t, 0), X[::-1]),
        (lambda t: F.flip(t, (0, -1)), X[::-1, :, ::-1]),
        (lambda t: F.flip(t), X[::-1, ::-1, ::-1]),
        (lambda t: F.broadcast_to(t, (5, 2, 3, 4)), np.broadcast_to(X, (5, 2, 3, 4))),
        (lambda t: F.broadcast_to(t[:, :1], (2, 3, 4)), np.broadcast_to(X[:, :1], X.shape)),
        (lambda t: F.barrier(t) + 1, X + 1),
        (lambda t: F.bitcast(t, "int32"), X.view(np.int32)),
        (lambda t: F.cast(t, "float64"), X.astype(np.float64)),
        (lambda t: F.to(t, "reference:0"), X),
        (lambda t: +t, X),
    ],
)
def test_against_numpy(modes, call, expected):
    assert_same_bits(modes(call, X), expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: F.reshape(t, t.shape), lambda t: F.permute(t, [0, 1, 2]), lambda t: +t,
        lambda t: F.cast(t, t.dtype), lambda t: F.broadcast_to(t, t.shape), lambda t: t[...],
        lambda t: F.squeeze(t), lambda t: F.to(t, t.device), lambda t: F.concat([t]),
        lambda t: F.clip(t), lambda t: F.sum(t, axis=()), lambda t: F.roll(t, 0), lambda t: t[:],
        lambda t: F.pad(t, [0] * 6, "edge"), lambda t: F.transpose(t, 1, 1), lambda t: F.tile(t, 1),
    ],
)  # fmt: skip
def test_a_function_that_has_nothing_to_do_gives_another_handle(call):
    t = Tensor(X)
    for _ in range(2):
        same = call(t)
        assert same is not t
        same[0] = -1.0
        assert_same_bits(t, X)


def test_empty_and_zero_dimensional(modes):
    nothing = np.zeros((1, 0, 4), np.float32)
    assert modes(lambda t: F.reshape(t, (0, 7)), nothing).shape == (0, 7)
    assert modes(lambda t: F.flip(t), nothing).shape == (1, 0, 4)
    assert modes(lambda t: F.permute(t, [1, 2, 0]), nothing).shape == (0, 4, 1)
    scalar = np.float32(3.0)
    assert modes(lambda t: F.reshape(t, (1, 1)), scalar).shape == (1, 1)
    assert modes(F.flatten, scalar).shape == (1,)
    assert modes(F.flip, scalar) == 3.0
    assert modes(lambda t: t.T, scalar) == 3.0
    assert modes(lambda t: F.permute(t, []), scalar) == 3.0
    assert modes(lambda t: F.broadcast_to(t, (0,)), scalar).shape == (0,)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: F.reshape(t, (5, 5)), "24 elements cannot become 25"),
        (lambda t: F.reshape(t, (-1, -1)), "at most one extent may be -1"),
        (lambda t: F.reshape(t, (-2, 12)), "cannot be negative"),
        (lambda t: F.reshape(F.zeros((1, 0, 4)), (1, 0, -1)), "not determined"),
        (lambda t: F.permute(t, [0, 1]), "names 2"),
        (lambda t: F.permute(t, [0, 0, 1]), "named twice"),
        (lambda t: F.permute(t, [0, 1, 3]), "axis 3 is out of range"),
        (lambda t: F.transpose(t, 0, 5), "axis 5 is out of range"),
        (lambda t: F.transpose(t[0, 0]), "axis -2 is out of range"),
        (lambda t: F.squeeze(t, 0), "axis 0 has the extent 2"),
        (lambda t: F.unsqueeze(t, 5), "axis 5 is out of range"),
        (lambda t: F.broadcast_to(t, (2, 3, 5)), "do not broadcast"),
        (lambda t: F.broadcast_to(t, (3, 4)), "does not broadcast"),
        (lambda t: F.broadcast_to(t, (2, 1, 4)), "does not broadcast"),
    ],
)
def test_shapes_that_do_not_fit(call, text):
    t = Tensor(X)
    with pytest.raises(ShapeError, match=text) as caught:
        call(t)
    assert "test_movement.py" in caught.value.where
    assert caught.value.fix


def test_arguments_that_do_not_fit():
    t = Tensor(X)
    with pytest.raises(ArgumentError, match="from axis 2 to axis 0"):
        F.flatten(t, 2, 0)
    with pytest.raises(ArgumentError, match="1 axes to 2 places"):
        F.moveaxis(t, 0, [1, 2])
    with pytest.raises(ArgumentError) as caught:
        t.permute(2, 0, 1)
    assert caught.value.fix == "give the axes as one list, as in permute(x, [2, 0, 1])"


def test_moves_of_a_pending_tensor_stay_pending():
    with realta.lazy():
        pending = Tensor(X) * 2
    moved = [
        pending.reshape(24), pending.T, pending.cast("int32"), pending.to("reference:0"),
        F.flip(pending), pending[0], pending[..., 1:], F.squeeze(pending),
        F.moveaxis(pending, 0, 1),
    ]  # fmt: skip
    assert not any(t.is_real for t in (pending, *moved))
    assert moved[1].numpy().tolist() == (X * 2).swapaxes(1, 2).tolist()
    assert moved[5].numpy().tolist() == (X * 2)[0].tolist()
    assert (pending + 1).is_real


def test_symbolic_extents_pass_through():
    batch = realta.TensorType("float32", ("batch", 3), "reference:0")

    def body(x):
        return (
            F.permute(x, [1, 0]), x.reshape((-1, 1, 3)), x[:, 1], x[:, ::2], x[0],
            F.unsqueeze(x, 0),
            F.concat([x, x], axis=1), x + F.ones((3,)), F.flatten(x), F.split(x, 1, axis=1)[2],
            F.stack([x, x]), F.tile(x, (1, 2)), F.softmax(x), F.sum(x, 0), F.zeros_like(x),
        )  # fmt: skip

    compiled = realta.compile(body)(batch)
    for rows in (1, 2, 5):
        x = X.reshape(-1)[: rows * 3].reshape(rows, 3)
        found = compiled(Tensor(x))
        eager = body(Tensor(x))
        for result, wanted in zip(found, eager, strict=True):
            assert_same_bits(result, wanted)
    for call in (lambda t: t[1:], lambda t: F.split(t, 2), lambda t: F.flip(t)):
        with pytest.raises(ShapeError, match="symbolic"):
            realta.stage(call)(batch)
