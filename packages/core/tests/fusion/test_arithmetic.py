"""Arithmetic: what each kind of op counts."""

import pytest
from realta.fusion import operations_of
from realta.graph import Builder
from realta.types import TensorType, float64


def counted(write, *, on=((4, 6),)):
    """The operations of what a function writes on float32 inputs of these shapes."""
    builder = Builder("counted")
    inputs = [builder.input(TensorType("float32", s), f"x{n}") for n, s in enumerate(on)]
    return operations_of(builder.finish(write(builder, *inputs)).nodes)


@pytest.mark.parametrize(
    ("write", "operations"),
    [
        (lambda b, x: b.exp(x), 24),
        (lambda b, x: b.cast(x, dtype=float64), 0),
        (lambda b, x: b.sum(x, axes=(0,)), 24),
        (lambda b, x: b.argmax(x, axis=1), 24),
        (lambda b, x: b.cumsum(x, axis=1), 24),
        (lambda b, x: b.permute(x, axes=(1, 0)), 0),
        (lambda b, x: b.sort(x, axis=1), 0),
        (lambda b, x: b.softmax(x, axis=1), 0),
        (lambda b, x: b.exp(b.neg(x)), 48),
    ],
    ids=["exp", "cast", "sum", "argmax", "cumsum", "permute", "sort", "softmax", "two"],
)
def test_operations_of_one_operand(write, operations):
    assert counted(write) == operations


def test_a_product_counts_two_for_each_term():
    def product(b, x, y):
        return b.dot_general(x, y, x_batch=(), y_batch=(), x_contract=(1,), y_contract=(0,))

    assert counted(product, on=((4, 6), (6, 5))) == 2 * 4 * 6 * 5


def test_a_convolution_counts_two_for_each_term_of_a_window():
    def convolution(b, x, filter):
        return b.conv_general(
            x, filter, strides=(1,), low=(0,), high=(0,), input_dilation=(1,), dilation=(1,),
            groups=2,
        )  # fmt: skip

    # 3 windows of 2 places, 2 of 4 channels for each of 6 results
    assert counted(convolution, on=((1, 4, 4), (2, 2, 6))) == 2 * 3 * 6 * 2 * 2


def test_a_window_counts_each_of_its_elements():
    def windows(b, x):
        return b.reduce_window(
            x, window=(2, 3), strides=(2, 3), low=(0, 0), high=(0, 0), dilation=(1, 1),
            reduce="add",
        )  # fmt: skip

    assert counted(windows) == 24


def test_symbolic_shapes_do_not_count():
    assert counted(lambda b, x: b.exp(x), on=(("batch", 6),)) == 0
