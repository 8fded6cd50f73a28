"""Convolutions: the same in every layout and mode, on every device; transposes; refusals."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.types import BY_NAME, as_dtype


def drawn(*shape, dtype="float32", seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return values.astype(BY_NAME[dtype].numpy)


def whole(*shape, seed=0):
    """Small integers as float32, whose sums are exact in any order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def definition(x, filter, stride, dilation, padding, groups):
    """The convolution of channels-last images, window by window."""
    low, high = padding[::2], padding[1::2]
    x = np.pad(x, [(0, 0), *zip(low, high, strict=True), (0, 0)])
    window = filter.shape[:2]
    counts = [
        (x.shape[n + 1] - (window[n] - 1) * dilation[n] - 1) // stride[n] + 1 for n in range(2)
    ]
    results = filter.shape[3] // groups
    out = np.zeros((x.shape[0], *counts, filter.shape[3]), x.dtype)
    for i, j in np.ndindex(*counts):
        part = x[
            :,
            i * stride[0] : i * stride[0] + (window[0] - 1) * dilation[0] + 1 : dilation[0],
            j * stride[1] : j * stride[1] + (window[1] - 1) * dilation[1] + 1 : dilation[1],
        ]
        for g in range(groups):
            own = part[..., g * filter.shape[2] : (g + 1) * filter.shape[2]]
            kernel = filter[..., g * results : (g + 1) * results]
            out[:, i, j, g * results : (g + 1) * results] = np.einsum("nijc,ijcf->nf", own, kernel)
    return out


CASES = [
    {}, {"stride": (2, 1)}, {"dilation": (1, 2)}, {"padding": (1, 0, 2, 1)}, {"groups": 2},
    {"stride": (3, 2), "dilation": (2, 1), "padding": (0, 2, 1, 1), "groups": 4},
]  # fmt: skip


@pytest.mark.parametrize("given", CASES, ids=str)
def test_conv2d(modes, given):
    sizes = {"stride": (1, 1), "dilation": (1, 1), "padding": (0, 0, 0, 0), "groups": 1, **given}
    x, filter = whole(2, 8, 9, 4), whole(3, 2, 4 // sizes["groups"], 8, seed=1)
    expected = definition(x, filter, *sizes.values())
    np.testing.assert_array_equal(modes(lambda a, b: F.conv2d(a, b, **given), x, filter), expected)
    turned, reversed_ = x.transpose(0, 3, 1, 2), filter.transpose(3, 2, 0, 1)
    found = F.conv2d(
        Tensor(turned), Tensor(reversed_), **given, input_layout="NCHW", filter_layout="FCRS"
    )
    np.testing.assert_array_equal(found.numpy().transpose(0, 2, 3, 1), expected)


@pytest.mark.usefixtures("each_device")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_conv2d_is_within_the_bound_on_each_device(modes, dtype):
    x, filter = drawn(1, 6, 7, 33, dtype=dtype), drawn(3, 3, 33, 5, dtype=dtype, seed=1)
    found = modes(lambda a, b: F.conv2d(a, b, padding=1), x, filter)
    wide = [np.asarray(v, np.float64) for v in (x, filter)]
    attrs = {
        "strides": (1, 1), "low": (1, 1), "high": (1, 1), "input_dilation": (1, 1),
        "dilation": (1, 1), "groups": 1,
    }  # fmt: skip
    expected = definition(*wide, (1, 1), (1, 1), (1, 1, 1, 1), 1)
    allowed = allowance(get_op("conv_general"), wide, attrs, expected, as_dtype(dtype))
    assert found.dtype == BY_NAME[dtype].numpy
    assert (np.abs(found.astype(np.float64) - expected) <= allowed).all()


def test_padding_is_one_number_one_an_axis_or_one_a_side():
    x, filter = Tensor(whole(1, 5, 6, 2)), Tensor(whole(3, 3, 2, 2, seed=1))
    for short, full in ((1, (1, 1, 1, 1)), ((1, 2), (1, 1, 2, 2)), ([0, 1], (0, 0, 1, 1))):
        one, other = (F.conv2d(x, filter, padding=p).numpy() for p in (short, full))
        np.testing.assert_array_equal(one, other)


def test_the_bias_is_added_to_each_result(modes):
    x, filter, bias = whole(1, 4, 4, 2), whole(2, 2, 2, 3, seed=1), whole(3, seed=2)
    found = modes(lambda a, b, c: F.conv2d(a, b, bias=c), x, filter, bias)
    np.testing.assert_array_equal(found, F.conv2d(Tensor(x), Tensor(filter)).numpy() + bias)
    first = F.conv2d(
        Tensor(x.transpose(0, 3, 1, 2)), Tensor(filter), bias=bias, input_layout="NCHW"
    )
    np.testing.assert_array_equal(first.numpy(), found.transpose(0, 3, 1, 2))


def test_operands_are_promoted():
    found = F.conv2d(Tensor(whole(1, 3, 3, 1)), Tensor(np.ones((2, 2, 1, 1), np.float64)))
    assert str(found.dtype) == "float64"
    ints = F.conv2d(Tensor(np.ones((1, 3, 3, 1), np.int8)), Tensor(np.ones((2, 2, 1, 1), np.int8)))
    assert str(ints.dtype) == "int8"
    assert (ints.numpy() == 4).all()


def test_conv1d_is_conv2d_of_one_row(modes):
    x, filter = whole(2, 9, 4), whole(3, 2, 6, seed=1)
    found = modes(lambda a, b: F.conv1d(a, b, 2, 2, (3, 1), 2), x, filter)
    row = F.conv2d(Tensor(x[:, None]), Tensor(filter[None]), (1, 2), (1, 2), (0, 0, 3, 1), groups=2)
    np.testing.assert_array_equal(found, row.numpy()[:, 0])
    turned = F.conv1d(
        Tensor(x.transpose(0, 2, 1)), Tensor(filter.transpose(2, 1, 0)), 2, 2, (3, 1), 2,
        input_layout="NCL", filter_layout="FCS",
    )  # fmt: skip
    np.testing.assert_array_equal(turned.numpy(), found.transpose(0, 2, 1))


def test_conv3d_adds_up_conv2d_along_the_depth(modes):
    x, filter = whole(1, 5, 4, 4, 2), whole(2, 3, 3, 2, 3, seed=1)
    found = modes(lambda a, b: F.conv3d(a, b, (2, 1, 1)), x, filter)
    for n in range(2):
        parts = [F.conv2d(Tensor(x[:, 2 * n + k]), Tensor(filter[k])).numpy() for k in range(2)]
        np.testing.assert_array_equal(found[:, n], parts[0] + parts[1])
    turned = F.conv3d(
        Tensor(x.transpose(0, 4, 1, 2, 3)), Tensor(filter.transpose(4, 3, 0, 1, 2)), (2, 1, 1),
        input_layout="NCHW", filter_layout="FCQRS",
    )  # fmt: skip
    np.testing.assert_array_equal(turned.numpy(), found.transpose(0, 4, 1, 2, 3))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("stride", "dilation", "padding", "more"),
    [
        (1, 1, 0, 0), (2, 1, 1, 1), ((3, 2), (1, 2), (2, 0), (1, 0)), (1, 1, 2, 0),
        (2, 1, (3, 3, 2, 1), 0), (3, 1, (0, 2, 1, 0), (2, 0)),
    ],
)  # fmt: skip
def test_conv2d_transpose_is_the_transpose(modes, stride, dilation, padding, more, groups):
    """<conv(y), x> = <y, transpose(x)> for all x and y: the definition of a transpose."""
    x, filter = whole(2, 4, 5, 6), whole(3, 2, 4 // groups, 6, seed=1)
    sizes = {"stride": stride, "dilation": dilation, "padding": padding, "groups": groups}
    found = modes(lambda a, b: F.conv2d_transpose(a, b, **sizes, output_paddings=more), x, filter)
    y = whole(*found.shape, seed=2)
    there = F.conv2d(Tensor(y), Tensor(filter), **sizes).numpy()
    assert there.shape == x.shape
    assert (there * x).sum() == (y * found).sum()


def test_conv2d_transpose_in_pytorchs_layouts():
    x, filter, bias = whole(1, 4, 3, 3), whole(4, 2, 2, 3, seed=1), whole(2, seed=2)
    found = F.conv2d_transpose(
        Tensor(x), Tensor(filter), 2, bias=bias, input_layout="NCHW", filter_layout="FCRS"
    )
    plain = F.conv2d_transpose(
        Tensor(x.transpose(0, 2, 3, 1)), Tensor(filter.transpose(2, 3, 1, 0)), 2, bias=bias
    )
    np.testing.assert_array_equal(found.numpy(), plain.numpy().transpose(0, 3, 1, 2))


def test_a_symbolic_batch_stays_open():
    def both(x, filter):
        return F.conv2d_transpose(
            F.conv2d(x, filter, 2, padding=1), filter, 2, padding=(3, 3, 3, 3)
        )

    compiled = realta.compile(both)(
        realta.TensorType("float32", ("batch", 8, 8, 2)), realta.TensorType("float32", (3, 3, 2, 2))
    )
    filter = Tensor(whole(3, 3, 2, 2, seed=1))
    for batch in (1, 3, 0):
        x = Tensor(whole(batch, 8, 8, 2))
        np.testing.assert_array_equal(compiled(x, filter).numpy(), both(x, filter).numpy())


def refusal(error, function, *args, **kwargs):
    with pytest.raises(error) as found:
        function(*[Tensor(np.ones(a, np.float32)) if isinstance(a, tuple) else a for a in args],
                 **kwargs)  # fmt: skip
    assert found.value.fix
    return str(found.value)


X, W = (1, 5, 5, 4), (3, 3, 4, 6)


@pytest.mark.parametrize(
    ("error", "args", "kwargs", "message"),
    [
        (ShapeError, ((5, 5, 4), W), {}, "conv2d takes x of 4 axes (NHWC)"),
        (ShapeError, (X, (3, 4, 6)), {}, "conv2d takes a filter of 4 axes (RSCF)"),
        (ShapeError, (X, (3, 3, 3, 6)), {}, "takes 3 channels in 1 group(s), x has 4"),
        (ShapeError, (X, (3, 3, 2, 5)), {"groups": 2}, "the 5 results of conv2d do not divide"),
        (ArgumentError, (X, W), {"groups": 0}, "groups=0 of conv2d"),
        (ArgumentError, (X, W), {"groups": True}, "groups=True of conv2d"),
        (ArgumentError, (X, W), {"stride": 0}, "stride=0 has a number below 1"),
        (ArgumentError, (X, W), {"dilation": (1, -1)}, "dilation=(1, -1) has a number below 1"),
        (ArgumentError, (X, W), {"padding": (1, 1, 1, -1)}, "has a number below 0"),
        (ArgumentError, (X, W), {"padding": (1, 1, 1)}, "is not 1 or 2 or 4 integer(s)"),
        (ArgumentError, (X, W), {"stride": 1.5}, "stride=1.5 is not 1 or 2 integer(s)"),
        (ArgumentError, (X, W), {"input_layout": "CHWN"}, "no input layout 'CHWN'"),
        (ArgumentError, (X, W), {"filter_layout": "OIHW"}, "no filter layout 'OIHW'"),
        (ShapeError, (X, W), {"bias": np.ones(5)}, "a bias of f64[5]"),
        (
            ShapeError,
            ((1, 2, 5, 4), W),
            {},
            "a window of conv2d over 3 elements does not fit axis 1 of 2",
        ),
    ],
)
def test_refusals(error, args, kwargs, message):
    assert message in refusal(error, F.conv2d, *args, **kwargs)


def test_refusals_of_transposes():
    args = (X, (3, 3, 6, 4))
    assert "output_paddings=(2, 2)" in refusal(
        ArgumentError, F.conv2d_transpose, *args, stride=2, output_paddings=2
    )
    assert "leaves -3 elements of axis 1" in refusal(
        ShapeError, F.conv2d_transpose, *args, padding=(5, 5, 0, 0)
    )
    assert "takes 6 channels" in refusal(ShapeError, F.conv2d_transpose, X, (3, 3, 4, 6))
    with pytest.raises(DTypeError):
        F.conv2d(Tensor(np.ones(X, bool)), Tensor(np.ones(W, bool)))


def test_errors_count_axes_as_the_caller_does():
    message = refusal(ShapeError, F.conv2d, (1, 4, 2, 5), W, input_layout="NCHW")
    assert "does not fit axis 2 of 2 elements" in message
    message = refusal(ShapeError, F.max_pool2d, (1, 4, 5, 2), 3, input_layout="NCHW")
    assert "does not fit axis 3 of 2 elements" in message
