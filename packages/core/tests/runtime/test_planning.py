from realta.fusion import DEFAULT_RULES
from realta.runtime import normal_form, plan_for


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
