"""Packing: many cases in one graph, each with its own operands, results and kernels."""

from realta.backend import KernelReport
from realta.ops import get_op
from realta_conformance.case import cases_of
from realta_conformance.packing import MOST_CASES, launches_of, pack, packs_of


class Executable:
    def __init__(self, *kernels):
        self.kernels = kernels


def some(op, count=3):
    return [c for c in cases_of(get_op(op)) if c.elements > 1][:count]


def test_packs_hold_at_most_64_cases(reference):
    cases = [*cases_of(get_op("add")), *cases_of(get_op("mul"))]
    sizes = [len(p) for p in packs_of(cases)]
    assert sum(sizes) == len(cases)
    assert max(sizes) == MOST_CASES


def test_each_case_has_its_own_inputs_and_outputs(reference):
    cases = [*some("add"), *some("top_k")]
    packed = pack(reference, cases)
    assert len(packed.graph.inputs) == sum(len(c.types) for c in cases)
    assert [len(range(*s.indices(99))) for s in packed.spans] == [1, 1, 1, 2, 2, 2]
    for case, span in zip(cases, packed.inputs, strict=True):
        assert packed.input_types[span] == list(case.types)


def test_composites_are_expanded_unless_they_are_claimed(reference):
    packed = pack(reference, some("softmax", 1))
    assert "softmax" not in {node.op.name for node in packed.graph.nodes}
    assert set(packed.owners) == {0}


def test_constants_take_the_place_of_inputs(reference):
    packed = pack(reference, some("add", 2), constants=True)
    assert packed.graph.inputs == ()
    assert sum(node.op.name == "constant" for node in packed.graph.nodes) == 4


def test_launches_are_counted_by_case(reference):
    packed = pack(reference, [*some("add", 2), *some("reshape", 1)])
    assert launches_of(packed, Executable(KernelReport("k", (0, 1)))) == [1, 1, None]
    assert launches_of(packed, Executable(KernelReport("k", (0,)))) == [1, 0, None]
    assert launches_of(packed, Executable()) == [0, 0, None]


def test_work_declared_to_run_on_the_host_is_excused(reference):
    packed = pack(reference, some("add", 1))
    assert launches_of(packed, Executable(KernelReport("k", (0,), host=True))) == [None]


def test_results_without_elements_need_no_kernel_whatever_stands_before_them(reference):
    empty = [case for case in cases_of(get_op("layer_norm")) if not case.elements]
    packed = pack(reference, empty[:1])
    assert any(type_.size for node in packed.graph.nodes for type_ in node.types)
    assert launches_of(packed, Executable()) == [None]
