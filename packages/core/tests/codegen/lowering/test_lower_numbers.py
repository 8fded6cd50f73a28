"""What needs no loop of its own: stored views of a number, reductions over no axes."""

import pytest


@pytest.mark.parametrize(
    ("view", "shape"), [("broadcast", (2, 33)), ("reshape", (1, 1))], ids=["broadcast", "reshape"]
)
def test_a_stored_view_of_a_number_reads_nothing(check, kernels_of, write, view, shape):
    builder, x = write(f32=())
    number = builder.const(2.5, like=x)
    out = getattr(builder, view)(number, shape=shape)
    check(builder, out)
    assert kernels_of(builder, out) == [["elementwise"]]


@pytest.mark.parametrize("shape", [(), (3, 50)], ids=str)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_a_reduction_over_no_axes_is_a_copy(check, kernels_of, write, op, shape):
    builder, x = write(f32=shape)
    out = getattr(builder, op)(x, axes=())
    check(builder, out)
    assert kernels_of(builder, out) == [["copy"]]
