"""Mutants: each is an op that is wrong in one way; most are caught, the others are explained."""

import json
from pathlib import Path

import numpy as np
import pytest
from realta.graph import parse
from realta.ops import OpKind, all_ops
from realta_saboteurs.contract_mutants import CONTRACT_MUTANTS
from realta_saboteurs.mutants import mutant_ids, reasons, summary, tried
from realta_saboteurs.mutations import MUTATIONS, truth_of
from realta_saboteurs.score import page

ROOT = Path(__file__).resolve().parents[2]
METHODS = {
    "probe", "open", "buffer_bytes", "allocate", "free", "write", "read", "copy", "view",
    "supports", "compile", "run",
}  # fmt: skip


def changed(name, text, *operands):
    mutation = next(m for m in MUTATIONS if m.name == name)
    node = parse(text).nodes[-1]
    return mutation.change(node, operands, truth_of(node, operands))[0].tolist()


def test_there_is_one_for_every_op_and_way():
    ids = mutant_ids()
    assert len(ids) == len(set(ids)) > 800
    mutated = {i.partition("/")[0] for i in ids}
    assert {"add", "sum", "softmax", "gather", "philox_bits", "dot_general"} <= mutated
    left = {op.name for op in all_ops() if "." not in op.name} - mutated
    by_core = {op.name for op in all_ops() if op.level == "contexts" or op.kind is OpKind.CONTROL}
    assert left == {*by_core, "constant", "transfer"}


def test_every_method_of_the_contract_that_does_something_is_mutated():
    assert {m.method.partition(".")[2] for m in CONTRACT_MUTANTS} == METHODS
    assert len({m.id for m in CONTRACT_MUTANTS}) == len(CONTRACT_MUTANTS)


def test_mutations_do_what_they_say():
    x = np.array([[1.0, 2.0], [3.0, 5.0]], np.float32)
    sums = "graph g(%x: f32[2,2]) {\n  %0: f32[2] = sum(%x, axes=[1])\n  return %0\n}"
    assert changed("neutral-element", sums, x) == [4.0, 9.0]
    assert changed("axis", sums, x) == [4.0, 7.0]
    assert changed("off-by-one", sums, x) == [3.0, 3.0]
    assert changed("shifted", sums, x) == [8.0, 3.0]
    most = "graph g(%x: f32[2,2]) {\n  %0: f32[2] = max(%x, axes=[1])\n  return %0\n}"
    assert changed("comparison-direction", most, x) == [1.0, 3.0]
    less = "graph g(%x: f32[2], %y: f32[2]) {\n  %0: bool[2] = less(%x, %y)\n  return %0\n}"
    assert changed("comparison-direction", less, x[0], x[0]) == [True, True]
    sub = "graph g(%x: f32[2], %y: f32[2]) {\n  %0: f32[2] = sub(%x, %y)\n  return %0\n}"
    assert changed("operand-order", sub, x[0], x[1]) == [2.0, 3.0]
    assert changed("nan", sub, np.array([np.nan, 3.0], np.float32), x[0]) == [0.0, 1.0]
    (last,) = (changed("rounding", sub.replace("[2]", "[1]"), x[0, 1:], np.zeros(1, np.float32)),)
    assert last == [np.nextafter(np.float32(2), np.float32(3))]


QUICK = [
    "add/off-by-one", "less/comparison-direction", "sum/neutral-element", "sort/axis",
    "exp/rounding", "gather/shifted", "mul/stale-cache", "neg/aliasing", "softmax/nan",
    "contract/Session.write/off-by-one", "contract/Executable.run/operand-order",
]  # fmt: skip


@pytest.mark.parametrize("id_", [i for i in QUICK if not i.startswith("contract/")])
def test_it_is_caught(id_):
    (found,) = tried([id_])
    assert found.caught


@pytest.mark.slow
def test_wrong_methods_are_caught():
    found = list(tried([i for i in QUICK if i.startswith("contract/")]))
    assert all(one.caught for one in found)


def test_what_survives_is_explained_and_counted():
    found = summary(list(tried(["one_hot/nan", "add/shifted"])))
    assert (found["mutants"], found["caught"], found["share"]) == (2, 1, 0.5)
    assert found["survivors"]["one_hot/nan"].startswith("its results are 0 and 1")
    assert "| `one_hot/nan` |" in page(found)


def test_the_score_in_the_repository_is_of_these_mutants():
    kept = json.loads((ROOT / "conformance" / "mutants.json").read_text())
    assert kept["mutants"] == len(mutant_ids())
    assert kept["share"] >= 0.98
    assert set(kept["survivors"]) == set(reasons())
    assert all(kept["survivors"].values())
    written = (ROOT / "docs" / "explain" / "mutants.md").read_text()
    assert written == page(kept)
