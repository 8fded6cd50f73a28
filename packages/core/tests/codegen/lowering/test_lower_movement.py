"""Movement groups and indexing: what is stored where, for views, pads, joins, gathers, scatters."""

import numpy as np
import pytest
from realta.types import bfloat16, float16, float32, int8, int64


@pytest.mark.parametrize(
    ("shape", "low", "high"),
    [((5, 7), (2, 0), (1, 3)), ((40,), (0,), (30,)), ((3, 4, 50), (1, 0, 0), (0, 0, 0)),
     ((), (), ()), ((0, 3), (1, 1), (1, 0))],
)  # fmt: skip
def test_pads_are_one_kernel(check, kernels_of, write, shape, low, high):
    builder, x = write(f32=shape)
    fill = builder.input(x.type.with_shape(()), name="fill")
    out = builder.pad(x, fill, low=low, high=high)
    check(builder, out)
    assert kernels_of(builder, out) in ([["pad"]], [["elementwise"]], [])  # nothing is no pad


def test_a_known_number_is_padded(check, write):
    builder, x = write(f32=())
    one = builder.broadcast(builder.const(2.5, like=x), shape=(1, 3))
    check(builder, builder.pad(one, x, low=(1, 0), high=(0, 40)))


def test_joins_take_views_and_numbers(check, kernels_of, write):
    builder, x = write(f32=(5, 7))
    y = builder.input(x.type.with_shape((30, 5)), name="y")
    turned = builder.permute(y, axes=(1, 0))
    parts = (x, turned, x, builder.const(2.0, like=x), builder.neg(x), builder.neg(y))
    out = builder.concat(*parts[:4], builder.permute(parts[5], axes=(1, 0)), axis=1)
    check(builder, out, builder.concat(x, parts[4], axis=0))


@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 0, 1), (0, 2, 1)])
def test_stored_views(check, write, axes):
    builder, x = write(f32=(9, 20, 33))
    turned = builder.permute(x, axes=axes)
    check(builder, turned, builder.reshape(turned, shape=(9 * 20 * 33,)))


INDEX = np.array([3, -1, 0, 49, 3, -50, 7, 60, -77], np.int64)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((50,), 0), ((50, 70), 0), ((3, 50), 1), ((2, 50, 3), 1)]
)
def test_gathers_clamp_and_count_from_the_end(check, write, shape, axis, kind):
    builder, x, indices = write(f32=shape, **{"i32" if kind == "int32" else "i64": (3, 3)})
    values = np.arange(np.prod(shape)).reshape(shape).astype(np.float32)
    index = INDEX.reshape(3, 3).astype(kind)
    check(builder, builder.gather(x, indices, axis=axis), arrays=[values, index])


def test_a_single_index_and_no_index(check, write):
    builder, x, one, none = write(f32=(50, 3), i32=(), i64=(0,))
    check(builder, builder.gather(x, one, axis=0), builder.gather(x, none, axis=0))


@pytest.mark.parametrize("reduce", ["set", "add", "mul", "max", "min"])
@pytest.mark.parametrize("mode", ["clip", "drop"])
@pytest.mark.parametrize(
    ("dtype", "shape", "axis"),
    [(float32, (50, 70), 0), (float32, (50,), 0), (float16, (3, 50, 2), 1), (int64, (50, 16), 0),
     (int8, (2, 50), 1)],
    ids=str,
)  # fmt: skip
def test_scatters_apply_updates_in_order(check, write, reduce, mode, dtype, shape, axis):
    builder, x = write(**{dtype.short: shape})
    indices = builder.input(x.type.with_shape((9,)).with_dtype(int64), name="indices")
    given = (*shape[:axis], 9, *shape[axis + 1 :])
    updates = builder.input(x.type.with_shape(given), name="updates")
    random = np.random.default_rng(4)
    arrays = [
        random.integers(-9, 9, shape).astype(dtype.numpy), INDEX,
        random.integers(-3, 4, given).astype(dtype.numpy),
    ]  # fmt: skip
    out = builder.scatter(x, indices, updates, axis=axis, reduce=reduce, mode=mode)
    check(builder, out, arrays=arrays)


def test_halves_are_scattered_in_float32(check, write):
    builder, x, indices, updates = write(bf16=(4,), i32=(300,), f32=(300,))
    updates = builder.cast(updates, dtype=bfloat16)
    arrays = [
        np.ones(4, bfloat16.numpy), np.zeros(300, np.int32), np.full(300, 1 / 512, np.float32)
    ]  # fmt: skip
    # Added one by one in bfloat16, updates as small as these would change nothing.
    out = builder.scatter(x, indices, updates, axis=0, reduce="add", mode="clip")
    check(builder, out, arrays=arrays)


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [((1, 0), (9, 30), (2, 1)), ((8, 29), (-1, -1), (-1, -7)), ((2, 3), (2, 9), (1, 1))],
)
def test_slices_are_replaced(check, write, start, stop, step):
    builder, x = write(f32=(9, 30))
    part = tuple(len(range(*s)) for s in zip(start, stop, step, strict=True))
    v = builder.input(x.type.with_shape(part), name="v")
    check(builder, builder.update_slice(x, v, start=start, stop=stop, step=step))


@pytest.mark.parametrize("dtype", [float16, float32, int8, int64], ids=str)
def test_indices_along_an_axis(check, write, dtype):
    builder, x = write(f32=(1,))
    outputs = [builder.iota(shape=(3, 300), axis=n, dtype=dtype, device="") for n in (0, 1)]
    check(builder, *outputs, builder.neg(x))
