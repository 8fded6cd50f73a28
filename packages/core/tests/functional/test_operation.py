"""Bare calls: what decides the remembered program of a call, and what errors say of the call."""

import inspect

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, RealtaError, ShapeError
from realta.functional.arguments import apply, scalar_like
from realta.functional.operation import arithmetic, forget_replays, operation
from realta.functional.replay import call_key
from realta.testing import assert_same_bits


@pytest.fixture
def traces():
    """Counts how often a body is traced."""

    class Counter:
        count = 0

        def counted(self, body):
            def run(*args, **kwargs):
                self.count += 1
                return body(*args, **kwargs)

            run.__name__ = body.__name__
            return run

    return Counter()


class TestRememberedPrograms:
    def test_a_call_of_the_same_types_is_traced_once(self, traces):
        double = operation(traces.counted(lambda x: apply("add", x, x)))
        for n in range(5):
            assert double(Tensor([float(n)])).tolist() == [2.0 * n]
        assert traces.count == 1
        double(Tensor([1]))
        double(Tensor([1.0, 2.0]))
        assert traces.count == 3

    def test_turned_off_every_call_is_traced(self, traces):
        double = operation(traces.counted(lambda x: apply("add", x, x)))
        F.set_fast_path(False)
        try:
            for _ in range(3):
                assert double(Tensor([1.0])).tolist() == [2.0]
            assert not F.fast_path_enabled()
        finally:
            F.set_fast_path(True)
        assert traces.count == 3
        assert F.fast_path_enabled()

    def test_static_numbers_decide_the_program(self, traces):
        def shifted(x, by):
            return apply("add", x, scalar_like(by * 2, x.dtype, x._type.device))

        call = operation(traces.counted(shifted))
        # What the body makes of the number cannot be known, so each number has its program.
        assert [call(Tensor(1.0), by).item() for by in (0.25, 0.75, 0.25, 3, True)] == [
            1.5, 2.5, 1.5, 7.0, 3.0,
        ]  # fmt: skip
        assert traces.count == 4

    def test_operands_that_are_floats_do_not(self, traces):
        def shifted(x, by):
            return apply("add", x, scalar_like(by, x.dtype, x._type.device))

        call = arithmetic(traces.counted(shifted))
        numbers = (0.25, 0.75, 3.5, -7.25, float("inf"), np.float64(0.1))
        assert [call(Tensor(1.0), by).item() for by in numbers] == [
            np.float32(1.0) + np.float32(by) for by in numbers
        ]
        assert np.isnan(call(Tensor(1.0), float("nan")).item())
        assert traces.count == 1
        # The common ones are constants; a negative zero is not the zero among them.
        assert np.signbit(call(Tensor(-0.0), -0.0).item())
        assert not np.signbit(call(Tensor(-0.0), 0.0).item())
        assert call(Tensor(1.0), 1.0).item() == 2.0
        assert call(Tensor(1.0), True).item() == 2.0
        assert call(Tensor(1.0), 1).item() == 2.0

    def test_a_body_that_looks_at_an_operand_is_traced_every_time(self, traces):
        def shifted(x, by):
            return apply("add", x, scalar_like(by * 2, x.dtype, x._type.device))

        call = arithmetic(traces.counted(shifted))
        assert [call(Tensor(1.0), by).item() for by in (0.25, 0.75)] == [1.5, 2.5]
        assert traces.count == 2

    def test_numpys_floats_are_operands_too(self):
        for value in (0.1, 0.7):
            number = np.float64(value)
            assert F.full((1,), number).item() == np.float32(value)
            assert F.full_like(Tensor([1.0]), number).item() == np.float32(value)
            assert (Tensor([1.0]) * number).item() == np.float32(value)
            assert F.where(Tensor([True]), number, 1.0).item() == np.float32(value)
            assert F.clip(Tensor([0.0]), number).item() == np.float32(value)
            assert F.pad(Tensor([1.0]), (0, 1), value=number)[1].item() == np.float32(value)

    def test_one_tensor_twice_is_another_call_than_two(self):
        call = operation(lambda x, y: apply("sub", x, y))
        x, y = Tensor([3.0]), Tensor([1.0])
        assert [call(x, x).item(), call(x, y).item(), call(y, y).item(), call(y, x).item()] == [
            0.0, 2.0, 0.0, -2.0,
        ]  # fmt: skip
        same = +x
        assert [call(x, same).item(), call(x, y).item(), call(same, x).item()] == [0.0, 2.0, 0.0]

    def test_tensors_in_lists_and_keywords(self):
        for n in range(3):
            found = F.concat([Tensor([n]), Tensor([n + 1])], axis=0)
            assert found.tolist() == [n, n + 1]
            assert F.clip(Tensor([5.0]), max=Tensor([float(n)])).tolist() == [float(n)]

    def test_defaults_decide_the_program(self):
        for _ in range(2):
            with realta.default_dtype("float64"):
                assert F.zeros(1).dtype is realta.float64
                assert F.sqrt(Tensor([4])).dtype is realta.float64
                assert realta.random.uniform().dtype is realta.float64
            assert F.zeros(1).dtype is realta.float32
            assert F.sqrt(Tensor([4])).dtype is realta.float32
            assert realta.random.uniform().dtype is realta.float32

    def test_draws_go_on(self):
        realta.set_seed(5)
        found = [realta.random.uniform((2,)).tolist() for _ in range(3)]
        assert len({tuple(f) for f in found}) == 3
        realta.set_seed(5)
        F.set_fast_path(False)
        try:
            assert [realta.random.uniform((2,)).tolist() for _ in range(3)] == found
        finally:
            F.set_fast_path(True)

    def test_slices_are_keyed_by_value(self):
        t = Tensor([0, 1, 2, 3])
        for n in (1, 2, 3):
            assert t[n:].tolist() == list(range(n, 4))
            assert t[Tensor(n) :].tolist() == list(range(n, 4))
        assert call_key((t, slice(Tensor(1), None)), {}, False) is None

    def test_what_cannot_be_a_key_is_traced(self):
        assert call_key((Tensor(1), np.ones(2)), {}, False) is None
        for n in range(2):
            assert (Tensor([1.0, 1.0]) + np.array([n, 2.0 * n])).tolist() == [1.0 + n, 1.0 + 2 * n]

    def test_forgetting_traces_anew(self, traces):
        double = operation(traces.counted(lambda x: apply("add", x, x)))
        double(Tensor(1.0))
        forget_replays()
        assert double(Tensor(1.0)).item() == 2.0
        assert traces.count == 2

    def test_results_are_those_of_the_general_path(self):
        x, y = Tensor([0.1, 0.7]), Tensor([0.3, -2.5])
        calls = [
            lambda: x + y, lambda: x / y, lambda: F.atan2(x, y), lambda: F.exp(x),
            lambda: F.sigmoid(y), lambda: x < y, lambda: F.is_nan(x), lambda: F.floor(y),
            lambda: x**y, lambda: 2.5 * x,
        ]  # fmt: skip
        fast = [[call().numpy() for _ in range(3)] for call in calls]
        F.set_fast_path(False)
        try:
            for call, found in zip(calls, fast, strict=True):
                for result in found:
                    assert_same_bits(result, call())
        finally:
            F.set_fast_path(True)


class TestErrors:
    def test_the_call_and_the_line_are_shown(self):
        line = inspect.currentframe().f_lineno + 2
        with pytest.raises(ShapeError) as caught:
            F.squeeze(F.ones((2, 3)), axis=0)
        assert caught.value.where == (f"squeeze(f32[2,3]@reference:0, axis=0) at {__file__}:{line}")

    @pytest.mark.parametrize("mode", ["bare", "lazy", "region", "stage"])
    def test_in_every_context(self, mode):
        def body(x):
            return F.concat([x, F.ones((2, 5))], axis=0)

        calls = {
            "bare": body,
            "lazy": realta.lazy()(body),
            "region": F.functional(body),
            "stage": lambda x: realta.stage(body)(x.type),
        }
        x = F.ones((2, 3))
        with pytest.raises(ShapeError, match="do not join") as caught:
            calls[mode](x)
        assert f"at {__file__}" in caught.value.where

    def test_long_arguments_are_cut(self):
        with pytest.raises(RealtaError) as caught:
            F.concat([F.ones((n + 1, n + 1)) for n in range(9)], axis=5)
        call, _at, _place = caught.value.where.rpartition(" at ")
        assert len(call) < 230
        with pytest.raises(RealtaError) as caught:
            F.reshape(F.ones(2), ("x" * 200,))
        call, _at, _place = caught.value.where.rpartition(" at ")
        assert len(call) < 230

    @pytest.mark.parametrize(
        ("call", "what", "fix"),
        [
            (lambda x: F.sum(x, dim=0), "sum has no argument 'dim'", "write axis= instead"),
            (lambda x: F.softmax(x, dim=-1), "softmax has no argument 'dim'", "write axis="),
            (lambda x: x.mean(dim=0, keepdim=True), "mean has no argument 'dim'", "write axis="),
            (lambda x: x.sum(0, keepdim=True), "sum has no argument 'keepdim'", "write keepdims="),
            (lambda x: F.concat([x], dim=0), "concat has no argument 'dim'", "write axis="),
            (lambda x: F.var(x, ddof=1), "var has no argument 'ddof'", "write correction="),
            (
                lambda x: F.sum(x, axes=0),
                "unexpected keyword argument 'axes'",
                "call it as sum(x, axis=None, *, dtype=None, keepdims=False)",
            ),
            (
                lambda x: F.gather(x),
                "missing a required argument: 'indices'",
                "call it as gather(input, indices",
            ),
            (lambda x: x.permute(1, 0), "too many positional arguments", "permute(x, [1, 0])"),
            (
                lambda x: F.where(x),
                "where: missing a required argument: 'x'",
                "call it as where(cond, x, y)",
            ),
        ],
    )
    def test_arguments_that_a_function_does_not_take(self, call, what, fix):
        with pytest.raises(ArgumentError) as caught:
            call(F.ones((2, 3)))
        assert what in caught.value.what
        assert fix in caught.value.fix
        assert "test_operation.py" in caught.value.where
        with realta.lazy(), pytest.raises(ArgumentError):
            call(F.ones((2, 3)))

    def test_a_type_error_of_the_body_is_left_alone(self):
        def body(x):
            return x + [].nothing

        def failing(x):
            raise TypeError("from inside")

        with pytest.raises(AttributeError):
            operation(body)(Tensor(1.0))
        with pytest.raises(TypeError, match="from inside") as caught:
            operation(failing)(Tensor(1.0))
        assert not isinstance(caught.value, RealtaError)

    def test_a_failed_call_leaves_nothing_behind(self):
        x = Tensor([1.0, 2.0])
        for _ in range(2):
            with pytest.raises(ShapeError):
                F.reshape(x, (3,))
            assert F.reshape(x, (2, 1)).tolist() == [[1.0], [2.0]]
