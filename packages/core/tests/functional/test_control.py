"""Control flow: the branch or the steps that run, in every context, with stores, draws, errors."""

import copy

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, lazy, random
from realta.errors import (
    ArgumentError,
    DTypeError,
    IndexBoundsError,
    RealizationError,
    ShapeError,
)
from realta.plugins import open_device
from realta.realization_context import EagerRealizationContext, in_graph_context

X = np.array([1.0, -2.0, 3.0], np.float32)


def halved(x):
    return F.cond(F.sum(x) > 0, None, lambda: (x * 0.5, -x), lambda: (F.exp(x), x))


def collatz(n):
    """Steps until 1, and the largest number met."""

    def body(n, steps, top):
        half = F.cond(n % 2 == 0, None, lambda: n // 2, lambda: 3 * n + 1)[0]
        return half, steps + 1, F.maximum(top, half)

    return F.while_loop((n, 0, n), lambda n, *_: n != 1, body)[1:]


@pytest.mark.parametrize("sign", [1, -1])
def test_one_branch_runs_in_every_mode(modes, sign):
    first, second = modes(halved, sign * X)
    x = sign * X
    wanted = (x * np.float32(0.5), -x) if x.sum() > 0 else (np.exp(x), x)
    np.testing.assert_allclose(first, wanted[0], rtol=1e-6)
    np.testing.assert_array_equal(second, wanted[1])


def test_a_loop_runs_its_steps_in_every_mode(modes):
    for start, steps, top in ((6, 8, 16), (1, 0, 1), (27, 111, 9232)):
        found = modes(collatz, np.int64(start))
        assert [int(v) for v in found] == [steps, top]


def test_only_the_branch_taken_is_computed(launches):
    x, yes = Tensor(X), Tensor(True)
    launches()
    F.cond(yes, None, lambda: x, lambda: F.sort(F.sort(F.sort(x))))
    assert launches() == 0


def test_out_types_are_checked(modes):
    types = [TensorType("float32", (3,))]
    found = modes(lambda x: F.cond(F.sum(x) > 0, types, lambda: x, lambda: -x), X)
    np.testing.assert_array_equal(found, X)
    x = Tensor(X)
    with pytest.raises(ArgumentError, match=r"then_fn \(.*\) returns f32\[3\]\S* as result 0, out"):
        F.cond(True, [TensorType("int32", (3,))], lambda: x, lambda: -x)
    with pytest.raises(ArgumentError, match=r"then_fn .* returns 1 result\(s\), out_types says 0"):
        F.cond(True, [], lambda: x, lambda: -x)


def test_branches_without_results():
    assert F.cond(Tensor(True), None, lambda: None, lambda: None) == []


def test_loops_nest_and_capture_from_every_level(modes):
    def table(x):
        def outer(i, total):
            row = i + 1

            def inner(j, total):
                return j + 1, total + x * F.cast(row * j, "float32")

            return row, F.while_loop((0, total), lambda j, _: j < row, inner)[1]

        return F.while_loop((0, x * 0), lambda i, _: i < 4, outer)[1]

    total = sum((i + 1) * j for i in range(4) for j in range(i + 1))
    np.testing.assert_array_equal(modes(table, X), X * total)


def test_functions_are_traced_inside_a_graph_and_once(launches):
    seen = []

    def body(i):
        seen.append(in_graph_context())
        return i + 1

    assert F.while_loop(0, lambda i: i < 100, body)[0].item() == 100
    assert seen == [True]
    assert not in_graph_context()


def test_pending_tensors_of_the_context_are_read_where_they_are(launches):
    x = Tensor(X)
    with lazy() as block:
        y = F.exp(x)
        chosen = F.cond(F.sum(y) > 0, None, lambda: y + 1, lambda: y)[0]
    assert not launches()
    assert chosen.state.ctx is block
    assert not y.is_real
    np.testing.assert_array_equal(chosen.numpy(), F.exp(x).numpy() + 1)


def test_a_number_that_changes_compiles_nothing():
    x = Tensor(X)
    programs = open_device("reference:0").programs

    def scaled(factor):
        return F.cond(F.sum(x) > 0, None, lambda: x * factor, lambda: x)[0]

    scaled(3.0)
    misses = programs.stats().misses
    np.testing.assert_array_equal(scaled(7.0).numpy(), X * 7)
    assert programs.stats().misses == misses


def test_symbolic_extents_reach_the_branches():
    compiled = realta.compile(halved)(TensorType("float32", ("n",), "reference:0"))
    for n in (1, 4):
        x = np.linspace(1, 2, n, dtype=np.float32)
        np.testing.assert_array_equal(compiled(Tensor(x))[1].numpy(), -x)


def test_stores_in_a_branch_move_the_tensor_where_that_branch_runs():
    x, kept = Tensor(X), Tensor(np.zeros(3, np.float32))
    alias, before = kept, copy.copy(kept)

    def store():
        kept[1] = 5.0
        return x

    for yes, wanted in ((False, [0, 0, 0]), (True, [0, 5, 0])):
        F.cond(Tensor(yes), None, store, lambda: x)
        assert kept.tolist() == wanted
    assert alias is kept
    assert before.tolist() == [0, 0, 0]


def counted(cache, n):
    def body(i):
        cache[i] = F.cast(i, "float32") + 1
        return i + 1

    return F.while_loop(0, lambda i: i < n, body)[0]


@pytest.mark.parametrize("mode", ["eager", "region", "lazy", "compiled"])
def test_stores_in_a_loop_are_carried_from_step_to_step(mode):
    cache, n = Tensor(np.zeros(4, np.float32)), Tensor(3)
    if mode == "eager":
        counted(cache, n)
    elif mode == "region":
        F.functional(counted)(cache, n)
    elif mode == "lazy":
        with lazy():
            counted(cache, n)
        assert not cache.is_real
    else:
        compiled = realta.compile(counted)(cache.type, n.type)
        assert cache.tolist() == [0, 0, 0, 0]  # tracing leaves it alone
        compiled(cache, n)
    assert cache.tolist() == [1, 2, 3, 0]


def test_a_failing_trace_leaves_stores_undone():
    cache = Tensor(np.zeros(2, np.float32))

    def body(i):
        cache[0] = 1.0
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        F.while_loop(0, lambda i: i < 3, body)
    assert cache.tolist() == [0, 0]
    assert F.while_loop(0, lambda i: i < 3, lambda i: i + 1)[0].item() == 3


def noisy(n):
    def body(i, x):
        drawn = random.uniform((2,)) + random.normal((2,))
        return i + 1, F.cond(i > 0, None, lambda: x + drawn * random.uniform(), lambda: x)[0]

    return F.while_loop((0, F.zeros((2,))), lambda i, _: i < n, body)[1]


@pytest.mark.parametrize("device", ["reference", "numpy"])
def test_draws_take_one_counter_and_agree_in_every_mode(device):
    with realta.default_device(device):
        found = []
        n = Tensor(4)
        compiled = realta.compile(noisy)(n.type)
        for run in (noisy, F.functional(noisy), lazy()(noisy), compiled, compiled):
            realta.set_seed(11)
            found.append(run(n).numpy())
            assert realta.seed().tolist() == [11, 1]
        assert all(np.array_equal(f, found[0]) for f in found)
        assert not np.array_equal(compiled(n).numpy(), found[0])  # the next counter


def test_the_key_of_draws_inside_is_a_philox_block():
    from realta.ops.philox import philox_block

    realta.set_seed(5)
    random.uniform()

    def body(i, x):
        random.uniform()
        return i + 1, random.uniform((4,))

    found = F.while_loop((0, F.zeros((4,))), lambda i, _: i < 3, body)[1].numpy()
    word = np.uint64
    key = philox_block((word(2), word(1), word(1), word(0)), (5, 0))  # step 2, body, counter 1
    lanes = philox_block((word(0), word(0), word(1), word(0)), (int(key[0]), int(key[1])))
    np.testing.assert_array_equal(found, (lanes >> 8).astype(np.float32) * np.float32(2**-24))


def test_streams_take_a_counter_each():
    stream = random.Generator(7)
    realta.set_seed(0)

    def both():
        return random.uniform() + stream.uniform()

    F.cond(Tensor(True), None, both, both)
    assert (realta.seed().tolist(), stream.seed().tolist()) == ([0, 1], [7, 1])


def test_a_predicate_is_a_0d_bool():
    x = Tensor(X)
    with pytest.raises(DTypeError, match="the predicate of cond must be bool"):
        F.cond(F.sum(x), None, lambda: x, lambda: x)
    with pytest.raises(ShapeError, match="the predicate of cond must be 0-d"):
        F.cond(x > 0, None, lambda: x, lambda: x)
    with pytest.raises(DTypeError, match=r"predicate \(.*\) returns f32\[3\]\S*, must be bool"):
        F.while_loop(x, lambda x: x, lambda x: x)
    with pytest.raises(ShapeError, match=r"predicate \(.*\) returns bool\[3\]\S*, must be 0-d"):
        F.while_loop(x, lambda x: x > 0, lambda x: x)


def test_a_predicate_does_not_store():
    x = Tensor(X)

    def predicate(i):
        x[0] = 0.0
        return i < 3

    with pytest.raises(ArgumentError, match=r"predicate .* stores to a tensor"):
        F.while_loop(0, predicate, lambda i: i + 1)
    assert x.tolist() == X.tolist()


def test_types_that_differ_name_branch_argument_and_lines(masked):
    x = Tensor(X)
    with pytest.raises(ArgumentError) as caught:
        F.cond(True, None, lambda: x, lambda: F.cast(x, "int32"))
    assert masked(caught.value).splitlines()[0] == (
        "else_fn (HERE) returns i32[3]@reference:0 as result 0, then_fn (HERE) returns "
        "f32[3]@reference:0"
    )
    assert "cond at HERE" in masked(caught.value)
    with pytest.raises(ArgumentError) as caught:
        F.while_loop((0, x), lambda i, x: i < 3, lambda i, total: (i + 1, F.sum(total)))
    assert masked(caught.value).splitlines()[0] == (
        "body (HERE) returns f32[]@reference:0 for value 1 (total), which is f32[3]@reference:0"
    )
    with pytest.raises(ArgumentError, match=r"body .* returns 1 value\(s\), 2 are carried"):
        F.while_loop((0, x), lambda i, x: i < 3, lambda i, x: i)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: F.cond(True, None, 3, lambda: 0), "then_fn is int"),
        (lambda: F.cond(True, None, lambda: {"a": 1}, lambda: 0), "then_fn .* returned dict"),
        (lambda: F.while_loop([], lambda: True, lambda: None), "got no initial values"),
        (lambda: F.while_loop("x", lambda x: True, lambda x: x), "initial_values returned str"),
    ],
)
def test_wrong_arguments(call, text):
    with pytest.raises(ArgumentError, match=text):
        call()


def test_values_inside_cannot_be_asked_for():
    x = Tensor(X)
    with pytest.raises(RealizationError, match="a tensor of then_fn has no value yet: the"):
        F.cond(True, None, lambda: x if F.sum(x) > 0 else -x, lambda: x)


def test_an_error_inside_names_its_own_line(moody):
    moody.failing = {"sort"}
    x = Tensor(X)

    def body(i, x):
        return i + 1, F.sort(x)  # here

    line = body.__code__.co_firstlineno + 1
    with EagerRealizationContext() as region:
        region.on_sync = "split"
        found = F.while_loop((0, x), lambda i, _: i < 2, body)[1]
        with pytest.raises(realta.errors.ExecutionError, match="no sort today") as caught:
            found.realize()
    assert f"test_control.py:{line}" in str(caught.value)
    compiled = realta.compile(lambda x: F.while_loop((0, x), lambda i, _: i < 2, body)[1])(x.type)
    with pytest.raises(realta.errors.ExecutionError, match=rf"test_control\.py:{line}"):
        compiled(x)


def test_an_index_outside_inside_raises_at_the_next_wait():
    x, n = Tensor(X), Tensor(7)
    with lazy():
        found = F.cond(n > 0, None, lambda: F.gather(x, n), lambda: x[0])[0]
        later = found + 1
    with pytest.raises(IndexBoundsError, match="index 7 is out of bounds for axis 0 with size 3"):
        later.numpy()


def test_control_flow_prints_as_text():
    traced = realta.stage(halved)(TensorType("float32", (3,), "reference:0"))
    text = str(traced.graph)
    assert "cond(" in text
    assert realta.graph.parse(text) == traced.graph
    found = realta.load_graph(realta.graph.parse(text))(Tensor(X))
    np.testing.assert_array_equal(found[1].numpy(), -X)


def test_it_can_be_explained():
    x = Tensor(X)
    with lazy():
        found = halved(x)[0]
    assert "cond" in str(realta.explain(found))
