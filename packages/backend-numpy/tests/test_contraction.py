"""Contractions: tiles by shape alone, the same bits for any layout and threads, in bounds."""

import numpy as np
import pytest
import threadpoolctl
from realta.graph import Builder
from realta.runtime import (
    contraction_tiles,
    matrix_product,
    num_threads,
    one_thread,
    set_num_threads,
)
from realta.runtime.host_blas import OneThread
from realta.types import bfloat16, float16, float32, float64, int32, tensor_type

PRODUCTS = [
    (17, 4096, 33), (256, 4096, 4), (256, 1024, 10), (33, 65, 4097), (2, 3000, 300), (64, 8192, 64),
    (1, 1000, 1000), (1000, 1000, 1), (1, 500, 1), (3, 5, 7), (2, 3, 2), (300, 301, 303),
    (1025, 600, 257), (257, 600, 1025),
]  # fmt: skip


def _product(x, y):
    out = np.empty((x.shape[0], x.shape[1], y.shape[2]), x.dtype)
    matrix_product(x, y, out)
    return out


def _operands(m, k, n, dtype, batch=1):
    rng = np.random.default_rng(m * k + n)
    return (rng.standard_normal((batch, m, k)).astype(dtype),
            rng.standard_normal((batch, k, n)).astype(dtype))  # fmt: skip


def _columns_first(x):
    return np.ascontiguousarray(x.transpose(0, 2, 1)).transpose(0, 2, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k", "n"), PRODUCTS, ids=str)
def test_layout_threads_and_batch_change_no_bit(m, k, n, dtype, equal_bits):
    x, y = _operands(m, k, n, dtype, batch=2)
    expected = _product(x, y)
    for left, right in (
        (_columns_first(x), y), (x, _columns_first(y)), (_columns_first(x), _columns_first(y)),
        (np.repeat(x, 2, axis=2)[..., ::2], np.repeat(y, 2, axis=2)[..., ::2]),
    ):  # fmt: skip
        assert equal_bits(_product(left, right), expected)
    assert equal_bits(_product(x[:1], y[:1]), expected[:1])
    before = num_threads()
    for count in (1, 2, 5):
        set_num_threads(count)
        try:
            assert equal_bits(_product(x, y), expected), f"{count} threads"
        finally:
            set_num_threads(before)
    for blas in (1, 2, 4):
        with threadpoolctl.threadpool_limits(blas, user_api="blas"):
            assert equal_bits(_product(x, y), expected), f"BLAS set to {blas} threads"


@pytest.mark.parametrize(
    ("m", "k", "n"), [*PRODUCTS, (1537, 512, 512), (97, 22_000, 97), (33, 200_000, 33)], ids=str
)
def test_tiles_cover_the_result_and_leave_no_single_row(m, k, n):
    seen = np.zeros((m, n), int)
    for rows, columns in contraction_tiles(m, k, n):
        seen[rows, columns] += 1
        part = seen[rows, columns].shape
        assert part[0] > 1 or m == 1
        assert part[1] > 1 or n == 1
    assert (seen == 1).all()


def test_a_matrix_times_its_own_transpose_is_like_any_other(equal_bits):
    x = np.random.default_rng(1).standard_normal((1, 200, 256)).astype(np.float32)
    turned = x.transpose(0, 2, 1)
    assert len(contraction_tiles(200, 256, 200)) == 1
    assert equal_bits(_product(x, turned), _product(x, np.ascontiguousarray(turned)))


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16], ids=str)
@pytest.mark.parametrize("k", [1, 33, 1025, 4096])
@pytest.mark.parametrize("kind", ["random", "constant"])
def test_products_stay_within_the_bound(k, kind, dtype, runner):
    rng = np.random.default_rng(k)
    x, y = rng.standard_normal((5, k)), rng.standard_normal((k, 6))
    if kind == "constant":
        x[:], y[:] = 0.1, 0.3
    x, y = x.astype(dtype.numpy), y.astype(dtype.numpy)
    builder = Builder()
    left, right = (builder.input(tensor_type(dtype, a.shape)) for a in (x, y))
    found = runner.run(_graph(builder, left, right), [x, y])[0]
    wide = np.longdouble if dtype is float64 else np.float64
    expected = x.astype(wide) @ y.astype(wide)
    size = np.abs(x.astype(wide)) @ np.abs(y.astype(wide))
    eps = np.finfo(np.float64 if dtype is float64 else np.float32).eps
    half_ulp = np.abs(expected) * {2: 2.0**-8, 4: 2.0**-24, 8: 2.0**-53}[dtype.itemsize]
    if dtype is float16:
        half_ulp = np.maximum(np.abs(expected) * 2.0**-11, 2.0**-25)
    assert (
        np.abs(found.astype(wide) - expected) <= (8 + np.sqrt(k) / 2) * eps * size + half_ulp
    ).all()


def _graph(builder, left, right):
    attrs = {"x_batch": (), "y_batch": (), "x_contract": (1,), "y_contract": (0,)}
    return builder.finish(builder.dot_general(left, right, **attrs))


def test_integers_wrap(runner):
    builder = Builder()
    left, right = (
        builder.input(tensor_type(int32, (3, 2))),
        builder.input(tensor_type(int32, (2, 4))),
    )
    x, y = np.full((3, 2), 1 << 20, np.int32), np.full((2, 4), (1 << 11) + 1, np.int32)
    expected = (2 * (1 << 20) * ((1 << 11) + 1)) & 0xFFFFFFFF
    found = runner.run(_graph(builder, left, right), [x, y])[0]
    assert (found.astype(np.int64) & 0xFFFFFFFF == expected).all()


def _threads():
    return [
        info["num_threads"]
        for info in threadpoolctl.threadpool_info()
        if info["user_api"] == "blas"
    ]


def test_blas_has_one_thread_inside_only():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        with one_thread:
            assert set(_threads()) <= {1}
            with one_thread:
                assert set(_threads()) <= {1}
            assert set(_threads()) <= {1}
        assert _threads() == before


def test_a_forked_child_gets_its_threads_back():
    context = OneThread()
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = _threads()
        context.__enter__()
        context.after_fork()  # what a child of a process that is multiplying runs
        assert _threads() == before
        with context:
            assert set(_threads()) <= {1}
        assert _threads() == before
