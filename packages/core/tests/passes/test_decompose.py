import pytest
from realta.errors import UnsupportedOp, VerificationError
from realta.graph import Builder, Region
from realta.ops import define, get_op, undefine
from realta.passes import Decompose, expand
from realta.types import float16, float32


@pytest.fixture
def defined():
    names = []

    def add(name, lowering, **options):
        names.append(name)
        options.setdefault("rule", lambda x: x)
        return define(name, reference=lambda x: x, doc="A test.", lowering=lowering, **options)

    yield add
    for name in names:
        undefine(name)


def expand_all(graph):
    return Decompose(lambda node: False).run(graph)


def test_nested_composites_end_in_primitives_in_order(write, defined):
    defined("test.inner", lambda emit, x: emit.neg(emit.exp(x)))
    defined("test.outer", lambda emit, x: emit.add(getattr(emit, "test.inner")(x), x))
    b, x = write(f32=(3,))
    value = getattr(b, "test.outer")(x)
    result = expand_all(b.finish(b.sqrt(value)))
    assert [n.op.name for n in result.nodes] == ["exp", "neg", "add", "sqrt"]


def test_what_the_device_takes_whole_stays(write):
    b, x = write(f32=(2, 3))
    graph = b.finish(b.relu(b.softmax(x, axis=1)))
    result = Decompose(lambda node: node.op.name == "softmax").run(graph)
    names = [n.op.name for n in result.nodes]
    assert names[0] == "softmax"
    assert "relu" not in names


def test_expansions_have_the_place_and_region_of_the_node(write):
    b, x = write(f32=(2, 3))
    b.where, b.region = ("code", 1), Region("r")
    result = expand_all(b.finish(b.softmax(x, axis=1)))
    assert len(result) > 1
    assert {(n.where, n.region) for n in result.nodes} == {(b.where, b.region)}


def test_half_precision_is_widened_once_and_rounded_once(write):
    b, x = write(f16=(2, 3))
    result = expand_all(b.finish(b.softmax(x, axis=1)))
    casts = [(n.operands[0].type.dtype, n.type.dtype) for n in result.nodes if n.op.name == "cast"]
    assert casts == [(float16, float32), (float32, float16)]
    assert result.outputs[0].type is x.type


def test_a_lowering_that_returns_its_operand(write, defined):
    defined("test.same", lambda emit, x: x)
    b, x = write(f32=(3,))
    result = expand_all(b.finish(b.exp(getattr(b, "test.same")(x))))
    assert [n.operands for n in result.nodes] == [(x,)]


def test_a_primitive_cannot_be_expanded(write):
    _, x = write(f32=(3,))
    with pytest.raises(UnsupportedOp, match="exp is a primitive"):
        expand(Builder(), get_op("exp"), (x,), {})


def test_a_decomposition_of_another_type_than_the_rule_says_is_an_error(write, defined):
    defined("test.wrong", lambda emit, x: emit.cast(x, dtype=float16))
    b, x = write(f32=(3,))
    with pytest.raises(VerificationError, match=r"gives f16\[3\], its type rule says f32\[3\]"):
        expand_all(b.finish(getattr(b, "test.wrong")(x)))


def test_a_decomposition_without_end_is_an_error(write, defined):
    defined("test.endless", lambda emit, x: getattr(emit, "test.endless")(emit.neg(x)))
    b, x = write(f32=(3,))
    with pytest.raises(VerificationError, match=r"test\.endless does not end"):
        expand_all(b.finish(getattr(b, "test.endless")(x)))
