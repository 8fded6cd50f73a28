"""Contractions: every pairing of axes, with what follows; sums in the order of their length."""

import numpy as np
import pytest
from realta.codegen.lower_contraction import BLOCK
from realta.passes import normalize
from realta.types import float16, float32


def dot(builder, x, y, x_batch=(), y_batch=(), x_contract=(1,), y_contract=(0,)):
    return builder.dot_general(
        x, y, x_batch=x_batch, y_batch=y_batch, x_contract=x_contract, y_contract=y_contract
    )


def matrices(builder, dtype, *shapes):
    return [builder.input(dtype.with_shape(shape)) for shape in shapes]


@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(70, 40, 50), (1, 100, 17), (33, 1, 4), (5, 70, 3), (40, 33, 36), (130, 33, 1)],
)
@pytest.mark.parametrize("turned", [False, True])
def test_products_of_integers_are_exact(check, write, m, k, n, turned):
    builder, x = write(i32=(k, m) if turned else (m, k))
    y = builder.input(x.type.with_shape((n, k) if turned else (k, n)), name="y")
    if turned:
        x, y = builder.permute(x, axes=(1, 0)), builder.permute(y, axes=(1, 0))
    check(builder, dot(builder, x, y))


def test_batches_and_several_axes(check, write):
    builder, x = write(i64=(3, 7, 11, 2))
    y = builder.input(x.type.with_shape((11, 2, 5, 3)), name="y")
    check(builder, dot(builder, x, y, (0,), (3,), (2, 3), (0, 1)))
    builder, x = write(i64=(3, 4, 9, 10))
    y = builder.input(x.type.with_shape((3, 4, 10, 6)), name="y")
    check(builder, dot(builder, x, y, (0, 1), (0, 1), (3,), (2,)))


def test_vectors(check, write):
    builder, x = write(i64=(70,))
    check(builder, dot(builder, x, x, (), (), (0,), (0,)), dot(builder, x, x, (), (), (), ()))


def test_no_terms_give_zeros_and_what_follows(check, write):
    builder, x = write(f32=(7, 0))
    y = builder.input(x.type.with_shape((0, 5)), name="y")
    check(builder, builder.exp(dot(builder, x, y)))


def test_what_follows_is_part_of_the_kernel(check, kernels_of, write):
    builder, x = write(f32=(40, 30))
    y, bias = matrices(builder, x.type, (30, 50), (50,))
    total = builder.add(dot(builder, x, y), builder.broadcast(bias, shape=(40, 50)))
    out = builder.maximum(total, builder.const(0.0, like=total))
    check(builder, out, tolerance=1e-4)
    assert kernels_of(builder, out) == [["contraction"]]


def test_halves_are_summed_in_float32(check, write):
    builder, x = write(f16=(9, 300))
    y = builder.input(x.type.with_shape((300, 20)), name="y")
    out = builder.cast(dot(builder, x, y), dtype=float32)
    check(builder, out, builder.cast(builder.neg(out), dtype=float16), tolerance=2e-2)


def in_blocks(products):
    """Sums in order within blocks, block results likewise."""
    while len(products) > 1:
        blocks = []
        for start in range(0, len(products), BLOCK):
            total = products[start]
            for product in products[start + 1 : start + BLOCK]:
                total = total + product
            blocks.append(total)
        products = blocks
    return products[0]


@pytest.mark.parametrize("k", [1, 31, 32, 33, 300, 1030])
def test_sums_have_the_order_of_their_length(device, write, k):
    builder, x = write(f32=(3, k))
    y = builder.input(x.type.with_shape((k, 18)), name="y")
    graph = normalize(builder.finish(dot(builder, x, y)), keeps=lambda node: False)
    random = np.random.default_rng(3)
    a, b = (random.standard_normal(v.type.shape).astype(np.float32) for v in graph.inputs)
    (found,) = device.run(graph, [a, b])
    wanted = in_blocks([np.multiply.outer(a[:, n], b[n]) for n in range(k)])
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("device", ["cpu"], indirect=True)
@pytest.mark.parametrize("k", [32, 300, 4096])
def test_constant_rows_stay_within_the_bound(device, write, k):
    builder, x = write(f32=(1, k))
    y = builder.input(x.type.with_shape((k, 1)), name="y")
    graph = normalize(builder.finish(dot(builder, x, y)), keeps=lambda node: False)
    a, b = np.full((1, k), 0.1, np.float32), np.full((k, 1), 0.7, np.float32)
    (found,) = device.run(graph, [a, b])
    exact = float(a[0, 0]) * float(b[0, 0]) * k
    bound = (8 + np.sqrt(k) / 2) * 2.0**-23 * exact + 0.5 * np.spacing(np.float32(exact))
    assert abs(float(found[0, 0]) - exact) <= bound
