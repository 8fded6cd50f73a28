import pytest
from realta.graph import Region
from realta.ops import Algebra, define, undefine
from realta.passes import Canonicalize


@pytest.fixture
def op():
    made = define(
        "test.double_minus",
        rule=lambda x: x,
        reference=lambda x: -x,
        doc="Changes the sign.",
        algebra=Algebra(involution=True),
    )
    yield made
    undefine(made.name)


def test_an_op_that_joins_at_run_time_takes_part_by_its_algebra(write, op):
    b, x = write(f32=(4,))
    value = b.add_node(op, (b.add_node(op, (x,)),))
    assert Canonicalize().run(b.finish(value)).outputs == (x,)


def test_an_involution_of_another_op_stays(write, op):
    b, x = write(f32=(4,))
    graph = b.finish(b.add_node(op, (b.neg(x),)))
    assert Canonicalize().run(graph) is graph


@pytest.mark.parametrize(
    ("short", "name", "number", "gone"),
    [
        ("f32", "add", 0.0, False),
        ("f32", "add", -0.0, True),
        ("f32", "mul", 0.0, False),
        ("f32", "mul", 1.0, True),
        ("f32", "div", 1.0, True),
        ("f32", "pow", 1.0, False),
        ("f32", "pow", 2.0, False),
        ("i32", "add", 0, True),
        ("i32", "mul", 1, True),
        ("f32", "maximum", float("-inf"), True),
        ("f32", "maximum", 0.0, False),
    ],
)
def test_units_hold_bit_for_bit(write, short, name, number, gone):
    b, x = write(**{short: (3,)})
    value = getattr(b, name)(x, b.const(number, like=x))
    (output,) = Canonicalize().run(b.finish(value)).outputs
    assert (output is x) is gone


def test_a_composed_node_keeps_place_and_region_of_the_outer_one(write):
    b, x = write(f32=(2, 3, 4))
    inner = b.permute(x, axes=(1, 2, 0))
    b.where, b.region = ("code", 3), Region("outer")
    result = Canonicalize().run(b.finish(b.permute(inner, axes=(1, 0, 2))))
    (output,) = result.outputs
    assert output.operands == (x,)
    assert (output.where, output.region) == (("code", 3), b.region)


def test_a_long_chain_of_reshapes_ends_as_one(write):
    b, x = write(f32=(6,))
    value = x
    for n in range(1001):
        value = b.reshape(value, shape=(2, 3) if n % 2 == 0 else (3, 2))
    (output,) = Canonicalize().run(b.finish(value)).outputs
    assert output.operands == (x,)


def test_an_iota_that_is_an_output_stays(write):
    b, x = write(f32=(2, 3))
    graph = b.finish(b.iota(shape=(2, 3), axis=1, dtype=x.type.dtype))
    assert Canonicalize().run(graph) is graph
