"""conv_general: every element against a loop over windows, shapes, refusals, accumulation."""

import itertools

import numpy as np
import pytest
from realta.errors import DTypeError, ShapeError
from realta.ops import convert, get_op
from realta.types import Dim, TensorType, bfloat16, float16, float32, int8, int32, tensor_type

OP = get_op("conv_general")
PLAIN = {
    "strides": (1, 1), "low": (0, 0), "high": (0, 0), "input_dilation": (1, 1),
    "dilation": (1, 1), "groups": 1,
}  # fmt: skip


def element(x, filter, place, attrs):
    """One element of the result, term by term."""
    batch, *window, result = place
    channels = filter.shape[-2]
    group = result // (filter.shape[-1] // attrs["groups"])
    total = 0
    for offset in itertools.product(*map(range, filter.shape[:-2])):
        at = []
        for n, k in enumerate(offset):
            where = window[n] * attrs["strides"][n] + k * attrs["dilation"][n] - attrs["low"][n]
            index, gap = divmod(where, attrs["input_dilation"][n])
            at.append(index if not gap and 0 <= index < x.shape[n + 1] else None)
        if None in at:
            continue
        for c in range(channels):
            total += int(x[(batch, *at, group * channels + c)]) * int(filter[(*offset, c, result)])
    return total


@pytest.mark.parametrize("number", range(len(OP.samples)))
def test_every_element_is_the_sum_of_its_terms(call, number):
    sample = OP.samples[number]
    random = np.random.default_rng(number)
    x, filter = (random.integers(-4, 5, shape) for shape in sample.shapes)
    found = call("conv_general", x, filter, **sample.attrs)
    places = list(np.ndindex(*found.shape))
    for place in places[:: max(1, len(places) // 60)]:
        assert found[place] == element(x, filter, place, sample.attrs), place


def test_the_filter_is_not_flipped(call):
    x = np.arange(1.0, 6.0).reshape(1, 5, 1)
    filter = np.array([1.0, 10.0]).reshape(2, 1, 1)
    attrs = {n: v if n == "groups" else v[:1] for n, v in PLAIN.items()}
    assert call("conv_general", x, filter, **attrs).ravel().tolist() == [21, 32, 43, 54]


def test_padding_takes_part_as_zeros(call):
    x, filter = np.ones((1, 1, 1, 1)), np.full((2, 2, 1, 1), np.inf)
    found = call("conv_general", x, filter, **{**PLAIN, "low": (1, 0), "high": (0, 1)})
    assert np.isnan(found).all()


def test_integers_wrap(call):
    x, filter = np.full((1, 1, 1, 4), 100, np.int8), np.full((1, 1, 4, 1), 100, np.int8)
    found = call("conv_general", x, filter, **PLAIN)
    assert found.item() == np.array(4 * 100 * 100).astype(np.int8)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_halves_accumulate_wide(call, dtype):
    ones = convert(np.ones((1, 1, 1, 4096)), dtype)
    found = call("conv_general", ones, ones.reshape(1, 1, 4096, 1), **PLAIN)
    assert float(found.item()) == 4096


def test_symbolic_extents_are_kept():
    batch, width = Dim("batch"), Dim("width")
    x = tensor_type(float32, (batch, 8, width, 3))
    attrs = OP.make_attrs({**PLAIN, "low": (1, 1), "high": (1, 1), "strides": (1, 2)})
    (found,) = OP.result_types((x, tensor_type(float32, (3, 3, 3, 4))), attrs)
    assert str(found) == "f32[batch,8,(width + 1)//2,4]"


def refusal(x=(1, 5, 5, 4), filter=(3, 3, 4, 6), dtype=float32, **changed):
    types = TensorType(float32, x), TensorType(dtype, filter)
    with pytest.raises((ShapeError, DTypeError)) as found:
        OP.result_types(types, OP.make_attrs({**PLAIN, **changed}))
    assert found.value.fix
    return str(found.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": (5, 4)}, "a convolution of (5, 4) with a filter of (3, 3, 4, 6)"),
        ({"x": (1, 5, 4)}, "a convolution of (1, 5, 4) with a filter of (3, 3, 4, 6)"),
        ({"x": (1, 5, 5, 3)}, "takes 4 channels, the operand has 3"),
        ({"groups": 2}, "with 2 group(s) takes 8 channels, the operand has 4"),
        ({"groups": 0}, "0 groups"),
        ({"filter": (3, 3, 2, 5), "groups": 2}, "5 results do not divide into 2 groups"),
        ({"filter": (0, 3, 4, 6)}, "the filter's window (0, 3) has the entry 0"),
        ({"strides": (0, 1)}, "strides (0, 1) has the entry 0"),
        ({"dilation": (1, -2)}, "dilation (1, -2) has the entry -2"),
        ({"low": (-1, 0)}, "low (-1, 0) has the entry -1"),
        ({"high": (1,)}, "high has 1 entries for 2 axes"),
        ({"x": (1, 2, 5, 4)}, "a window of 3 elements does not fit axis 1"),
        ({"dilation": (3, 1)}, "a window of 3 elements, 3 apart, does not fit axis 1"),
        ({"dtype": int32}, "the operands have the dtypes float32 and int32"),
    ],
)
def test_refusals(changed, message):
    assert message in refusal(**changed)


def test_the_bound_counts_the_terms_of_one_group():
    from_bound = OP.result_types(
        (tensor_type(int8, (1, 5, 5, 4)), tensor_type(int8, (3, 3, 2, 6))),
        OP.make_attrs({**PLAIN, "groups": 2}),
    )
    assert from_bound[0].shape == (1, 3, 3, 6)
