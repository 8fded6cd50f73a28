import numpy as np
import pytest
from realta.errors import FusionError
from realta.fusion import DEFAULT_RULES
from realta.graph import Builder, Region
from realta.runtime import compile_program, normal_form, plan_for
from realta.types import TensorType


def test_a_session_without_fusion_rules_runs_op_by_op(tiny_device, graph_of):
    graph = graph_of(lambda b, x: b.neg(b.mul(x, b.add(x, x))), tiny_device.name)
    plan = plan_for(normal_form(graph, tiny_device), tiny_device)
    assert [len(group.nodes) for group in plan.groups] == [1, 1, 1]


def test_a_session_with_rules_is_planned_with_them(bytes_device, graph_of):
    device, session = bytes_device()
    session.fusion_rules = DEFAULT_RULES
    graph = graph_of(lambda b, x: b.neg(b.mul(x, b.add(x, x))), device.name)
    plan = plan_for(normal_form(graph, device), device)
    assert [len(group.nodes) for group in plan.groups] == [3]


@pytest.mark.parametrize("fuse", ["may", "must", "never"])
def test_only_a_region_that_must_fuse_is_refused_where_nothing_fuses(tiny_device, fuse):
    region = Region("body", fuse)
    builder = Builder("body", region=region)
    x = builder.input(TensorType("float32", (2,), tiny_device.name), "x")
    graph = builder.finish(builder.neg(builder.add(x, x)))
    if fuse == "must":
        with pytest.raises(FusionError, match='has fuse="must" but takes 2 kernels'):
            compile_program(graph, tiny_device)
        return
    (result,) = compile_program(graph, tiny_device).run([np.ones(2, np.float32)])
    assert result.numpy().tolist() == [-2.0, -2.0]
