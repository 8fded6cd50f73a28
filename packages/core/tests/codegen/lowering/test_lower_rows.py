"""Row groups: several reductions over the same axes, and results broadcast back over the rows."""

import numpy as np
import pytest
from realta.types import float16, float32

SHAPES = [
    ((5, 70), (1,)), ((70, 5), (0,)), ((3, 40, 33), (1,)), ((4, 6, 50), (0, 2)), ((2, 2000), (1,)),
    ((1, 9000), (1,)), ((600, 3), (1,)), ((33,), (0,)), ((4, 1), (1,)), ((600, 24), (0,)),
]  # fmt: skip


def kept(shape, axes):
    return tuple(1 if n in axes else d for n, d in enumerate(shape))


def softmax(builder, x, axes):
    shape = x.type.shape
    small = kept(shape, axes)

    def back(y):
        return builder.broadcast(builder.reshape(y, shape=small), shape=shape)

    powers = builder.exp(builder.sub(x, back(builder.max(x, axes=axes))))
    return builder.div(powers, back(builder.sum(powers, axes=axes)))


def layer_norm(builder, x, axes):
    shape = x.type.shape
    small = kept(shape, axes)
    count = float(np.prod([shape[a] for a in axes]))

    def mean(y):
        total = builder.sum(y, axes=axes)
        return builder.div(total, builder.const(count, like=total))

    def back(y):
        return builder.broadcast(builder.reshape(y, shape=small), shape=shape)

    middle = mean(x)
    off = builder.sub(x, back(middle))
    spread = mean(builder.mul(off, off))
    scale = builder.rsqrt(builder.add(spread, builder.const(1e-5, like=spread)))
    return builder.mul(off, back(scale)), middle, spread


@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=str)
def test_softmax(check, write, shape, axes):
    builder, x = write(f32=shape)
    check(builder, softmax(builder, x, axes), tolerance=1e-5)


@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=str)
def test_layer_norm_with_weights(check, write, shape, axes):
    builder, x = write(f32=shape)
    weight = builder.input(x.type.with_shape(shape[-1:]), name="weight")
    normal, middle, spread = layer_norm(builder, x, axes)
    out = builder.mul(normal, builder.broadcast(weight, shape=shape))
    # One row of one element has no spread: what is left is rounding, magnified.
    check(builder, out, middle, spread, tolerance=1e-4)


def test_softmax_is_one_kernel_where_groups_have_rows_enough(kernels_of, write, device):
    builder, x = write(f32=(600, 64))
    names = kernels_of(builder, softmax(builder, x, (1,)))
    assert names == [["rows"]]


def test_few_long_rows_are_cut_into_a_kernel_per_walk(kernels_of, write, device):
    builder, x = write(f32=(1, 60000))
    (names,) = kernels_of(builder, softmax(builder, x, (1,)))
    if device.limits.arguments is None:
        assert names == ["row_blocks", "rows", "row_blocks", "rows", "elementwise"]


@pytest.mark.parametrize("shape", [(5, 70), (40, 300)], ids=str)
def test_halves_round_at_each_op(check, write, shape):
    builder, x = write(f16=shape)
    wide = builder.cast(x, dtype=float32)
    out = builder.cast(softmax(builder, wide, (1,)), dtype=float16)
    total = builder.sum(builder.mul(x, x), axes=(1,))
    check(builder, out, builder.max(x, axes=(1,)), builder.sqrt(total), tolerance=2e-3)


@pytest.mark.parametrize(("shape", "axes"), SHAPES[:6], ids=str)
def test_many_reductions_share_a_walk(check, kernels_of, write, shape, axes):
    builder, x = write(i32=shape)
    twice = builder.add(x, x)
    outputs = [getattr(builder, name)(twice, axes=axes) for name in ("sum", "prod", "max", "min")]
    outputs.append(builder.max(builder.neg(x), axes=axes))
    flags = builder.less(x, builder.const(-38, like=x))
    outputs += [builder.any(flags, axes=axes), builder.all(flags, axes=axes), twice]
    if len(axes) == 1:
        outputs += [builder.argmax(x, axis=axes[0]), builder.argmin(x, axis=axes[0])]
    check(builder, *outputs)


def test_signs_of_zeros_and_nan_in_extremes(check, write):
    builder, x = write(f32=(4, 40))
    values = np.zeros((4, 40), np.float32)
    values[0, ::3] = -0.0
    values[1] = -0.0
    values[2, 17] = np.nan
    outputs = builder.max(x, axes=(1,)), builder.min(x, axes=(1,)), builder.argmax(x, axis=1)
    check(builder, *outputs, arrays=[values])


def test_what_follows_a_reduction_reads_rows(check, write):
    builder, x = write(f32=(6, 50))
    bias = builder.input(x.type.with_shape((6,)), name="bias")
    top = builder.max(x, axes=(1,))
    out = builder.add(builder.mul(top, top), bias)
    check(builder, out, builder.exp(builder.sub(top, bias)))
