"""Effects: once, in order, before later values of their context; dropped by nobody."""

import gc

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, lazy
from realta.errors import ArgumentError, AssertionFailed, DTypeError, ExecutionError
from realta.functional import assert_
from realta.graph import has_effects, parse
from realta.realization_context import EagerRealizationContext

X = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def printed(capsys):
    """The labels printed since the last call."""

    def labels():
        return [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]

    return labels


def test_a_real_tensor_prints_at_once_and_as_it_displays(capsys):
    x = Tensor(X)
    F.print(x, "x")
    F.print(x)
    F.print(x + 1, name="next")
    assert capsys.readouterr().out == f"x: {x!r}\n{x!r}\nnext: {x + 1!r}\n"


def test_lazy_effects_run_once_and_before_what_is_later(printed):
    x = Tensor(X)
    with lazy() as block:
        first = x + 1
        F.print(x, "a")
        second = x + 2
        F.print(second, "b")
        third = x + 3
        F.print(third, "c")
    assert printed() == []
    first.realize()
    assert printed() == []
    second.realize()
    assert printed() == ["a"]
    third.realize()
    second.numpy()
    assert printed() == ["b"]
    block.realize_all()
    assert printed() == ["c"]
    block.realize_all()
    assert printed() == []


def test_a_store_after_an_effect_is_later(printed):
    t = Tensor(X)
    with lazy():
        F.print(t, "a")
        t[0] = 5.0
    assert t.tolist() == [5, 2]
    assert printed() == ["a"]


def test_another_context_that_reads_a_value_runs_what_is_before(printed):
    x = Tensor(X)
    with lazy():
        F.print(x, "a")
        y = x + 1
    with lazy():
        z = y * 2
    assert printed() == ["a"]
    assert z.tolist() == [4, 6]


@pytest.mark.parametrize("on_sync", ["error", "split"])
def test_a_region_runs_its_effects_at_its_end(printed, on_sync):
    x = Tensor(X)
    with EagerRealizationContext(on_sync=on_sync):
        F.print(x, "a")
        y = x + 1
        F.print(y, "b")
        assert printed() == []
        if on_sync == "split":
            y.realize()
            assert printed() == ["a", "b"]
        F.print(y, "c")
    assert printed() == ["c"] if on_sync == "split" else ["a", "b", "c"]


def test_an_exception_abandons_the_effects_of_a_region(printed):
    def region():
        with EagerRealizationContext():
            F.print(Tensor(X), "a")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        region()
    gc.collect()
    assert printed() == []


def traced(x):
    F.print(x, "first")
    unused = F.exp(x)
    F.print(unused, "second")
    return x * 2


def test_each_call_of_a_compiled_function_runs_them_in_order(printed):
    x = Tensor(X)
    compiled = realta.compile(traced)(x.type)
    assert printed() == []
    for _ in range(2):
        assert compiled(x).tolist() == [2, 4]
        assert printed() == ["first", "second"]
    names = [node.op.name for node in compiled.graph.nodes if has_effects(node)]
    assert names == ["print", "print"]
    text = str(compiled.graph)
    assert parse(text) == compiled.graph
    assert realta.load_graph(parse(text))(x).tolist() == [2, 4]
    assert printed() == ["first", "second"]


def test_a_function_that_only_has_effects(printed):
    x = Tensor(X)
    assert realta.compile(lambda x: F.print(x, "a"))(x.type)(x) is None
    assert printed() == ["a"]


def test_equal_effects_stay_apart(printed):
    x = Tensor(X)

    def twice(x):
        F.print(x, "a")
        F.print(x, "a")
        return x

    realta.compile(twice)(x.type)(x)
    assert printed() == ["a", "a"]


def test_effects_in_control_flow_run_as_often_as_it_does(printed):
    def looped(n):
        F.print(n, "before")

        def body(i):
            F.print(i, "in")
            F.cond(i == 1, None, lambda: F.print(i, "one"), lambda: None)
            return i + 1

        i = F.while_loop(0, lambda i: i < n, body)[0]
        F.print(i, "after")
        return i

    n = Tensor(3)
    wanted = ["before", "in", "in", "one", "in", "after"]
    for run in (looped, F.functional(looped), realta.compile(looped)(n.type)):
        run(n)
        assert printed() == wanted
    with lazy():
        found = looped(n)
        last = found + 1
    found.realize()
    assert printed() == wanted[:-1]
    last.realize()
    assert printed() == ["after"]


def test_unused_control_flow_with_effects_runs(printed):
    def unused(x):
        F.cond(F.sum(x) > 0, None, lambda: F.print(x, "yes"), lambda: F.print(x, "no"))
        return x

    x = Tensor(X)
    realta.compile(unused)(x.type)(x)
    realta.compile(unused)(x.type)(-x)
    assert printed() == ["yes", "no"]


def test_a_context_that_dies_with_effects_warns():
    x = Tensor(X)
    with lazy("draft"):
        F.print(x, "a")
        F.print(x, "b")
    with pytest.warns(RuntimeWarning, match=r"'draft' died with 2 effect\(s\) .* print\(f32\[2\]"):
        gc.collect()


def test_a_context_whose_effects_ran_dies_in_silence():
    x = Tensor(X)
    with lazy() as block:
        F.print(x, "a")
    block.realize_all()
    del block
    gc.collect()


def test_an_assertion_that_holds_is_silent():
    assert_(Tensor(X) > 0, "positive")
    assert_(True)


def test_an_assertion_names_its_line_and_the_element(masked):
    with pytest.raises(AssertionFailed) as caught:
        assert_(Tensor(X) > 1, "must be above 1")
    assert masked(caught.value).splitlines()[:2] == [
        "must be above 1",
        "  where: assert_(bool[2]@reference:0) at HERE, element [0]",
    ]
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, ExecutionError)


def test_what_is_behind_a_failed_assertion_does_not_become_real(printed):
    x = Tensor(X)
    with lazy():
        F.print(x, "a")
        before = x + 1
        assert_(F.all(x > 1), "above")
        after = x + 2
    for _ in range(2):
        with pytest.raises(AssertionFailed, match="above"):
            after.realize()
    assert printed() == ["a"]  # once, though the demand was made twice
    assert before.tolist() == [2, 3]
    assert not after.is_real
    del before, after
    gc.collect()


def test_a_failed_assertion_poisons_its_region_only():
    x = Tensor(X)
    found = []

    def region():
        with EagerRealizationContext():
            found.append(x + 1)
            assert_(F.any(x < 0), "no")

    for use in (region, lambda: found[0].numpy()):
        with pytest.raises(AssertionFailed, match="no"):
            use()
    assert (x + 1).tolist() == [2, 3]


def test_a_failed_assertion_leaves_stores_of_a_compiled_call_undone():
    @realta.compile
    def store(cache, x):
        cache[0] = 9.0
        assert_(F.all(x > 0), "positive")
        return x

    cache, x = Tensor(X), Tensor(X)
    call = store(cache.type, x.type)
    with pytest.raises(AssertionFailed, match="positive"):
        call(cache, -x)
    assert cache.tolist() == [1, 2]
    call(cache, x)
    assert cache.tolist() == [9, 2]


def test_wrong_arguments():
    x = Tensor(X)
    with pytest.raises(DTypeError, match="assert_ takes bool, not float32"):
        assert_(x)
    with pytest.raises(ArgumentError, match="name is text, got int"):
        F.print(x, 3)
    with pytest.raises(ArgumentError, match="message is text, got Tensor"):
        assert_(x > 0, x)


def test_they_print_from_any_device():
    x = Tensor(X, device="numpy")
    compiled = realta.compile(traced)(TensorType("float32", (2,), "numpy:0"))
    assert compiled(x).tolist() == [2, 4]
