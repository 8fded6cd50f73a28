"""Faults that tensor libraries have had, by their row in the corpus of bug reports."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import DTypeError, RealtaError, ShapeError
from realta.testing import assert_same_bits
from realta.types import BY_NAME, COMPUTABLE

NAN, INF = float("nan"), float("inf")


class TestIntegers:
    """I: integer arithmetic and casts."""

    def test_division_floors_and_is_no_float_division(self, modes):
        # I1, I2
        x, y = np.array([-3, 110, 16777217, -7]), np.array([2, 55, 1, -2])
        quotient, rest = modes(lambda a, b: (a // b, a % b), x, y)
        assert quotient.tolist() == [-2, 2, 16777217, 3]
        assert rest.tolist() == [1, 0, 0, -1]

    def test_powers_are_integers(self, modes):
        # I3, I5
        assert modes(lambda a: a**2, np.array([-5, -7])).tolist() == [25, 49]
        assert modes(lambda a, b: a**b, np.array([2, 2]), np.array([-1, 3])).tolist() == [0, 8]
        for dtype, exponent in (("int64", -1), ("uint8", -2)):
            with pytest.raises(DTypeError, match=f"negative power {exponent}"):
                Tensor([2], dtype=dtype) ** exponent

    @pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "int64"])
    def test_division_by_zero_is_no_crash(self, modes, dtype):
        # N11
        x = np.array([2, 0, 1], dtype)
        found = modes(lambda a: (a // 0, a % 0, a // (a * 0), a % (a * 0)), x)
        assert [f.tolist() for f in found] == [[0, 0, 0]] * 4

    def test_narrow_results_stay_narrow(self, modes):
        # I12
        x = np.array([1, 3], np.int8)
        shifted, product = modes(lambda a: (a << a, F.prod(a)), x)
        assert shifted.dtype == np.int8
        assert product.dtype == np.int64

    @pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
    @pytest.mark.parametrize("target", ["int8", "int32", "int64", "uint8", "uint64", "bool"])
    def test_floats_to_integers_truncate_saturate_and_nan_is_zero(self, modes, source, target):
        # I14
        given = np.array([NAN, INF, -INF, -1.5, 256.7, 2147483646.0, 0.0, -0.0])
        with np.errstate(over="ignore"):
            x = given.astype(BY_NAME[source].numpy)
        result = modes(lambda t: t.cast(target), x)
        wide = x.astype(np.float64)
        if target == "bool":
            assert result.tolist() == [bool(v) for v in wide]
            return
        info = np.iinfo(target)
        expected = [
            0
            if np.isnan(v)
            else info.max
            if v >= info.max
            else info.min
            if v <= info.min
            else int(v)
            for v in wide
        ]
        assert result.tolist() == expected

    def test_bools_are_three_different_answers(self, modes):
        # I16
        x = np.array([True, True, False])
        assert modes(lambda t: t + t, x).tolist() == [True, True, False]
        assert modes(F.sum, x) == 2
        with pytest.raises(DTypeError):
            Tensor(x) - Tensor(x)


@pytest.mark.parametrize("source", sorted(d.name for d in COMPUTABLE))
def test_casts_of_small_numbers_are_exact(modes, source):
    x = np.array([0, 1, 1, 0]).astype(BY_NAME[source].numpy)
    targets = sorted(d.name for d in COMPUTABLE)
    found = modes(lambda t: tuple(t.cast(name) for name in targets), x)
    for name, result in zip(targets, found, strict=True):
        assert_same_bits(result, np.array([0, 1, 1, 0]).astype(BY_NAME[name].numpy))


class TestPrecision:
    """P: accumulation and rounding."""

    def test_every_op_rounds_at_its_boundary(self, modes):
        # P9: a fused multiply-add would keep the product unrounded.
        random = np.random.default_rng(0)
        x, y, z = (random.normal(size=500).astype(BY_NAME["bfloat16"].numpy) for _ in range(3))
        one = modes(lambda a, b, c: a * b + c, x, y, z)
        product = F.functional(lambda a, b: a * b)(Tensor(x), Tensor(y))
        assert_same_bits(one, F.functional(lambda a, b: a + b)(product, Tensor(z)))
        for dtype in (np.float32, np.float64):
            a, b, c = (random.normal(size=500).astype(dtype) for _ in range(3))
            assert_same_bits(modes(lambda x, y, z: x * y + z, a, b, c), a * b + c)

    def test_an_epsilon_that_half_precision_does_not_have(self, modes):
        # P8: 1e-9 is zero in float16, so this is 0 * rsqrt(0).
        x = np.zeros((2, 8), np.float16)
        result = modes(lambda t: t * F.rsqrt(F.var(t, 1, keepdims=True) + 1e-9), x)
        assert np.isnan(result).all()

    def test_means_over_the_first_axis_do_not_stall(self, modes):
        # P3, smaller: a running float32 sum of ones stops at 2**24.
        x = np.ones((300_000, 2), np.float32) * 100
        assert modes(lambda t: F.mean(t, axis=0), x).tolist() == [100.0, 100.0]

    def test_softmax_and_logsumexp_of_infinities(self, modes):
        # N17
        rows = np.array([[-INF, -INF], [0.0, INF], [NAN, 0.0]], np.float32)
        total, weights = modes(lambda t: (F.logsumexp(t, 1), F.softmax(t, 1)), rows)
        assert total[0] == -INF
        assert total[1] == INF
        assert np.isnan(total[2])
        # An infinity divides every element by what is no number.
        assert np.isnan(weights).all()


class TestShapes:
    """S: empty, 0-d and huge."""

    @pytest.mark.parametrize(
        ("x", "y", "shape"),
        [
            ((2, 0), (2, 1), (2, 0)),
            ((), (0,), (0,)),
            ((2, 0), (2, 3), None),
            ((1, 0), (3, 1), (3, 0)),
        ],
    )
    def test_empty_operands(self, modes, x, y, shape):
        # S5
        a, b = np.zeros(x, np.float32), np.zeros(y, np.float32)
        if shape is None:
            with pytest.raises(ShapeError, match="do not broadcast"):
                Tensor(a) + Tensor(b)
            return
        assert modes(lambda s, t: s + t, a, b).shape == shape

    def test_an_extent_is_never_minus_one(self):
        # S7
        for call in (
            lambda: F.zeros((1, 0, 4)).reshape((1, 0, -1)),
            lambda: F.full((-1, 2), 1.0),
            lambda: F.broadcast_to(F.ones(2), (-1, 2)),
        ):
            with pytest.raises(ShapeError):
                call()

    def test_more_elements_than_32_bits_count(self):
        # S9: the shapes are right, and nothing is allocated until somebody asks.
        with realta.lazy():
            huge = F.zeros((2**31,), dtype="int8")
            square = F.broadcast_to(F.ones((1, 2), dtype="int8"), (2**30, 2))
        assert huge.size == 2**31
        assert F.flatten(square).shape == (2**31,)

    def test_a_tensor_that_no_memory_holds(self):
        with pytest.raises((RealtaError, MemoryError)):
            F.zeros((2**62,), dtype="float64").realize()
        assert F.zeros(2).tolist() == [0.0, 0.0]


def test_comparisons_with_nan_are_false(modes):
    x = np.array([NAN, 1.0], np.float32)
    found = modes(lambda t: (t < 1, t <= 1, t > 1, t >= 1, t == t, t != t), x)
    assert [f.tolist() for f in found] == [
        [False, False], [False, True], [False, False], [False, True], [False, True], [True, False],
    ]  # fmt: skip


def test_where_of_numbers_is_no_bool(modes):
    mask = np.array([True, False])
    result = modes(lambda m: F.where(m, 1.0, 0.0), mask)
    assert result.dtype == np.float32
    assert result.tolist() == [1.0, 0.0]


class TestIndices:
    """M11, M12 and their relatives: equal targets, and indices out of range."""

    def test_the_last_of_equal_targets_stays(self, modes):
        def body(x, i, v):
            y = +x
            y[i] = v
            w = F.scatter_nd(x, v, i[:, None])
            return y, w, F.scatter(x, v, i), F.scatter_add(x, 1.0, i)

        x, i, v = np.zeros(3), np.array([0, 0, 2]), np.array([1.0, 2.0, 3.0])
        found = modes(body, x, i, v)
        assert [f.tolist() for f in found] == [[2, 0, 3]] * 3 + [[2, 0, 1]]

    @pytest.mark.parametrize("index", [5, -6])
    def test_no_way_of_reading_reaches_foreign_memory(self, index):
        x, known = F.arange(5), np.array([0, index])
        ways = [
            lambda i: F.take(x, i), lambda i: x[i], lambda i: x.reshape((5, 1))[i, 0],
            lambda i: F.take_along_axis(x, i), lambda i: F.scatter(x, 0, i),
            lambda i: F.gather_nd(x, i[:, None]), lambda i: F.scatter_nd_add(x, 0, i[:, None]),
        ]  # fmt: skip
        for way in ways:
            with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0"):
                way(known)
            with pytest.raises(IndexError, match=f"index {index} is out of bounds for axis 0"):
                way(Tensor(known)).numpy()

    def test_one_nan_does_not_leave_the_rest_unsorted(self, modes):
        # N7
        x = np.array([0.77, 0, NAN, 0.5], np.float32)
        both = modes(lambda t: (F.sort(t), F.argsort(t), F.top_k(t, 2)[0]), x)
        assert both[0].tolist()[:3] == [0, 0.5, np.float32(0.77)]
        assert both[1].tolist() == [1, 3, 0, 2]
        assert both[2].tolist() == [np.float32(0.77), 0.5]
        assert F.unique_values(Tensor(x)).tolist()[:3] == [0, 0.5, np.float32(0.77)]
