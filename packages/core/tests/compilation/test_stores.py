"""Stores in compiled functions: moved after success, in place where unique (spec 4)."""

import copy

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile, lazy
from realta.errors import ArgumentError, ExecutionError
from realta.realization_context import EagerRealizationContext

ROWS = TensorType("float32", (4, 2))
ROW = TensorType("float32", (2,))


def test_store_to_an_argument_moves_the_callers_handle(each_device):
    def append(cache, row, *, at):
        cache[at] = row
        return cache.sum()

    cache, name = F.zeros((4, 2)), None
    name = cache
    reader = copy.copy(cache)
    step = compile(append)(ROWS, ROW, at=1)
    assert step(cache, Tensor([1.0, 2.0]), at=1).item() == 3
    assert cache is name
    assert cache.tolist() == [[0, 0], [1, 2], [0, 0], [0, 0]]
    assert reader.tolist() == [[0, 0]] * 4


def test_function_that_only_stores_returns_none():
    def clear(x):
        x[...] = 0.0

    x = Tensor([1.0, 2.0])
    assert compile(clear)(x.type)(x) is None
    assert x.tolist() == [0, 0]


def test_captured_counter_goes_on_from_call_to_call(each_device):
    position, cache = Tensor(0), F.zeros((4, 2))

    def step(row):
        rows = F.arange(4).reshape([4, 1])
        cache[...] = F.where(rows == position, row, cache)
        position[...] = position + 1
        return cache.sum(axis=0)

    compiled = compile(step)(ROW)
    assert position.item() == 0
    assert cache.tolist() == [[0, 0]] * 4
    for n in range(3):
        total = compiled(Tensor([1.0 + n, 1.0]))
    assert position.item() == 3
    assert cache.tolist() == [[1, 1], [2, 1], [3, 1], [0, 0]]
    assert total.tolist() == [6, 3]
    position[...] = 0  # stored to outside: the next call reads the newest version
    compiled(Tensor([9.0, 9.0]))
    assert cache[0].tolist() == [9, 9]


def test_reads_before_and_after_a_store_keep_their_order(each_device):
    def f(x):
        before = x + 0
        x[0] = 9.0
        x[1:] = x[:-1] + 1
        return before, x

    x = Tensor([1.0, 2.0, 3.0])
    before, after = compile(f)(x.type)(x)
    assert before.tolist() == [1, 2, 3]
    assert after.tolist() == [9, 10, 3]
    assert x.tolist() == [9, 10, 3]
    after[0] = -1.0
    assert x.tolist() == [9, 10, 3]


def test_two_names_of_one_version_are_told_apart():
    counter = Tensor(1.0)
    other = copy.copy(counter)

    def f():
        counter[...] = counter + 1
        return other + 0, counter + 0

    compiled = compile(f)()
    assert [t.item() for t in compiled()] == [1, 2]
    assert [t.item() for t in compiled()] == [1, 3]
    assert (counter.item(), other.item()) == (3, 1)


def test_tracing_leaves_every_handle_as_it_was():
    x = Tensor([1.0, 2.0])

    def f(y):
        x[0] = 9.0
        y[0] = 9.0
        z = x + y
        z[1] = 5.0
        return z

    realta.stage(f)(ROW)
    assert x.tolist() == [1, 2]
    compiled = compile(f)(ROW)
    assert x.tolist() == [1, 2]
    y = Tensor([3.0, 4.0])
    assert compiled(y).tolist() == [18, 5]
    assert x.tolist() == [9, 2]
    assert y.tolist() == [9, 4]

    def failing(y):
        x[0] = -1.0
        raise KeyError

    with pytest.raises(KeyError):
        compile(failing)(ROW)
    assert x.tolist() == [9, 2]


def test_temporaries_of_the_body_are_no_outputs():
    def f(x):
        t = x * 2
        t[0] = 7.0
        return t

    compiled = compile(f)(ROW)
    assert len(compiled.graph.outputs) == 1
    assert compiled(Tensor([1.0, 2.0])).tolist() == [7, 4]


def test_failing_call_moves_nothing(moody):
    def f(x):
        x[0:1] = 9.0
        return F.exp(x)

    x = Tensor([0.0, 0.0])
    compiled = compile(f)(x.type)
    moody.failing = {"exp"}
    with pytest.raises(ExecutionError):
        compiled(x)
    assert x.tolist() == [0, 0]
    moody.failing = set()
    compiled(x)
    assert x.tolist() == [9, 0]


def test_unique_arguments_and_captures_are_stored_to_in_place(in_place):
    cache, extra = F.zeros((1000,)) + 0, F.zeros((1000,)) + 0

    def step(x, value):
        x[0:1] = value
        extra[1:2] = value

    compiled = compile(step)(cache.type, TensorType("float32", (1,)))
    compiled(cache, Tensor([1.0]))
    compiled(cache, Tensor([2.0]))
    copies = in_place.copies
    for n in range(5):
        compiled(cache, Tensor([float(n)]))
    assert in_place.copies == copies
    assert (cache[:2].tolist(), extra[:2].tolist()) == ([4, 0], [0, 4])
    view = cache.numpy()
    compiled(cache, Tensor([7.0]))
    assert view[0] == 4
    assert cache[0].item() == 7


def test_region_puts_back_what_a_compiled_call_stored():
    def f(x):
        x[0] = 9.0

    x = Tensor([1.0, 2.0])
    compiled = compile(f)(x.type)

    def region():
        with EagerRealizationContext():
            compiled(x)
            raise KeyError

    with pytest.raises(KeyError):
        region()
    assert x.tolist() == [1, 2]
    with lazy():
        before = x + 0
        compiled(x)
        after = x + 0
    assert (before.tolist(), after.tolist()) == ([1, 2], [9, 2])


def test_one_tensor_under_two_names_is_an_error(masked):
    def f(x, y):
        x[0] = 9.0
        return x + y

    x = Tensor([1.0, 2.0])
    compiled = compile(f)(ROW, ROW)
    with pytest.raises(ArgumentError) as caught:
        compiled(x, x)
    assert masked(caught.value) == (
        "argument 1 of f is a tensor that the function also has under another name and stores to\n"
        "  where: HERE\n"
        "  fix: pass copy.copy(tensor), so that each name is a tensor of its own"
    )
    assert compiled(x, copy.copy(x)).tolist() == [10, 4]
    captured = compile(lambda y: store(x, y))(ROW)
    with pytest.raises(ArgumentError, match="under another name and stores to"):
        captured(x)


def store(x, y):
    x[...] = y


def test_what_is_stored_to_has_to_be_a_tensor(masked):
    def clear(x):
        x[...] = 0.0

    with pytest.raises(ArgumentError) as caught:
        compile(clear)(ROW)(np.float32([1, 2]))
    assert masked(caught.value) == (
        "clear stores to its argument 0, which is no tensor but ndarray\n"
        "  where: HERE\n"
        "  fix: pass a tensor, which moves to the new version"
    )


def test_deepcopy_of_a_compiled_function_has_a_counter_of_its_own():
    counter = Tensor(0)

    def count():
        counter[...] = counter + 1
        return counter + 0

    compiled = compile(count)()
    compiled()
    other = copy.deepcopy(compiled)
    assert [compiled().item(), compiled().item(), other().item()] == [2, 3, 2]
    assert counter.item() == 3
