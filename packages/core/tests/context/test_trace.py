"""Regions that record the same again find their program by their trace (spec 2)."""

import gc
import weakref

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.context import cut_out
from realta.context import trace as traces
from realta.errors import CompilationError, ExecutionError, IndexBoundsError, RealizationError
from realta.plugins import open_device
from realta.testing import assert_same_bits

X = np.array([1.0, -2.0, 3.0], np.float32)


@pytest.fixture
def graphs(monkeypatch):
    """Counts the graphs that regions build."""
    built = []

    def counted(context, wanted):
        built.append(context.name)
        return cut_out(context, wanted)

    monkeypatch.setattr("realta.context.running.cut_out", counted)
    traces._recipes.clear()
    return built


def run(body, *args):
    """The results of a region that runs a body, twice recorded."""
    region = F.functional(body)
    first = region(*args)
    second = region(*args)
    return first, second


def test_the_second_time_no_graph_is_built(graphs):
    def chain(x, y):
        return F.relu(x * y + x) - y

    x, y = Tensor(X), Tensor(X[::-1].copy())
    first, second = run(chain, x, y)
    assert len(graphs) == 1
    assert_same_bits(first, second)
    # Another region of the same structure is the same program; other operands are inputs.
    again = F.functional(lambda a, b: F.relu(a * b + a) - b)(y, x)
    assert len(graphs) == 1
    assert_same_bits(again, chain(y, x))


OTHERS = {
    "operand": lambda x, y: F.relu(x * y + y) - y,
    "order": lambda x, y: F.relu(y * x + x) - y,
    "op": lambda x, y: F.sigmoid(x * y + x) - y,
    "one input": lambda x, y: F.relu(x * x + x) - x,
    "less": lambda x, y: x * y,
    "attributes": lambda x, y: F.sum(F.relu(x * y + x) - y, axis=0),
    "number": lambda x, y: F.relu(x * y + 3.0) - y,
    "constant": lambda x, y: F.relu(x * y + x) - 2.0,
    "other constant": lambda x, y: F.relu(x * y + x) - 0.5,
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_differs_is_not_mixed_up(name):
    other = OTHERS[name]
    x, y = Tensor(X), Tensor(X + 1)
    for body in (lambda x, y: F.relu(x * y + x) - y, other, other):
        first, second = run(body, x, y)
        assert_same_bits(first, body(x, y))
        assert_same_bits(second, body(x, y))


def test_which_tensors_live_on_is_part_of_it(graphs):
    kept = []

    def body(x, keeps):
        z = x * x
        if keeps:
            kept.append(z)
        return z + x

    region = F.functional(body)
    for keeps in (False, True, False, True):
        assert region(Tensor(X), keeps).tolist() == [2, 2, 12]
    assert [z.tolist() for z in kept] == [[1, 4, 9]] * 2
    assert len(graphs) == 2


def test_one_storage_twice_is_not_two(graphs):
    region = F.functional(lambda x, y: x * y)
    x, y = Tensor(X), Tensor(X + 1)
    for a, b in ((x, x), (x, y), (x, x), (y, x)):
        assert_same_bits(region(a, b), np.asarray(a) * np.asarray(b))
    assert len(graphs) == 2


def test_numbers_are_parameters_and_draws_go_on(graphs):
    region = F.functional(lambda x, by: x * by + realta.random.uniform((3,)))
    realta.random.set_seed(5)
    found = [region(Tensor(X), by) for by in (1.5, 2.5, 3.5)]
    assert len(graphs) == 1
    realta.random.set_seed(5)
    for by, result in zip((1.5, 2.5, 3.5), found, strict=True):
        assert_same_bits(result, Tensor(X) * by + realta.random.uniform((3,)))


def test_types_and_policies_are_part_of_it():
    for dtype in ("float32", "float64", "int32"):
        for fuse in ("may", "never"):
            region = F.functional(fuse=fuse)(lambda x: x * x + x)
            for _ in range(2):
                result = region(Tensor(X).cast(dtype))
                assert result.dtype.name == dtype
                assert result.tolist() == [2, 2, 12]


def test_a_region_inside_with_a_policy_of_its_own_is_recorded_in_full(graphs):
    inner = F.functional(fuse="never")(lambda x: x * x)
    region = F.functional(lambda x: inner(x) + x)
    for _ in range(3):
        assert region(Tensor(X)).tolist() == [2, 2, 12]
    assert len(graphs) == 3


def test_a_split_region_goes_on_as_before():
    @F.functional(on_sync="split")
    def body(x):
        y = x + 1
        if y.tolist()[0] > 0:
            y = y * 2
        return y - x

    for _ in range(3):
        assert body(Tensor(X)).tolist() == [3, 0, 5]
    strict = F.functional(lambda x: (x + 1).tolist())
    for _ in range(2):
        with pytest.raises(RealizationError, match="realized inside it"):
            strict(Tensor(X))


def test_stores_are_put_back_or_stay():
    def body(x, fails):
        x[0] = 9.0
        if fails:
            raise ZeroDivisionError
        return x + 1

    region = F.functional(body)
    for fails in (False, True, False, True):
        x = Tensor(X)
        if fails:
            with pytest.raises(ZeroDivisionError):
                region(x, fails)
            assert x.tolist() == [1, -2, 3]
        else:
            assert region(x, fails).tolist() == [10, -1, 4]
            assert x.tolist() == [9, -2, 3]


def test_errors_name_the_line_of_this_run():
    region = F.functional(lambda x, i: F.take(x, i))
    assert region(Tensor(X), Tensor([0, 2])).tolist() == [1, 3]
    for _ in range(2):
        with pytest.raises(IndexBoundsError, match="index 7") as caught:
            region(Tensor(X), Tensor([0, 7])).numpy()
        assert __file__ in str(caught.value)


def test_a_failed_launch_poisons(moody):
    region = F.functional(lambda x: F.exp(x) + x)
    x = Tensor([0.0, 0.0])
    for _ in range(2):
        assert region(x).tolist() == [1, 1]
    moody.failing = {"exp"}
    kept = []

    @F.functional
    def keeping(x):
        kept.append(F.exp(x) + x)

    with pytest.raises(ExecutionError, match="no exp today") as caught:
        keeping(x)
    assert __file__ in str(caught.value)
    moody.failing = set()
    with pytest.raises(ExecutionError, match="no exp today"):
        kept[0].numpy()
    assert region(x).tolist() == [1, 1]


def test_programs_that_were_forgotten_are_made_anew(graphs):
    region = F.functional(lambda x: x * x)
    device = open_device(Tensor(X).device.name)
    for _ in range(3):
        assert region(Tensor(X)).tolist() == [1, 4, 9]
    assert len(graphs) == 1
    device.programs.clear()
    for _ in range(2):
        assert region(Tensor(X)).tolist() == [1, 4, 9]
    assert len(graphs) == 2


def test_what_a_region_read_and_made_dies():
    region = F.functional(lambda x: x * x + x)
    for _ in range(2):
        x = Tensor(X)
        result = region(x)
        dead = weakref.ref(x._storage)
        del x
        gc.collect()
        assert dead() is None
    assert result.tolist() == [2, 2, 12]


def test_more_ops_than_are_held_young(graphs):
    def long(x):
        kept = [x]
        for n in range(600):
            kept[0] = kept[0] * x if n % 2 else kept[0] + x
        return kept[0]

    first, second = run(long, Tensor(X * 0.001))
    assert_same_bits(first, second)
    assert len(graphs) == 1


def test_a_region_that_does_not_compile_is_tried_again(moody):
    kept = []

    @F.functional
    def body(x):
        kept.append(F.exp(x) + x)

    x = Tensor([0.0, 0.0])
    for _ in range(2):
        body(x)
    moody.uncompilable = {"exp"}
    open_device(x.device.name).programs.clear()
    with pytest.raises(CompilationError, match="no code for exp"):
        body(x)
    moody.uncompilable = set()
    assert [t.tolist() for t in kept] == [[1, 1]] * 3
