import numpy as np
import pytest
from realta.fusion import Limits
from realta.fusion.splitting import argument_limit


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(), None),
        (Limits(arguments=31), 31),
        (Limits(parameter_bytes=4096), 512),
        (Limits(arguments=31, parameter_bytes=64), 8),
    ],
)
def test_the_argument_limit_is_the_tighter_one(limits, most):
    assert argument_limit(limits) == most


def test_a_kernel_within_the_limit_is_left_whole(write, planned):
    b, x = write(f32=(8,))
    others = [b.input(x.type) for _ in range(4)]
    value = x
    for other in others:
        value = b.add(value, other)
    assert len(planned(b, value, limits=Limits(arguments=6))) == 1
    assert len(planned(b, value, limits=Limits(arguments=5))) == 2


def test_an_op_that_takes_too_many_on_its_own_stays(write, planned):
    b, x = write(f32=(8,))
    others = [b.barrier(b.exp(b.input(x.type))) for _ in range(6)]
    plan = planned(b, b.concat(*others, axis=0), limits=Limits(arguments=4))
    assert len(plan.groups[-1].inputs) == 6


def test_literals_are_no_arguments(write, planned):
    b, x = write(f32=(8,))
    value = x
    for number in range(2, 30):
        value = b.add(b.mul(value, b.const(number, like=x)), b.const(number + 0.5, like=x))
    assert len(planned(b, value, limits=Limits(arguments=2))) == 1


def test_parts_of_a_row_kernel_keep_their_loops(write, planned, assert_plan_computes_the_graph):
    b, x = write(f32=(4, 8))
    scales = [b.broadcast(b.input(x.type.with_shape((8,))), shape=(4, 8)) for _ in range(6)]
    value = b.softmax(x, axis=1)
    for scale in scales:
        value = b.mul(value, scale)
    plan = planned(b, value, b.sum(value, axes=(1,)), limits=Limits(arguments=4))
    assert {g.kind for g in plan.groups} == {"row", "elementwise", "reduce"}
    random = np.random.default_rng(0)
    arrays = [random.normal(size=v.type.shape).astype(np.float32) for v in plan.graph.inputs]
    assert_plan_computes_the_graph(plan, arrays)
