"""Cases: ids, coverage of the registry, graphs and the corpus."""

import fnmatch

import numpy as np
import pytest
from realta.ops import all_ops
from realta.types import as_dtype
from realta_conformance.case import _written, cases_of, op_cases
from realta_conformance.corpus import corpus_rows
from realta_conformance.graphs import graph_cases, patterns
from realta_conformance.levels import LEVELS
from realta_conformance.oracle import all_within
from realta_conformance.probes import probes_of
from realta_conformance.running import level_cases


def every_id(device):
    found = []
    for level in LEVELS:
        found += [case.id for case in level_cases(level.name, device)]
        found += [f"{level.name}/{probe.name}" for probe in probes_of(level.name)]
    return found


def test_ids_are_unique(reference):
    found = every_id(reference)
    assert len(set(found)) == len(found)


def test_every_op_has_a_case_for_each_of_its_dtypes():
    for op in all_ops():
        if op.name == "constant" or not op.samples:  # core runs what has none
            continue
        counted = {case.dtype for case in cases_of(op)}
        missing = op.dtypes - counted
        assert not missing or op.name in ("philox_bits", "bitcast"), (op.name, missing)


def test_every_level_of_an_op_exists():
    names = {level.name for level in LEVELS}
    assert {op.level for op in all_ops()} <= names


def test_special_values_are_among_the_cases_of_float_ops():
    special = {case.op for case in op_cases() if "special" in case.domains}
    assert {"exp", "add", "max", "cast", "argsort", "maximum"} <= special


def test_operands_depend_on_the_case_only():
    first = next(case for case in op_cases() if case.op == "mul")
    a, b = first.operands(), first.operands()
    assert all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def test_the_second_call_has_other_operands():
    case = next(c for c in op_cases() if c.id == "core/add-f32-17")
    (first, _), (second, _) = case.calls()
    assert first[0].tobytes() != second[0].tobytes()


@pytest.mark.parametrize("pattern", patterns(), ids=lambda p: p.id)
def test_graphs_parse_and_have_a_truth(pattern):
    for dtype in pattern.dtypes:
        (case,) = [c for c in graph_cases(pattern.level) if c.op == pattern.id and c.dtype is dtype]
        operands, truth = case.calls()[0]
        assert len(operands) == len(case.types)
        assert [e.type for e in truth] == [v.type for v in case.source.outputs]


@pytest.mark.parametrize("pattern", [p for p in patterns() if p.right], ids=lambda p: p.id)
def test_the_oracle_knows_the_right_results_of_the_corpus(pattern):
    for case in graph_cases(pattern.level):
        if case.op != pattern.id:
            continue
        truth = case.calls()[0][1]
        right = [_written(v, e.type) for v, e in zip(pattern.right, truth, strict=True)]
        verdict = all_within(case.op, right, truth)
        assert verdict.ok or pattern.id == "sign-of-nan", verdict.reason


def test_corpus_rows_name_cases_that_exist(reference):
    known = every_id(reference)
    rows = corpus_rows()
    assert len(rows) >= 55
    for row in rows:
        assert row.cases or row.later, row.id
        for wanted in row.cases:
            prefix = wanted.rstrip("*").rstrip("-")
            found = fnmatch.filter(known, wanted) or [k for k in known if wanted.startswith(k)]
            assert found or any(k.startswith(prefix) for k in known), (row.id, wanted)


def test_graphs_of_the_corpus_are_listed_with_their_rows():
    rows = {row.id: row for row in corpus_rows()}
    for pattern in patterns():
        for id_ in pattern.corpus:
            cases = rows[id_].cases
            assert any(pattern.id in c for c in cases), (pattern.id, id_)


def test_written_operands_know_nan_and_infinity():
    from realta.types import TensorType

    found = _written(["nan", "-inf", 1.5], TensorType("float16", (3,)))
    assert found.dtype == np.float16
    assert np.isnan(found[0])
    assert found[1] == -np.inf
    filled = _written({"fill": 2}, TensorType("int8", (2, 2)))
    assert (filled == 2).all()
    assert as_dtype(filled.dtype) is as_dtype("int8")
