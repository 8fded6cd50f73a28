"""Fused kernels give the bits of their ops one by one: any layout, edge, dtype, threads."""

import numpy as np
import pytest
import realta
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from realta import functional as F
from realta.graph import Builder
from realta.ops import all_ops
from realta.testing import assert_same_bits
from realta.types import bfloat16, bool_, float16, float32, float64, int32, tensor_type, uint8
from realta_numpy.loops import TILE

EDGES = (17, 33, 1025)
ELEMENTWISE = [op for op in all_ops() if op.primitive and op.kind.value == "elementwise"]
SAME_TYPE = [op for op in ELEMENTWISE if op.name not in ("select", "cast", "bitcast")]


@pytest.mark.parametrize("op", SAME_TYPE, ids=lambda op: op.name)
def test_every_elementwise_op_between_neighbours(op, runner, values):
    for dtype in sorted(op.dtypes, key=lambda d: d.name):
        for edge in EDGES:
            builder = Builder()
            inputs = [builder.input(tensor_type(dtype, (edge,))) for _ in op.operands]
            before = [builder.maximum(x, inputs[0]) for x in inputs]
            node = builder.add_node(op, tuple(before))
            after = builder.select(builder.equal(*[before[0]] * 2), node, node)
            arrays = [values((edge,), dtype, "any") for _ in inputs]
            _, executable = runner.both(builder.finish(after, node), arrays, (1, 2))
            assert len(executable.kernels) == 1


CASTS = [float32, float64, float16, bfloat16, int32, uint8, bool_]


@pytest.mark.parametrize("source", CASTS, ids=str)
@pytest.mark.parametrize("target", CASTS, ids=str)
def test_casts_between_neighbours(source, target, runner, values):
    builder = Builder()
    x = builder.input(tensor_type(source, (1025,)))
    moved = builder.cast(builder.add(x, x), dtype=target)
    back = builder.cast(builder.add(moved, moved), dtype=source)
    array = values((1025,), source, "special" if source.is_float else "any")
    _, executable = runner.both(builder.finish(back, moved), [array])
    assert len(executable.kernels) == 1


ROWS = {
    "softmax": lambda b, x: b.softmax(x, axis=x.type.rank - 1),
    "softmax over the first axis": lambda b, x: b.softmax(x, axis=0),
    "logsoftmax": lambda b, x: b.logsoftmax(x, axis=x.type.rank - 1),
    "logsumexp": lambda b, x: b.logsumexp(x, axes=(0,)),
    "variance": lambda b, x: b.var(x, axes=(x.type.rank - 1,), correction=1.0),
    "mean of everything": lambda b, x: b.mean(x, axes=tuple(range(x.type.rank))),
    "norm": lambda b, x: b.sqrt(b.sum(b.square(x), axes=(x.type.rank - 1,))),
    "largest magnitude": lambda b, x: b.max(b.abs(x), axes=(0,)),
}
SHAPES = [(17, 33), (33, 129), (129, 17), (1, 5), (5, 1), (3, 7, 33), (2, 1, 9, 4)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ROWS)
def test_rows(name, shape, tile, runner, values):
    for dtype in (float32, float64, float16, bfloat16):
        builder = Builder()
        x = builder.input(tensor_type(dtype, shape))
        runner.both(builder.finish(ROWS[name](builder, x)), [values(shape, dtype, "small")], (1, 2))


def test_a_softmax_is_one_kernel_without_a_fallback(runner, values):
    builder = Builder()
    x = builder.input(tensor_type(float32, (700, 513)))
    _, executable = runner.both(
        builder.finish(builder.softmax(x, axis=1)), [values((700, 513), float32)]
    )
    (kernel,) = executable.kernels
    assert "reduce_tile" in kernel.source
    assert "share_tiles" in kernel.source
    assert executable.temporary_bytes == 0


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("reduction", ["sum", "prod", "max", "min"])
def test_reductions_with_work_before_and_after(reduction, axes, tile, runner, values):
    shape = (5, 33, 17)
    for dtype in (float32, float16, int32):
        builder = Builder()
        x, y = (builder.input(tensor_type(dtype, shape)) for _ in range(2))
        total = getattr(builder, reduction)(builder.mul(x, y), axes=axes)
        arrays = [values(shape, dtype, "unit") for _ in range(2)]
        _, executable = runner.both(builder.finish(builder.neg(total), total), arrays)
        assert len(executable.kernels) == 1


@pytest.mark.parametrize("shape", [(TILE + 129,), (2, TILE + 3), (TILE + 5, 2)], ids=str)
def test_rows_longer_than_a_tile(shape, runner, values):
    axes = (int(np.argmax(shape)),)
    for dtype in (float32, bfloat16):
        builder = Builder()
        x, y = (builder.input(tensor_type(dtype, shape)) for _ in range(2))
        product = builder.mul(x, y)
        total, largest = builder.sum(product, axes=axes), builder.max(builder.abs(x), axes=axes)
        plain = builder.sum(x, axes=axes)
        graph = builder.finish(builder.sqrt(builder.abs(builder.add(total, largest))), total, plain)
        runner.both(graph, [values(shape, dtype, "unit") for _ in range(2)])


MAPS = {
    "transposed": lambda b, x: b.permute(x, axes=(1, 0)),
    "reversed": lambda b, x: b.permute(
        b.slice(x, start=(32, 39), stop=(-1, -1), step=(-1, -1)), axes=(1, 0)
    ),
    "every second": lambda b, x: b.reshape(
        b.slice(
            b.broadcast(x, shape=(2, 33, 40)), start=(1, 0, 0), stop=(2, 33, 40), step=(1, 1, 1)
        ),
        shape=(40, 33),
    ),
    "one row": lambda b, x: b.broadcast(
        b.slice(x, start=(3, 2), stop=(4, 35), step=(1, 1)), shape=(40, 33)
    ),
    "one column": lambda b, x: b.broadcast(
        b.reshape(b.slice(x, start=(0, 5), stop=(1, 6), step=(1, 1)), shape=(1, 1)), shape=(40, 33)
    ),
    "reshaped after a transposition": lambda b, x: b.reshape(
        b.permute(b.reshape(x, shape=(3, 11, 40)), axes=(2, 0, 1)), shape=(40, 33)
    ),
    "regrouped": lambda b, x: b.reshape(b.permute(x, axes=(1, 0)), shape=(40, 33)),
}


@pytest.mark.parametrize("dtype", [float32, float16, uint8], ids=str)
@pytest.mark.parametrize("name", MAPS)
def test_index_maps_are_read_through(name, dtype, tile, runner, values):
    builder = Builder()
    x = builder.input(tensor_type(dtype, (33, 40)))
    y = builder.input(tensor_type(dtype, (40, 33)))
    shown = MAPS[name](builder, x)
    graph = builder.finish(builder.add(builder.mul(shown, y), shown))
    _, executable = runner.both(graph, [values((33, 40), dtype), values((40, 33), dtype)])
    assert len(executable.kernels) == 1


@pytest.mark.parametrize(
    "shape", [(3, 1, 5), (1, 7, 1), (3, 7, 1), (1, 1, 1), (7, 5), (5,), ()], ids=str
)
def test_broadcast_operands(shape, tile, runner, values):
    full = (3, 7, 5)
    builder = Builder()
    x, y = builder.input(tensor_type(float32, full)), builder.input(tensor_type(float32, shape))
    spread = builder.broadcast(y, shape=full)
    graph = builder.finish(builder.exp(builder.sub(x, spread)), builder.mul(spread, x))
    runner.both(graph, [values(full, float32, "small"), values(shape, float32, "small")])


def test_work_on_the_result_of_a_product(tile, runner, values):
    for dtype in (float32, float64, float16):
        builder = Builder()
        x = builder.input(tensor_type(dtype, (65, 33)))
        w = builder.input(tensor_type(dtype, (17, 33)))
        bias = builder.input(tensor_type(dtype, (17,)))
        product = builder.matmul(x, builder.permute(w, axes=(1, 0)))
        total = builder.add(product, builder.broadcast(bias, shape=(65, 17)))
        graph = builder.finish(builder.relu(total))
        arrays = [values(v.type.shape, dtype, "small") for v in (x, w, bias)]
        _, executable = runner.both(graph, arrays)
        assert len(executable.kernels) == 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)], ids=str)
def test_no_elements(shape, runner, values):
    builder = Builder()
    x = builder.input(tensor_type(float32, shape))
    graph = builder.finish(
        builder.exp(builder.mul(x, x)), builder.sum(builder.exp(x), axes=(len(shape) - 1,))
    )
    runner.both(graph, [values(shape, float32)])


@pytest.mark.parametrize("shape", [(2 * TILE + 17,), (401, 1025), (3, 5, 20_011)], ids=str)
def test_tiles_of_full_size(shape, runner, values):
    builder = Builder()
    x, y = (builder.input(tensor_type(float32, shape)) for _ in range(2))
    larger = builder.greater(x, y)
    powers = builder.exp(builder.neg(builder.abs(x))), builder.sin(y)
    wide = builder.cast(builder.select(larger, *powers), dtype=float64)
    total = builder.add(builder.mul(wide, wide), builder.cast(x, dtype=float64))
    graph = builder.finish(builder.cast(total, dtype=float16), larger, wide)
    _, executable = runner.both(graph, [values(shape, float32, "small") for _ in range(2)])
    assert "r3" in executable.kernels[0].source, "several registers share the scratch"


UNARY = ("neg", "abs", "exp", "tanh", "sqrt", "floor", "sign", "erf", "rsqrt")
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "atan2", "copysign", "pow")


@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_random_chains(data, runner, values):
    dtype = data.draw(st.sampled_from([float32, float64, float16]))
    shape = data.draw(st.sampled_from([(17,), (5, 33), (3, 4, 7)]))
    builder = Builder()
    inputs = [builder.input(tensor_type(dtype, shape)) for _ in range(2)]
    made = list(inputs)
    for _ in range(data.draw(st.integers(1, 14))):
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(UNARY))
            made.append(getattr(builder, name)(data.draw(st.sampled_from(made))))
            continue
        name = data.draw(st.sampled_from(BINARY))
        left = data.draw(st.sampled_from(made))
        right = data.draw(st.sampled_from([*made, None]))
        if right is None:
            number = data.draw(st.sampled_from([0.0, -0.0, 1.5, np.inf, -2.0]))
            right = builder.const(number, like=left)
        made.append(getattr(builder, name)(left, right))
    if len(shape) > 1 and data.draw(st.booleans()):
        axis = data.draw(st.integers(0, len(shape) - 1))
        total = builder.sum(made[-1], axes=(axis,))
        kept = tuple(1 if n == axis else d for n, d in enumerate(shape))
        spread = builder.broadcast(builder.reshape(total, shape=kept), shape=shape)
        made.append(builder.sub(made[-1], spread))
    outputs = [made[-1], *data.draw(st.lists(st.sampled_from(made), max_size=2))]
    arrays = [values(shape, dtype, domain) for domain in ("small", "special")]
    runner.both(builder.finish(*outputs), arrays, (1, 2))


@pytest.mark.parametrize("size", [*range(1, 40), 1025, 200_000])
def test_zeros_of_extremes_of_registers_keep_their_order(size):
    """-0 is under 0 also where a fused kernel leaves the choice to NumPy."""
    signs = np.where(np.arange(size) % 2 == 0, np.float32(-0.0), np.float32(0.0))
    x, y = realta.Tensor(signs, device="numpy:0"), realta.Tensor(-signs, device="numpy:0")

    def body(x, y):
        positive = F.cast(x > 1, "float32")
        largest = (F.maximum(positive, x * y), F.maximum(x * y, positive))
        return *largest, F.minimum(F.abs(x), x * y), F.minimum(x * y, F.abs(x))

    results = [t.numpy() for t in F.functional(body)(x, y)]
    minus = np.signbit(signs * -signs)
    assert minus.all()
    for result in results[:2]:
        assert not np.signbit(result).any()
    for result in results[2:]:
        assert np.signbit(result).all()


@pytest.mark.parametrize("size", [1, 7, 33, 1025, 300_000])
@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, -2.0])
def test_extremes_with_a_known_number_are_those_of_the_reference(size, number):
    values = np.random.default_rng(size).normal(size=size).astype(np.float32) * 3
    values[::5] = [0.0, -0.0, np.nan, np.inf][size % 4]
    values[1::5] = -0.0

    def body(x):
        y = x * 1.0
        return F.maximum(y, number), F.maximum(number, y), F.minimum(y, number)

    found = F.functional(body)(realta.Tensor(values, device="numpy:0"))
    wanted = F.functional(body)(realta.Tensor(values, device="reference:0"))
    for one, other in zip(found, wanted, strict=True):
        assert_same_bits(one, other)
