"""F.functional: one region with a policy, in every context."""

import dataclasses

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.context import current
from realta.errors import ArgumentError, FusionError, RealizationError, ShapeError
from realta.plugins import backends
from realta.testing import assert_same_bits

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)
FUSING = "numpy:0" if "numpy" in {entry.name for entry in backends()} else None
fusing = pytest.mark.skipif(FUSING is None, reason="no backend that fuses is installed")


@dataclasses.dataclass
class Pair:
    first: Tensor
    second: list


class TestCalls:
    def test_bare_and_with_options(self):
        @F.functional
        def plain(x):
            return x * 2

        @F.functional(fuse="may", numerics="exact", on_sync="error")
        def with_options(x, *, by=1.0):
            """Its doc."""
            return x * 2 + by

        @realta.functional
        def by_the_module(x):
            return x * 2

        import realta.functional as module

        assert module is F is realta.functional
        assert by_the_module(Tensor([1.0])).tolist() == [2.0]
        assert realta.functional(on_sync="split")(plain)(Tensor([1.0])).tolist() == [2.0]
        assert plain(Tensor([1.0])).tolist() == [2.0]
        assert with_options(Tensor([1.0]), by=0.5).tolist() == [2.5]
        assert with_options.__name__ == "with_options"
        assert with_options.__doc__ == "Its doc."
        assert with_options.__wrapped__

    def test_one_graph_runs_for_the_body(self, launches):
        @F.functional
        def body(x):
            y = x + 1
            return y * x, {"more": [y, Pair(x - 1, [y / 2])]}

        launches()
        first, rest = body(Tensor(X))
        assert isinstance(rest["more"][1], Pair)
        assert first.is_real
        assert rest["more"][1].second[0].is_real
        assert_same_bits(first, (X + 1) * X)
        assert_same_bits(rest["more"][1].second[0], (X + 1) / 2)

    def test_methods_and_callables(self):
        class Model:
            @F.functional
            def forward(self, x):
                return x + 1

            def __call__(self, x):
                return x * 3

        assert Model().forward(Tensor([1.0])).tolist() == [2.0]
        assert F.functional(Model())(Tensor([1.0])).tolist() == [3.0]

    def test_dead_values_are_not_computed(self, launches):
        @F.functional
        def body(x):
            F.exp(x)
            return x + 1

        body(Tensor(X))
        launches()
        body(Tensor(X))
        one = launches()
        F.functional(lambda x: x + 1)(Tensor(X))
        assert one == launches()

    def test_an_exception_abandons_the_body(self):
        x = Tensor([1.0])
        kept = []

        @F.functional
        def body(t):
            kept.append(t + 1)
            t[0] = 5.0
            raise ValueError("out")

        with pytest.raises(ValueError, match="out"):
            body(x)
        assert x.tolist() == [1.0]
        with pytest.raises(RealizationError, match="body") as caught:
            kept[0].numpy()
        assert isinstance(caught.value.__cause__, ValueError)
        assert current.get() is None
        assert (x + 1).tolist() == [2.0]

    def test_stores_to_arguments_are_seen_by_the_caller(self):
        x = Tensor([1.0, 2.0])

        @F.functional
        def body(t):
            t[0] = 9.0
            return t * 2

        assert body(x).tolist() == [18.0, 4.0]
        assert x.tolist() == [9.0, 2.0]


class TestDecorating:
    def test_async_functions_and_generators_are_refused(self):
        async def coroutine(x):
            return x

        def generator(x):
            yield x

        async def both(x):
            yield x

        for function in (coroutine, generator, both):
            with pytest.raises(ArgumentError, match="async or a generator") as caught:
                F.functional(function)
            assert "test_region.py" in caught.value.where

    @pytest.mark.parametrize(
        "options", [{"fuse": "maybe"}, {"numerics": "wild"}, {"on_sync": 1}], ids=str
    )
    def test_choices_are_checked(self, options):
        with pytest.raises(
            ArgumentError, match=f"functional has no {next(iter(options))}="
        ) as caught:
            F.functional(**options)
        assert "use one of" in caught.value.fix

    def test_only_callables(self):
        with pytest.raises(ArgumentError, match="decorates functions, not Tensor"):
            F.functional(Tensor(1.0))


class TestRealizingInside:
    def test_is_an_error_by_default(self):
        @F.functional
        def body(x):
            y = x + 1
            return y * 2 if y.sum().item() > 0 else y

        with pytest.raises(RealizationError, match="inside it") as caught:
            body(Tensor([1.0]))
        assert "test_region.py" in caught.value.where
        assert "split" in caught.value.fix

    def test_splits_where_that_is_asked_for(self):
        @F.functional(on_sync="split")
        def body(x):
            y = x + 1
            return y * 2 if y.sum().item() > 0 else y

        assert body(Tensor([1.0])).tolist() == [4.0]
        assert body(Tensor([-5.0])).tolist() == [-4.0]

    def test_values_of_arguments_are_at_hand(self):
        @F.functional
        def body(x):
            return x * 2 if x.item() > 0 else x - 1

        assert body(Tensor(3.0)).item() == 6.0
        assert body(Tensor(-3.0)).item() == -4.0

    def test_in_a_lazy_block_it_is_as_lazy_as_the_block(self):
        @F.functional
        def body(x):
            y = x + 1
            return y * 2 if y.sum().item() > 0 else y

        with realta.lazy():
            found = body(Tensor([1.0]))
            assert not found.is_real
        assert found.tolist() == [4.0]


class TestJoining:
    def test_a_body_joins_the_open_context(self):
        seen = []

        @F.functional
        def body(x):
            seen.append(current.get())
            return x + 1

        with realta.lazy() as context:
            pending = body(Tensor([1.0]))
            assert not pending.is_real
        with realta.lazy() as other:
            body(Tensor([1.0]))
        assert seen == [context, other]
        assert pending.tolist() == [2.0]
        compiled = realta.compile(body)(Tensor([1.0]).type)
        assert compiled(Tensor([1.0])).tolist() == [2.0]

    def test_a_plain_body_stays_within_the_region_that_is_open(self):
        regions = []

        @F.functional
        def inner(x):
            regions.append((x + 1).state.values[0].region)
            return x * 2

        @F.functional(fuse="never")
        def outer(x):
            regions.append((x + 1).state.values[0].region)
            return inner(x)

        outer(Tensor([1.0]))
        assert regions[0] is regions[1]
        assert regions[0].fuse == "never"

    def test_a_region_ends_where_its_body_ends(self):
        @F.functional(fuse="never")
        def inner(x):
            return x + 1

        def failing(x):
            raise ShapeError("out")

        with realta.lazy():
            first = Tensor([1.0]) * 3
            middle = inner(first)
            last = middle * 3
            with pytest.raises(ShapeError):
                F.functional(fuse="must")(failing)(first)
            after = last - 1
            regions = [t.state.values[0].region for t in (first, middle, last, after)]
        assert [r.fuse if r else None for r in regions] == [None, "never", None, None]
        assert after.tolist() == [11.0]


@fusing
class TestPolicies:
    @pytest.fixture(autouse=True)
    def _on_numpy(self, _on_reference):
        with realta.default_device(FUSING):
            yield

    def count(self, function) -> int:
        device = realta.plugins.open_device(FUSING)
        x = Tensor(X)
        function(x)
        before = device.launches
        function(x)
        return device.launches - before

    def test_counts_of_kernels(self):
        def body(x):
            return F.exp(x * 2.5 + 1) - x

        assert self.count(F.functional(body)) == 1
        assert self.count(F.functional(fuse="must")(body)) == 1
        assert self.count(F.functional(fuse="never")(body)) == 4
        for decorate in (F.functional, F.functional(fuse="must"), F.functional(fuse="never")):
            assert_same_bits(decorate(body)(Tensor(X)), body(Tensor(X)))

    def test_must_names_the_op_that_splits_it(self):
        @F.functional(fuse="must")
        def body(x):
            return F.sort(x * 2) + 1

        with pytest.raises(FusionError, match="sort") as caught:
            body(Tensor(X))
        assert "test_region.py" in str(caught.value)
        with pytest.raises(FusionError):
            realta.compile(body)(Tensor(X).type)

    def test_a_barrier_splits(self):
        assert self.count(F.functional(lambda x: F.barrier(x + 1) * 2)) > self.count(
            F.functional(lambda x: (x + 1) * 2)
        )

    def test_softmax_is_one_kernel(self):
        assert self.count(F.functional(fuse="must")(F.softmax)) == 1

    def test_fast_numerics_stay_within_the_bounds(self):
        body = F.functional(numerics="fast")(lambda x: F.sum(F.exp(x)))
        np.testing.assert_allclose(
            body(Tensor(X)).item(), np.exp(X.astype(np.float64)).sum(), rtol=1e-6
        )
