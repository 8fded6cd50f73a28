"""Graphs: texts that do not parse, containers that are damaged, graphs that break the rules."""

import numpy as np
import realta
from realta.graph import Builder, Graph, Input, Node, load_graph_file, parse, save_graph, verify
from realta.ops import define, get_op
from realta.types import TensorType

from tests.errors.catalogue import Place, wrong


def saved(place: Place) -> bytes:
    """A container with one constant that its text does not carry."""
    builder = Builder("table")
    values = builder.constant(np.linspace(0, 1, 100), TensorType("float32", (100,)))
    save_graph(builder.finish(builder.sin(values)), place.folder / "table.graph")
    return (place.folder / "table.graph").read_bytes()


@wrong("a graph text with an unknown op")
def _(place: Place) -> object:
    return parse("graph f(%x: f32[3]) {\n  %0: f32[3] = sine(%x)\n  return %0\n}")


@wrong("a graph file that does not parse")
def _(place: Place) -> object:
    path = place.folder / "model.graph"
    path.write_text("graph f(%x: f32[3]) {\n  %0: f32[3] = add(%x %x)\n  return %0\n}")
    return parse(path.read_text(), source=str(path))


@wrong("a graph text whose types are wrong")
def _(place: Place) -> object:
    return parse("graph f(%x: f32[3]) {\n  %0: f32[4] = neg(%x)\n  return %0\n}")


@wrong("a graph text that is cut short")
def _(place: Place) -> object:
    return parse("graph f(%x: f32[3]) {\n  %0: f32[3] = sin(")


@wrong("a truncated container")
def _(place: Place) -> object:
    data = saved(place)
    (place.folder / "table.graph").write_bytes(data[: len(data) // 2])
    return realta.load_graph(place.folder / "table.graph")


@wrong("a container with a damaged constant")
def _(place: Place) -> object:
    data = bytearray(saved(place))
    data[-1] ^= 1
    (place.folder / "table.graph").write_bytes(bytes(data))
    return load_graph_file(place.folder / "table.graph")


@wrong("a container with a damaged text")
def _(place: Place) -> object:
    data = saved(place).replace(b"= sin(", b"= cos(")
    (place.folder / "table.graph").write_bytes(data)
    return load_graph_file(place.folder / "table.graph")


@wrong("a container of a newer format")
def _(place: Place) -> object:
    data = saved(place).replace(b'"realta.container":"1.', b'"realta.container":"9.')
    (place.folder / "table.graph").write_bytes(data)
    return load_graph_file(place.folder / "table.graph")


@wrong("what is no container")
def _(place: Place) -> object:
    (place.folder / "table.graph").write_bytes(b"hello, this is not what you are looking for")
    return load_graph_file(place.folder / "table.graph")


@wrong("weights where a graph is wanted")
def _(place: Place) -> object:
    realta.save_tensors({"w": realta.ones((3,))}, place.folder / "weights.safetensors")
    return realta.load_graph(place.folder / "weights.safetensors")


@wrong("a truncated file of weights")
def _(place: Place) -> object:
    path = place.folder / "weights.safetensors"
    realta.save_tensors({"w": realta.ones((100,))}, path)
    path.write_bytes(path.read_bytes()[:-7])
    return realta.load_tensors(path)


@wrong("a graph that is called with too few tensors")
def _(place: Place) -> object:
    builder = Builder("total")
    x, y = (builder.input(TensorType("float32", (3,))) for _ in range(2))
    return realta.load_graph(builder.finish(builder.add(x, y)))(realta.ones((3,)))


@wrong("a node whose result has another type than its rule says")
def _(place: Place) -> object:
    x = Input(TensorType("float32", (3,)), "x")
    node = Node(get_op("neg"), (x,), types=(TensorType("float32", (4,)),))
    return verify(Graph("broken", (x,), (node.outputs[0],), (node,)))


@wrong("a builder's op with operands that do not fit")
def _(place: Place) -> object:
    builder = Builder("f")
    x = builder.input(TensorType("float32", (3,)), "x")
    y = builder.input(TensorType("int32", (3,)), "y")
    return builder.add(x, y)


@wrong("an op that is defined twice")
def _(place: Place) -> object:
    return define("exp", rule=lambda x: x, reference=np.exp, doc="Again.")


@wrong("reading a parameter of another graph")
def _(place: Place) -> object:
    first = realta.Graph("first", [realta.TensorType("float32", (3,))])
    second = realta.Graph("second", [realta.TensorType("float32", (3,))])
    with second:
        second.output(first.inputs[0].tensor + second.inputs[0].tensor)
    return second.finish()


@wrong("an array for a graph's input that does not fit")
def _(place: Place) -> object:
    builder = Builder("twice")
    x = builder.input(TensorType("float32", (3,)), "x")
    return realta.load_graph(builder.finish(builder.add(x, x)))(realta.ones((4,)))
