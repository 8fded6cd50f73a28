"""The fuzz check: graphs come from seeds; what is wrong with a device is found and made small."""

import numpy as np
import pytest
from realta.graph import parse
from realta.ops import get_op
from realta.types import float32, int32, tensor_type
from realta_conformance.opening import open_named

from tools import fuzz


@pytest.fixture(scope="module")
def fuzzer():
    """The interpreter against itself, which every machine has."""
    return fuzz.Fuzzer(open_named("interp:0"), open_named("interp:0"))


def trials(fuzzer, *seeds):
    return [t for t in map(fuzzer.trial, seeds) if t is not None]


@pytest.mark.parametrize("seed", range(8))
def test_a_seed_makes_one_graph_whose_text_says_all(seed, fuzzer):
    first, second = trials(fuzzer, seed, seed)
    assert str(first.graph) == str(second.graph)
    assert str(parse(str(first.graph))) == str(first.graph)
    for a, b in zip(first.known.values(), second.known.values(), strict=True):
        assert a.tobytes() == b.tobytes()


def test_many_ops_take_part(fuzzer):
    met = {node.op.name for t in trials(fuzzer, *range(60)) for node in t.graph.nodes}
    assert len(met) > 60


def test_a_device_that_is_right_passes(fuzzer):
    assert list(fuzzer.batch(trials(fuzzer, 3, 4))) == []
    assert fuzzer.counts["graphs"] == 2
    assert fuzzer.counts["ops compared bit by bit"] > 0


def broken(monkeypatch, op):
    """Whole graphs with this op in them come out with other bits."""
    right = fuzz.run_compiled

    def wrong(device, executable, graph, arrays):
        found = right(device, executable, graph, arrays)
        if len(graph.nodes) > 1 and any(node.op.name == op for node in graph.nodes):
            found[0].reshape(-1).view(np.uint8)[:1] ^= 1
        return found

    monkeypatch.setattr(fuzz, "run_compiled", wrong)


def written(fuzzer):
    text = """graph g(%x: f32[33], %y: f32[33]) {
  %0: f32[33] = abs(%x)
  %1: f32[33] = mul(%0, %y)
  %2: f32[33] = neg(%1)
  %3: f32[33] = maximum(%2, %x)
  %4: f32[33] = add(%3, %0)
  return %4
}"""
    arrays = [np.linspace(-3, 5, 33, dtype=np.float32), np.ones(33, np.float32)]
    return fuzzer.trial_of(parse(text), arrays, 7)


def test_other_bits_of_the_whole_graph_are_found_and_the_graph_is_made_small(fuzzer, monkeypatch):
    broken(monkeypatch, "neg")
    (failure,) = fuzzer.batch([written(fuzzer)])
    assert "other bits than op by op" in failure.what
    assert failure.seed == 7
    assert [node.op.name for node in failure.graph.nodes] == ["mul", "neg"]


def test_what_failed_can_be_run_again(fuzzer, monkeypatch, tmp_path, capsys):
    broken(monkeypatch, "neg")
    monkeypatch.setattr(fuzz, "FOLDER", tmp_path)
    monkeypatch.chdir(tmp_path)
    (failure,) = fuzzer.batch([written(fuzzer)])
    fuzz.keep(failure, 1)
    assert str(failure.graph) in capsys.readouterr().out
    assert fuzz.replay(fuzzer, tmp_path / "1.graph") == 1
    monkeypatch.undo()
    assert fuzz.replay(fuzzer, tmp_path / "1.graph") == 0


def test_an_op_with_other_bits_than_the_interpreter_or_beyond_its_bound_is_found(
    fuzzer, monkeypatch
):
    right = fuzz.run_graph

    def wrong(device, graph, arrays):
        found = right(device, graph, arrays)
        if device is fuzzer.device:
            for node, array in zip(graph.nodes, found, strict=True):
                if node.op.name in ("add", "exp"):
                    array *= np.float32(1.0001)
        return found

    monkeypatch.setattr(fuzz, "run_graph", wrong)
    text = "graph g(%x: f32[8]) {{\n  %0: f32[8] = {}\n  return %0\n}}"
    x = [np.linspace(1, 2, 8, dtype=np.float32)]
    for call, what in (("add(%x, %x)", "other bits"), ("exp(%x)", "beyond its bound")):
        trial = fuzzer.trial_of(parse(text.format(call)), x, 0)
        assert any(what in failure.what for failure in fuzzer.batch([trial]))


def test_ops_that_tell_nans_apart():
    float_, int_ = tensor_type(float32, ()), tensor_type(int32, ())
    for name, types, attrs in (
        ("signbit", (float_,), {}),
        ("copysign", (float_, float_), {}),
        ("bitcast", (float_,), {"dtype": int32}),
    ):
        op = get_op(name)
        assert fuzz.reads_nan(op, types, op.make_attrs(attrs))
    for name, types in (("add", (float_, float_)), ("neg", (int_,)), ("is_nan", (float_,))):
        op = get_op(name)
        assert not fuzz.reads_nan(op, types, op.make_attrs({}))


def test_the_llvm_backend_is_made_to_share_out_all_work(monkeypatch):
    launching = pytest.importorskip("realta_llvm.launching")
    monkeypatch.setattr(launching, "_SPLIT_FROM", launching._SPLIT_FROM)  # put back afterwards
    assert launching._SPLIT_FROM > 0
    fuzz.split_all_work()
    assert launching._SPLIT_FROM == 0
