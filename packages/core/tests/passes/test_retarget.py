"""Retargeting: every place where a graph names a device."""

from realta.graph import parse
from realta.passes.retarget import graph_devices, retarget

TEXT = """graph f(%x: f32[n, 3]@a:0, %w: f32[3]@b:0) {
  %0: f32[n, 3]@b:0 = broadcast(%w, shape=[n, 3])
  %1: f32[]@a:0 = constant(value=f32[] 2.0, device="a:0")
  %2: i64[3]@c:0 = iota(shape=[3], axis=0, dtype=i64, device="c:0")
  %3: f32[n, 3]@c:0 = transfer(%x, device="c:0")
  return %0, %1, %2, %3
}"""


def test_types_and_attributes():
    graph = parse(TEXT)
    assert graph_devices(graph) == ["a:0", "b:0", "c:0"]
    moved = retarget(graph, {"a:0": "x:1", "c:0": "b:0", "none": "y:0"})
    assert str(moved) == TEXT.replace("a:0", "x:1").replace("c:0", "b:0")
    assert str(graph) == TEXT
    assert retarget(graph, {}) == graph


def test_a_graph_without_devices():
    graph = parse("graph f(%x: f32[2]) {\n  %0: f32[2] = neg(%x)\n  return %0\n}\n")
    assert graph_devices(graph) == []
    assert retarget(graph, {"a": "b"}) == graph
