import pytest
from realta.errors import ShapeError, VerificationError
from realta.graph import Builder, Graph, Location, Node, verify
from realta.graph.values import Input
from realta.ops import Attributes, get_op
from realta.types import TensorType

F3 = TensorType("float32", (3,))
F4 = TensorType("float32", (4,))


def test_what_a_builder_writes_holds(linear):
    verify(linear)


def test_an_operand_that_is_made_later_is_underlined():
    x = Input(F3, "x")
    first = Node(get_op("sin"), (x,))
    second = Node(get_op("add"), (x, first), where=Location(None, 0, "model.py:7"))
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [second], [second, first]))
    assert str(caught.value) == (
        "operand 1 of add is used before it is made\n"
        "  where: the graph 'f', recorded at model.py:7\n"
        "    graph f(%x: f32[3]) {\n"
        "      %0: f32[3] = add(%x, %1)\n"
        "                           ^^\n"
        "      %1: f32[3] = sin(%x)\n"
        "      return %0\n"
        "    }\n"
        "  fix: order the nodes so that operands come first, or make it an input"
    )


def test_wrong_result_types_are_underlined():
    x = Input(F3, "x")
    node = Node(get_op("neg"), (x,), types=(F4,))
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [node]))
    assert str(caught.value) == (
        "the results of neg are typed f32[4], but it gives f32[3]\n"
        "  where: the graph 'f'\n"
        "    graph f(%x: f32[3]) {\n"
        "      %0: f32[4] = neg(%x)\n"
        "          ^^^^^^\n"
        "      return %0\n"
        "    }\n"
        "  fix: leave the types to the builder"
    )


def test_operands_that_do_not_fit_underline_the_call():
    x, y = Input(F3, "x"), Input(F4, "y")
    node = Node(get_op("add"), (x, y), types=(F3,))
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x, y], [node]))
    assert str(caught.value) == (
        "add(f32[3], f32[4]) does not hold: the operands have the shapes (3,) and (4,)\n"
        "  where: the graph 'f'\n"
        "    graph f(%x: f32[3], %y: f32[4]) {\n"
        "      %0: f32[3] = add(%x, %y)\n"
        "                   ^^^^^^^^^^^\n"
        "      return %0\n"
        "    }\n"
        "  fix: broadcast them to one shape"
    )


def test_attributes_are_checked():
    x = Input(F3, "x")
    scalar = TensorType("float32")
    extra = Node(get_op("neg"), (x,), Attributes(axis=0), types=(F3,))
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [extra]))
    assert "neg has no attribute 'axis'" in str(caught.value)
    assert "neg(%x, axis=0)\n                           ^^^^^^" in str(caught.value)
    missing = Node(get_op("sum"), (x,), Attributes(), types=(scalar,))
    with pytest.raises(VerificationError, match="sum lacks the attribute 'axes'"):
        verify(Graph("f", [x], [missing]))
    wrong = Node(get_op("sum"), (x,), Attributes(axes=0), types=(scalar,))
    with pytest.raises(VerificationError, match="is a tuple of integers, got 0"):
        verify(Graph("f", [x], [wrong]))


def test_outputs_and_inputs_are_checked():
    x, y = Input(F3, "x"), Input(F3, "y")
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [x, y]))
    assert "output 1 is neither an input nor made by an op" in str(caught.value)
    assert "      return %x, %?\n                 ^^\n" in str(caught.value)
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x, y, x], []))
    assert "input 2 is the same value as an earlier one" in str(caught.value)
    assert "^^^^^^^^^^" in str(caught.value)


def test_a_node_listed_twice():
    x = Input(F3, "x")
    node = Node(get_op("sin"), (x,))
    with pytest.raises(VerificationError, match="an op occurs twice"):
        verify(Graph("f", [x], [node], [node, node]))


def test_every_name_is_bound_by_an_input():
    b = Builder("f")
    x = b.input(TensorType("float32", ("2*n",)), "x")
    with pytest.raises(VerificationError) as caught:
        verify(b.finish(x))
    assert str(caught.value) == (
        "the dimension 'n' is bound by no input\n"
        "  where: the graph 'f'\n"
        "    graph f(%x: f32[2*n]) {\n"
        "            ^^^^^^^^^^^^\n"
        "      return %x\n"
        "    }\n"
        "  fix: give some input an extent that is this name alone, so that a call can bind it"
    )
    b.input(TensorType("bool", ("n",)), "mask")
    verify(b.finish(x))


def test_a_name_that_only_a_result_has():
    b = Builder("f")
    y = b.iota(shape=(TensorType("bool", ("n",)).shape), axis=0, dtype=F3.dtype)
    with pytest.raises(VerificationError, match="the dimension 'n' is bound by no input"):
        verify(b.finish(y))


def test_long_graphs_show_the_part_around_the_error():
    x = Input(F3, "x")
    nodes = [Node(get_op("sin"), (x,))]
    for _ in range(50):
        nodes.append(Node(get_op("sin"), (nodes[-1],)))
    nodes[25] = Node(get_op("sin"), (nodes[24],), types=(F4,))
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [nodes[25]], nodes[:26] + nodes[25:26]))
    assert "an op occurs twice" in str(caught.value)
    with pytest.raises(VerificationError) as caught:
        verify(Graph("f", [x], [nodes[25]], nodes[:26]))
    shown = caught.value.where.splitlines()
    assert shown[1:3] == ["    graph f(%x: f32[3]) {", "      ..."]
    assert shown[3] == "      %21: f32[3] = sin(%20)"
    assert shown[7] == "      %25: f32[4] = sin(%24)"
    assert shown[8] == "           ^^^^^^"


def test_the_builder_names_the_call_that_does_not_fit():
    b = Builder()
    x, y = b.input(F3), b.input(F4)
    with pytest.raises(ShapeError) as caught:
        b.add(x, y)
    assert caught.value.where == "add(f32[3], f32[4])"
    with pytest.raises(AttributeError):
        _ = b.__wrapped__
