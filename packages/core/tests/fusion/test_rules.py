import pytest
from realta.fusion import DEFAULT_RULES, Rules
from realta.fusion.rules import reduced_axes
from realta.ops import define, undefine

ROLES = {
    "exp": (lambda b, x: b.exp(x), "elementwise"),
    "sum": (lambda b, x: b.sum(x, axes=(1,)), "reduce"),
    "argmax": (lambda b, x: b.argmax(x, axis=1), "reduce"),
    "sum over nothing": (lambda b, x: b.sum(x, axes=()), "single"),
    "permute": (lambda b, x: b.permute(x, axes=(1, 0)), "movement"),
    "sort": (lambda b, x: b.sort(x, axis=0), "single"),
    "cumsum": (lambda b, x: b.cumsum(x, axis=0), "single"),
    "iota": (lambda b, x: b.iota(shape=(2,), axis=0, dtype=x.type.dtype), "single"),
    "dot_general": (
        lambda b, x: b.dot_general(x, x, x_batch=(), y_batch=(), x_contract=(1,), y_contract=(0,)),
        "contraction",
    ),
}


@pytest.mark.parametrize("name", ROLES)
def test_roles_follow_from_the_kind_of_an_op(write, name):
    write_op, role = ROLES[name]
    b, x = write(f32=(3, 3))
    assert DEFAULT_RULES.role(write_op(b, x)) == role


def test_a_backend_may_leave_ops_alone(write):
    b, x = write(f32=(3, 3))
    assert Rules(alone=frozenset({"exp"})).role(b.exp(x)) == "single"


def test_an_elementwise_op_with_other_operand_shapes_stands_alone(write):
    op = define(
        "test.stretch", operands=("x", "y"), rule=lambda x, y: x, reference=lambda x, y: x,
        doc="A test.",
    )  # fmt: skip
    try:
        b, x, y = write(f32=(3,), i32=())
        assert DEFAULT_RULES.role(b.add_node(op, (x, y))) == "single"
    finally:
        undefine(op.name)


def test_an_op_that_joins_at_run_time_fuses_with_its_neighbours(write, planned):
    op = define("test.twice", rule=lambda x: x, reference=lambda x: x + x, doc="Doubles.")
    try:
        b, x = write(f32=(8,))
        (group,) = planned(b, b.neg(b.add_node(op, (b.exp(x),)))).groups
        assert [n.op.name for n in group.nodes] == ["exp", "test.twice", "neg"]
    finally:
        undefine(op.name)


def test_reduced_axes_are_ascending(write):
    b, x = write(f32=(2, 3, 4))
    assert reduced_axes(b.max(x, axes=(0, 2))) == (0, 2)
    assert reduced_axes(b.argmin(x, axis=1)) == (1,)
