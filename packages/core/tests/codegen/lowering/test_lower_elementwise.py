"""Elementwise groups: index maps, several outputs, every dtype; transposes through tiles."""

import pytest
from realta.codegen.ir import Load, Loop
from realta.codegen.walking import expressions, roots, statements
from realta.passes import normalize
from realta.types import DTYPES, STORAGE_ONLY, float16, float32, float64, int32

SHAPES = ((), (1,), (7,), (16,), (1000,), (3, 5), (5, 64), (4, 70), (2, 3, 40), (300, 2))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_chain_is_one_kernel(check, kernels_of, write, shape):
    builder, x, y = write(f32=shape, f64=shape)
    out = builder.mul(builder.add(x, builder.neg(x)), builder.const(3.0, like=x))
    other = builder.sqrt(builder.abs(y))
    check(builder, out, builder.add(out, builder.exp(out)), other)
    assert all(len(names) == 1 for names in kernels_of(builder, out, other))


def test_no_elements_take_no_kernel(check, kernels_of, write):
    builder, x = write(f32=(0, 3))
    check(builder, builder.neg(x))
    assert kernels_of(builder, builder.neg(x)) == [[]]


@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [((1, 2), (9, 30), (2, 3)), ((8, 29), (-1, -1), (-1, -7)), ((0, 5), (9, 6), (1, 1))],
)
def test_slices_with_steps_are_index_maps(check, kernels_of, write, start, stop, step):
    builder, x = write(f32=(9, 30))
    part = builder.neg(builder.slice(x, start=start, stop=stop, step=step))
    check(builder, part)
    assert len(kernels_of(builder, part)) == 1


def test_broadcasts_read_what_is_there(check, kernels_of, write):
    builder, x, row, column, number = write(f32=(6, 40), i32=(40,), i64=(6, 1), f16=())
    cast = builder.cast
    total = builder.add(x, builder.broadcast(cast(row, dtype=float32), shape=(6, 40)))
    total = builder.mul(total, builder.broadcast(cast(column, dtype=float32), shape=(6, 40)))
    total = builder.sub(total, builder.broadcast(cast(number, dtype=float32), shape=(6, 40)))
    check(builder, total)


@pytest.mark.parametrize("shape", [(24,), (6, 4), (2, 12), (3, 8), (2, 2, 2, 3)], ids=str)
def test_reshapes_of_views_cut_the_loops(check, write, shape):
    builder, x = write(f32=(4, 6))
    turned = builder.reshape(builder.permute(x, axes=(1, 0)), shape=shape)
    again = builder.reshape(builder.slice(x, start=(0, 1), stop=(4, 5), step=(1, 1)), shape=(2, 8))
    check(builder, builder.neg(turned), builder.neg(again))


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((40, 37), (1, 0)), ((33, 2, 50), (2, 1, 0)), ((3, 20, 33), (0, 2, 1)), ((64, 96), (1, 0))],
)
def test_transposed_reads_go_through_tiles(check, kernels_of, write, shape, axes):
    turned = tuple(shape[a] for a in axes)
    builder, x, y = write(f32=shape, f64=turned)
    out = builder.add(builder.permute(x, axes=axes), builder.cast(y, dtype=float32))
    check(builder, out)
    assert kernels_of(builder, out) == [["transposed"]]


def test_loads_from_both_sides_of_a_tile_are_contiguous(device, write):
    builder, x = write(f32=(64, 96))
    graph = normalize(
        builder.finish(builder.neg(builder.permute(x, axes=(1, 0)))), keeps=lambda node: False
    )
    ((_, lowered),) = device.lowered(graph)[1]
    (launch,) = lowered.launches
    found = [
        expr.index
        for statement in statements(launch.kernel.body)
        for expr in expressions(roots(statement))
        if isinstance(expr, Load) and expr.buffer.space == "global"
    ]
    assert found
    for index in found:
        strides = {getattr(t, "of", t): getattr(t, "factor", 1) for t in index.terms}
        along = [f for t, f in strides.items() if "lane" in str(t) and "Quotient" not in str(t)]
        assert 1 in along


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_storage_type_is_moved_and_cast(check, write, dtype):
    builder, x = write(**{dtype.short: (5, 9)})
    outputs = [builder.permute(x, axes=(1, 0))]
    outputs += [builder.cast(x, dtype=target) for target in DTYPES]
    check(builder, *outputs)


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in STORAGE_ONLY], ids=str)
def test_comparisons_and_choices(check, write, dtype):
    builder, x = write(**{dtype.short: (33,)})
    y = builder.input(x.type, name="y")
    names = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    outputs = [getattr(builder, name)(x, y) for name in names]
    chosen = builder.select(outputs[2], x, y)
    extremes = [builder.maximum(x, y), builder.minimum(x, y)]
    check(builder, *outputs, chosen, *extremes, builder.add(x, y), builder.mul(x, y))


def test_halves_round_after_every_op(check, write):
    builder, x, y = write(f16=(50,), bf16=(50,))
    out = builder.mul(builder.add(x, x), builder.add(x, builder.const(0.1, like=x)))
    other = builder.div(builder.mul(y, y), builder.add(y, builder.const(0.7, like=y)))
    near = builder.nextafter(x, builder.neg(x)), builder.nextafter(y, builder.abs(y))
    check(builder, out, other, *near, builder.bitcast(x, dtype=y.type.dtype))


def test_a_tail_is_the_only_predicated_part_on_a_cpu(device, write):
    builder, x = write(f32=(1000,))
    graph = normalize(builder.finish(builder.neg(x)), keeps=lambda node: False)
    ((_, lowered),) = device.lowered(graph)[1]
    (launch,) = lowered.launches
    loops = [s for s in statements(launch.kernel.body) if isinstance(s, Loop)]
    predicated = [
        expr
        for loop in loops
        for statement in loop.body
        for expr in expressions(roots(statement))
        if isinstance(expr, Load) and expr.where is not None
    ]
    assert bool(predicated) == (device.profile.realization == "items")


def test_a_kernel_keeps_to_the_arguments_of_a_device(check, write):
    builder, x, y, z, u = write(f32=(40,), f64=(40,), i32=(40,), i64=(40,))
    cast = builder.cast
    total = builder.add(x, cast(y, dtype=float32))
    total = builder.mul(total, cast(z, dtype=float32))
    total = builder.sub(total, cast(u, dtype=float32))
    others = (cast(total, dtype=float16), cast(total, dtype=int32), cast(x, dtype=float64))
    check(builder, total, *others)
