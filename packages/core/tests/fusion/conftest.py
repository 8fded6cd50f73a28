"""Shared by the tests of fusion: plans of graphs in normal form, and what they must hold."""

from dataclasses import dataclass

import numpy as np
import pytest
from realta.fusion import DEFAULT_RULES, Plan, plan
from realta.fusion.planner import NO_LIMITS
from realta.graph import Node, node_of
from realta.passes import evaluate_node, normalize
from realta.passes.evaluate import evaluate_graph


@dataclass
class Planner:
    """Plans a graph and checks everything that holds for every plan."""

    def __call__(self, builder, *outputs, limits=NO_LIMITS, rules=DEFAULT_RULES, keeps=None):
        graph = normalize(builder.finish(*outputs), keeps=keeps or (lambda node: False))
        made = plan(graph, limits, rules=rules)
        find_faults(made)
        return made


@pytest.fixture
def planned():
    """``planned(builder, *outputs)``: the checked plan of a graph's normal form."""
    return Planner()


def find_faults(plan: Plan) -> None:
    known = {*plan.graph.inputs, *plan.constants}
    computed: set[Node] = set()
    for number, group in enumerate(plan.groups):
        assert set(group.inputs) <= known, "a group reads what no earlier one stored"
        inside = {v for n in group.nodes for v in n.outputs}
        assert inside.isdisjoint(group.inputs)
        assert set(group.outputs) <= inside
        known.update(group.outputs)
        check_members(group, computed)
        producers = {b.producer for b in group.boundaries}
        assert all(p < number for p in producers)
        assert all(b.reason for b in group.boundaries)
        made = {i for i, g in enumerate(plan.groups) if not set(g.outputs).isdisjoint(group.inputs)}
        assert producers == made, "a producer is apart without a reason"
    assert {v for v in plan.graph.outputs if node_of(v) is not None} <= known
    left = {n for n in plan.graph.nodes if not shared(n)} - computed
    assert not left, f"not planned: {left}"


def check_members(group, computed):
    available = set(group.inputs)
    for node in group.nodes:
        assert set(node.operands) <= available, "a member reads what the group does not have"
        available.update(node.outputs)
        if not shared(node):
            assert node not in computed, "a computing op is in two groups"
            computed.add(node)
            assert node.region is group.region
    assert set(group.levels) == set(group.nodes)
    rows = (group.row_shape, tuple(1 if n in group.axes else d for n, d in enumerate(group.shape)))
    for node, level in group.levels.items():
        if level == "full" and group.kind != "single" and node.op.name != "reshape":
            assert node.type.shape == group.shape
        if level == "row" and node.op.name != "reshape":
            assert node.type.shape in rows


def shared(node: Node) -> bool:
    """Whether a node may stand in several groups, or in none."""
    return node.op.name in DEFAULT_RULES.views or node.op.name == "constant"


def run_groups(plan, arrays):
    """The outputs, from nothing but what each group says it reads."""
    stored = dict(zip(plan.graph.inputs, arrays, strict=True))
    for node in plan.constants:
        stored[node] = node.attrs["value"].array
    for group in plan.groups:
        local = {v: stored[v] for v in group.inputs}
        for node in group.nodes:
            results = evaluate_node(node, tuple(local[v] for v in node.operands))
            local.update(zip(node.outputs, results, strict=True))
        stored.update((v, local[v]) for v in group.outputs)
    return [stored[v] for v in plan.graph.outputs]


def equal_bits(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fV":
        return one.tobytes() == other.tobytes()
    nan = np.isnan(one)
    numbers = one[~nan].tobytes() == other[~nan].tobytes()
    return numbers and np.array_equal(nan, np.isnan(other))


@pytest.fixture
def assert_plan_computes_the_graph():
    """Runs a plan and its graph on the same arrays and compares bit by bit."""

    def compare(plan, arrays):
        want = evaluate_graph(plan.graph, arrays)
        for one, other in zip(want, run_groups(plan, arrays), strict=True):
            assert equal_bits(one, other)

    return compare


@pytest.fixture(scope="session")
def check_plan():
    """Asserts all that holds for every plan."""
    return find_faults


@pytest.fixture(scope="session")
def run_plan():
    """``run_plan(plan, arrays)``: the outputs, computed group by group."""
    return run_groups


@pytest.fixture(scope="session")
def same_bits():
    """Whether two arrays have the same bits, where all NaNs are equal."""
    return equal_bits
