"""Spectral functions against NumPy's transforms and complex numbers."""

import enum

import numpy as np
import pytest
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError


def pairs(z):
    return np.stack([z.real, z.imag], axis=-1)


def spectrum(*shape):
    random = np.random.default_rng(0)
    return random.normal(size=shape) + 1j * random.normal(size=shape)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 2, 7, 9, 15, 16, 40])
def test_irfft_is_numpys(n, norm):
    z = spectrum(2, 9, 3)
    z[:, [0, -1]] = z[:, [0, -1]].real  # what stands for one frequency has no imaginary part
    found = F.irfft(Tensor(pairs(z)), n, 1, norm, True).numpy()
    np.testing.assert_allclose(found, np.fft.irfft(z, n, 1, norm), rtol=0, atol=2e-14)


@pytest.mark.usefixtures("each_device")
def test_irfft_in_all_modes_and_precisions(modes):
    z = spectrum(3, 129)
    for dtype, eps in ((np.float32, 2.0**-23), (np.float16, 2.0**-10)):
        x = pairs(z).astype(dtype)
        found = modes(lambda t: F.irfft(t, input_is_complex=True), x)
        exact = np.fft.irfft(x[..., 0].astype(float) + 1j * x[..., 1].astype(float))
        # The bound of contractions: K = 258 terms, each of an entry no larger than 2/n.
        size = np.abs(x.astype(float)).sum(axis=(1, 2))[:, None] * 2 / 256
        bound = (8 + np.sqrt(258) / 2) * 2.0**-23 * size + eps * np.abs(exact)
        assert found.dtype == dtype
        assert (np.abs(found - exact) <= bound).all()


def test_a_real_spectrum_has_no_imaginary_part(modes):
    x = np.random.default_rng(1).normal(size=(2, 6))
    found = modes(F.irfft, x)
    np.testing.assert_allclose(found, np.fft.irfft(x), atol=1e-14)
    np.testing.assert_allclose(
        F.irfft(Tensor(x), axis=0).numpy(), np.fft.irfft(x, axis=0), atol=1e-14
    )


def test_normalization_may_be_an_enum():
    class Normalization(enum.Enum):
        ORTHO = "ortho"

    x = Tensor(np.arange(5.0))
    named = F.irfft(x, normalization=Normalization.ORTHO).numpy()
    np.testing.assert_array_equal(named, F.irfft(x, normalization="ortho").numpy())


def test_round_trip_of_one_wave():
    n = 1000
    z = np.zeros(501, complex)
    z[123] = n / 2
    found = F.irfft(Tensor(pairs(z)), input_is_complex=True).numpy()
    np.testing.assert_allclose(found, np.cos(2 * np.pi * 123 * np.arange(n) / n), atol=1e-13)


@pytest.mark.parametrize(
    ("error", "shape", "options", "message"),
    [
        (ShapeError, (3, 5), {"input_is_complex": True}, "takes pairs along a last axis"),
        (ShapeError, (3, 1), {}, "irfft to 0 values"),
        (ShapeError, (3, 5), {"n": 0}, "irfft to 0 values"),
        (ShapeError, (3, 2), {"axis": 1, "input_is_complex": True}, "axis 1"),
        (ArgumentError, (3, 5), {"normalization": "unitary"}, "no normalization 'unitary'"),
    ],
)
def test_refusals_of_irfft(error, shape, options, message):
    with pytest.raises(error) as found:
        F.irfft(Tensor(np.ones(shape, np.float32)), **options)
    assert message in str(found.value)


def test_complex_mul(modes):
    a, b = spectrum(2, 3), spectrum(3)
    found = modes(F.complex_mul, pairs(a), pairs(b))
    np.testing.assert_allclose(found, pairs(a * b), rtol=1e-13)
    with pytest.raises(ShapeError, match="takes pairs along a last axis of extent 2"):
        F.complex_mul(Tensor(np.ones((2, 3))), Tensor(np.ones((2, 3))))
    with pytest.raises(ShapeError, match="broadcast"):
        F.complex_mul(Tensor(np.ones((2, 2))), Tensor(np.ones((3, 2))))


def test_as_interleaved_complex(modes):
    x = np.arange(12.0).reshape(2, 6)
    np.testing.assert_array_equal(modes(F.as_interleaved_complex, x), x.reshape(2, 3, 2))
    for wrong in (np.ones((2, 3)), np.float64(1)):
        with pytest.raises(ShapeError, match="as_interleaved_complex"):
            F.as_interleaved_complex(Tensor(wrong))


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 8, 33])
def test_hann_window(length, periodic):
    found = F.hann_window(length, periodic=periodic, dtype="float64").numpy()
    expected = np.hanning(length + 1)[:-1] if periodic and length > 1 else np.hanning(length)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    assert str(F.hann_window(length).dtype) == "float32"


@pytest.mark.parametrize("args", [(-1,), (2.5,), (True,)])
def test_refusals_of_hann_window(args):
    with pytest.raises(ArgumentError, match="window_length"):
        F.hann_window(*args)
    with pytest.raises(ArgumentError, match="hann_window in int32"):
        F.hann_window(4, dtype="int32")
