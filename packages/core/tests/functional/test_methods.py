"""Methods, operators, attributes and habits of tensors and graph values."""

import operator
import subprocess
import sys

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import MissingAttribute, UnsupportedOp
from realta.functional.habits import FUNCTION_HABITS
from realta.tensor.habits import METHOD_HABITS
from realta.tensor.members import METHODS
from realta.testing import assert_same_bits

BINARY = [
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow,
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.lt,
    operator.le, operator.gt, operator.ge, operator.eq, operator.ne, divmod,
]  # fmt: skip


@pytest.mark.parametrize("op", BINARY, ids=lambda o: o.__name__)
def test_binary_operators(modes, op):
    x, y = np.array([7, 1, 4], np.int32), np.array([2, 3, 1], np.int32)
    assert_same_lists(modes(op, x, y), op(x, y))
    assert_same_lists(modes(lambda t: op(t, 2), x), op(x, 2))
    assert_same_lists(modes(lambda t: op(2, t), y), op(2, y))
    assert_same_lists(modes(lambda t: op(y, t), y), op(y, y))


def assert_same_lists(found, expected):
    found = found if isinstance(found, list) else [found]
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_unary_operators(modes):
    x = np.array([7, -1, 0], np.int32)
    found = modes(lambda t: (-t, +t, abs(t), ~t), x)
    for result, wanted in zip(found, (-x, +x, abs(x), ~x), strict=True):
        assert_same_bits(result, wanted)


def test_matrix_product_operator(modes):
    x = np.arange(4.0, dtype=np.float32).reshape(2, 2)
    assert_same_bits(modes(lambda t: t @ t, x), x @ x)
    assert_same_bits(modes(lambda t: x @ t, x), x @ x)


def test_augmented_assignment_makes_a_new_object():
    t = same = Tensor([1.0])
    t += 1
    assert t is not same
    assert (t.tolist(), same.tolist()) == ([2.0], [1.0])


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_the_functions(name):
    assert getattr(Tensor, name) is getattr(F, name)


def test_graph_values_take_operators_and_functions():
    graph = realta.Graph("both", [realta.TensorType("float32", (2,), "reference:0")])
    with graph:
        (x,) = graph.inputs
        # Equality of values is identity: graphs look them up.
        assert (x == x) is True
        graph.output((2 - x * 3) ** 2, F.exp(x), x.tensor + 1, -x, x @ x)
    found = realta.load_graph(graph)(Tensor([1.0, 2.0]))
    assert [f.tolist() for f in found[:1]] == [[1.0, 16.0]]
    assert found[2].tolist() == [2.0, 3.0]
    assert found[4].item() == 5.0


@pytest.mark.parametrize("name", FUNCTION_HABITS)
def test_foreign_functions_have_a_hint(name):
    with pytest.raises(MissingAttribute) as caught:
        getattr(F, name)
    assert caught.value.fix == FUNCTION_HABITS[name]
    assert "test_methods.py" in caught.value.where
    assert not hasattr(F, name)


@pytest.mark.parametrize("name", METHOD_HABITS)
def test_foreign_methods_have_a_hint(name):
    t = Tensor([1.0])
    with pytest.raises(MissingAttribute) as caught:
        getattr(t, name)
    assert caught.value.fix == METHOD_HABITS[name]
    assert not hasattr(t, name)


def test_gradients_are_said_to_be_missing_where_people_look():
    t = Tensor([1.0])
    for look in (lambda: t.grad, lambda: t.backward(), lambda: F.grad):
        with pytest.raises(UnsupportedOp, match=r"(?s)no '(grad|backward)'.*not in this version"):
            look()


def test_other_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = F.nonsense
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = Tensor(1).nonsense


def test_numpy_functions_are_refused_and_operators_of_arrays_defer():
    t = Tensor([1.0, 2.0])
    with pytest.raises(TypeError):
        np.sin(t)
    for result in (np.array([1.0, 2.0]) + t, np.array([1.0, 2.0]) < t, np.float64(2.0) * t):
        assert isinstance(result, Tensor)


def test_hints_for_foreign_names_are_not_attributes():
    t = Tensor([1.0])
    assert not any(hasattr(t, name) for name in METHOD_HABITS)
    assert not set(METHOD_HABITS) & set(dir(t))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(t, "non" + "sense")


def in_a_new_process(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(
    "use",
    [
        "t + 1", "1 + t", "-t", "t == 1", "t.sum()", "t[0]", "t.T", "t.mT", "divmod(t, 2)",
        "realta.Tensor.zeros((2,))", "realta.zeros((2,))", "realta.F.relu(t)",
    ],
)  # fmt: skip
def test_the_first_use_of_any_member_brings_the_functions(use):
    program = (
        "import sys, realta\nt = realta.Tensor([[1.0, 2.0], [3.0, 4.0]])\n"
        f"print('realta.functional' in sys.modules)\n{use}\n"
        "print('realta.functional' in sys.modules)"
    )
    assert in_a_new_process(program) == ["False", "True"]


def test_habits_are_told_before_the_functions_are_there():
    program = (
        "import sys, realta\ntry:\n    realta.Tensor([1.0]).cuda\n"
        "except realta.errors.MissingAttribute as error:\n    print(error.fix)\n"
    )
    assert in_a_new_process(program) == METHOD_HABITS["cuda"].split()
