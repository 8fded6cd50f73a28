"""Rotary positions beside rotations by complex numbers in float64."""

import math

import numpy as np
import pytest
import realta
from realta import Tensor, TensorType, nn
from realta.errors import ArgumentError, IndexBoundsError, ShapeError
from realta.testing import assert_same_bits

X = np.random.default_rng(2).standard_normal((2, 5, 3, 8)).astype(np.float32)


def turned(x, positions, base=10000.0):
    """Each pair of neighbours as a complex number, times exp(i * position * frequency)."""
    pairs = x.astype(np.float64).reshape(*x.shape[:-1], -1, 2)
    frequency = base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = np.asarray(positions)[:, None, None] * frequency
    found = (pairs[..., 0] + 1j * pairs[..., 1]) * np.exp(1j * angle)
    return np.stack([found.real, found.imag], -1).reshape(x.shape)


def halves_apart(x):
    """The layout of pairs of a feature of the first half and one of the second."""
    return np.concatenate([x[..., 0::2], x[..., 1::2]], -1)


@pytest.fixture
def layer(each_device):
    return nn.RotaryEmbedding(nn.positional_embedding(8, 10000.0, 16))


def test_the_table(each_device):
    table = nn.positional_embedding(8, 100.0, 6)
    assert table.shape == (6, 4, 2)
    assert table.dtype is realta.float32
    angle = np.arange(6)[:, None] * 100.0 ** (-np.arange(4) / 4)
    wanted = np.stack([np.cos(angle), np.sin(angle)], -1)
    np.testing.assert_allclose(table.numpy(), wanted, atol=6e-8)
    assert nn.positional_embedding(8, 100.0, 6, dtype="float16").dtype is realta.float16


def test_positions_known_before(layer):
    np.testing.assert_allclose(layer(Tensor(X)).numpy(), turned(X, range(5)), atol=1e-6)
    np.testing.assert_allclose(layer(Tensor(X), 11).numpy(), turned(X, range(11, 16)), atol=1e-6)
    assert (layer.dim, layer.max_sequence_length) == (8, 16)


def test_positions_known_at_run_time(layer):
    assert_same_bits(layer(Tensor(X), Tensor(7)), layer(Tensor(X), 7))
    compiled = layer.compile(TensorType("float32", ("b", "n", 3, 8)), TensorType("int64", ()))
    for start in (0, 7, 11):
        assert_same_bits(compiled(Tensor(X), Tensor(start)), layer(Tensor(X), start))
    with pytest.raises(IndexBoundsError, match="index 16 is out of bounds for axis 0"):
        compiled(Tensor(X), Tensor(12)).numpy()


def test_symbolic_lengths(layer):
    compiled = layer.compile(TensorType("float32", (2, "n", 3, 8)))
    for length in (1, 5):
        part = Tensor(np.ascontiguousarray(X[:, :length]))
        assert_same_bits(compiled(part), layer(part))


def test_halves(each_device):
    layer = nn.TransposedRotaryEmbedding(nn.positional_embedding(8, 10000.0, 16))
    wanted = halves_apart(turned(X, range(3, 8)))
    np.testing.assert_allclose(layer(Tensor(halves_apart(X)), 3).numpy(), wanted, atol=1e-6)


def test_half_types_are_rounded_once(layer):
    x = Tensor(X).cast("float16")
    assert_same_bits(layer(x, 2), layer(x.cast("float32"), 2).cast("float16"))


def test_yarn():
    plain = nn.positional_embedding(64, 10000.0, 9, dtype="float64").numpy()
    table = nn.yarn(
        64, 10000.0, 9, factor=4.0, original_length=512, beta_fast=32.0, beta_slow=1.0,
        dtype="float64",
    ).numpy()  # fmt: skip
    scale = 0.1 * math.log(4.0) + 1
    np.testing.assert_allclose(np.hypot(table[..., 0], table[..., 1]), scale, rtol=1e-12)
    angles, stretched = (np.arctan2(t[1, :, 1], t[1, :, 0]) for t in (plain, table))
    ratio = angles / stretched
    np.testing.assert_allclose(ratio[:3], 1)  # many rotations within 512 positions
    np.testing.assert_allclose(ratio[-5:], 4)  # less than one
    assert (np.diff(ratio) > -1e-9).all()
    assert (ratio > 1.01).any()
    assert (ratio < 3.9).any()
    same = nn.yarn(64, 10000.0, 9, factor=1.0, original_length=512, dtype="float64").numpy()
    np.testing.assert_allclose(same, plain)


def test_what_does_not_fit(layer):
    with pytest.raises(ArgumentError, match="7 features, which are no pairs"):
        nn.positional_embedding(7, 10000.0, 4)
    with pytest.raises(ArgumentError, match=r"factor=0\.5 would shorten"):
        nn.yarn(8, 10000.0, 4, factor=0.5, original_length=4)
    with pytest.raises(ShapeError, match="a table of rotations of"):
        nn.RotaryEmbedding(Tensor(np.zeros((4, 4))))
    with pytest.raises(ShapeError, match="the table is for 8 features") as caught:
        layer(Tensor(X[..., :6]))
    assert "test_rotary.py" in caught.value.where
    for start in (12, -1):
        with pytest.raises(ShapeError, match="the table has 16"):
            layer(Tensor(X), start)
    with pytest.raises(ArgumentError, match="extents are no values"):
        layer.trace(TensorType("float32", (2, 5, 3, 8)), realta.types.Dim("n"))
