"""unfold and fold: windows as columns, and back."""

import numpy as np
import pytest
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.types import BY_NAME

SIZES = [(3, 1, 1, 0), ((2, 3), (2, 1), 1, (1, 0)), (3, 2, 2, 2), (2, 3, 1, 1)]


def images(*shape):
    return np.random.default_rng(0).integers(-9, 10, shape).astype(np.float32)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_unfold(modes, sizes):
    x = images(2, 3, 7, 8)
    kernel, stride, dilation, padding = (n if isinstance(n, tuple) else (n, n) for n in sizes)
    found = modes(lambda t: F.unfold(t, *sizes), x)
    wide = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    columns = [
        wide[
            :,
            :,
            i : i + reach[0] : dilation[0],
            j : j + reach[1] : dilation[1],
        ].reshape(2, -1)
        for i in range(0, wide.shape[2] - reach[0] + 1, stride[0])
        for j in range(0, wide.shape[3] - reach[1] + 1, stride[1])
    ]
    np.testing.assert_array_equal(found, np.stack(columns, axis=-1))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_fold_is_the_transpose_of_unfold(modes, sizes):
    columns = F.unfold(Tensor(images(2, 3, 7, 8)), *sizes).numpy()
    y = np.random.default_rng(1).integers(-9, 10, columns.shape).astype(np.float32)
    found = modes(lambda t: F.fold(t, (7, 8), *sizes), y)
    assert found.shape == (2, 3, 7, 8)
    x = images(2, 3, 7, 8)
    assert (F.unfold(Tensor(x), *sizes).numpy() * y).sum() == (x * found).sum()


@pytest.mark.usefixtures("each_device")
def test_halves_add_up_wide(modes):
    y = np.ones((1, 300, 300)).astype(BY_NAME["bfloat16"].numpy)  # counts to 256 only
    found = modes(lambda t: F.fold(t, (1, 599), (1, 300)), y)
    assert float(found[0, 0, 0, 299]) == 300


def test_an_infinity_stays_where_it_is(modes):
    y = np.zeros((1, 4, 4), np.float32)
    y[0, 0, 0] = np.inf
    found = modes(lambda t: F.fold(t, 3, 2), y)
    assert np.isinf(found[0, 0, 0, 0])
    assert np.isfinite(found.ravel()[1:]).all()


@pytest.mark.parametrize(
    ("error", "shape", "args", "message"),
    [
        (ShapeError, (4, 4), (3, 2), "fold takes an input of 3 axes"),
        (ShapeError, (1, 5, 4), (3, 2), "takes a multiple of 4 rows and 4 columns"),
        (ShapeError, (1, 4, 5), (3, 2), "takes a multiple of 4 rows and 4 columns"),
        (ShapeError, (1, 4, 4), (1, 2), "does not fit an extent of 1"),
        (ArgumentError, (1, 4, 4), (0, 2), "output_size=0 has a number below 1"),
        (ArgumentError, (1, 4, 4), (3, (2, 2, 2)), "kernel_size=(2, 2, 2)"),
    ],
)
def test_refusals(error, shape, args, message):
    with pytest.raises(error) as found:
        F.fold(Tensor(np.ones(shape, np.float32)), *args)
    assert message in str(found.value)
    assert found.value.fix
