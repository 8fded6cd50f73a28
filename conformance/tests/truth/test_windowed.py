"""Window truth: by hand where a few numbers show everything, and exact for float64."""

import numpy as np
import pytest
from realta.types import float32, float64, int8
from realta_conformance.truth.windowed import conv_general, reduce_window

PLAIN = {
    "strides": (1,), "low": (0,), "high": (0,), "input_dilation": (1,), "dilation": (1,),
    "groups": 1,
}  # fmt: skip


def line(*values):
    return np.array(values, np.float64).reshape(1, len(values), 1)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, [21, 32, 43]),
        ({"strides": (2,)}, [21, 43]),
        ({"low": (1,), "high": (2,)}, [10, 21, 32, 43, 4, 0]),
        ({"dilation": (2,)}, [31, 42]),
        ({"input_dilation": (2,)}, [1, 20, 2, 30, 3, 40]),
        ({"input_dilation": (3,), "low": (1,), "strides": (2,)}, [10, 0, 2, 30, 0]),
    ],
)
def test_a_line(changed, expected):
    filter = np.array([1.0, 10.0]).reshape(2, 1, 1)
    found = conv_general(line(1, 2, 3, 4), filter, float32, **{**PLAIN, **changed})
    assert found.ravel().tolist() == expected


def test_groups_and_channels():
    x = np.array([1.0, 2.0, 3.0, 4.0]).reshape(1, 1, 4)
    filter = np.array([[1.0, 10.0], [100.0, 1000.0]]).reshape(1, 2, 2)
    found = conv_general(x, filter, float32, **{**PLAIN, "groups": 2})
    assert found.ravel().tolist() == [201.0, 4030.0]


def test_integers_wrap():
    x, filter = np.full((1, 1, 2), 100, np.int8), np.full((1, 2, 1), 100, np.int8)
    assert conv_general(x, filter, int8, **PLAIN).item() == np.array(20000).astype(np.int8)


def test_float64_is_exact():
    x, filter = line(1e16, 1.0, -1e16), np.ones((3, 1, 1))
    assert conv_general(x, filter, float64, **PLAIN).item() == 1.0


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("add", [1, 3, 5, 7, 4]),
        ("mul", [1, 2, 6, 12, 4]),
        ("max", [1, 2, 3, 4, 4]),
        ("min", [1, 1, 2, 3, 4]),
    ],
)
def test_windows_of_a_line(reduce, expected):
    found = reduce_window(
        np.array([1.0, 2.0, 3.0, 4.0]), float32, window=(2,), strides=(1,), low=(1,), high=(1,),
        dilation=(1,), reduce=reduce,
    )  # fmt: skip
    assert found.tolist() == expected
    apart = reduce_window(
        np.array([[1, 2, 3, 4]], np.int8), int8, window=(1, 2), strides=(1, 1), low=(0, 0),
        high=(0, 0), dilation=(1, 3), reduce=reduce,
    )  # fmt: skip
    assert apart.tolist() == [[{"add": 5, "mul": 4, "max": 4, "min": 1}[reduce]]]


def test_nothing_but_padding():
    found = reduce_window(
        np.zeros((0,)), float32, window=(2,), strides=(1,), low=(1,), high=(1,), dilation=(1,),
        reduce="max",
    )  # fmt: skip
    assert found.tolist() == [-np.inf]
