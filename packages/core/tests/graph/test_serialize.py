import copy
import json
import pickle

import numpy as np
import pytest
from realta.errors import ParseError, SerializationError
from realta.graph import (
    Builder,
    Container,
    Location,
    dump_graph,
    large_constants,
    load_graph_file,
    parse,
    read_container,
    restore_graph,
    save_graph,
    write_container,
)
from realta.graph.safetensors import decode, encode
from realta.ops import define, undefine
from realta.types import TensorType


@pytest.fixture
def lookup():
    """A graph with a constant that its text does not carry."""
    b = Builder("lookup")
    table = b.constant(np.linspace(0, 1, 100), TensorType("float32", (100,)))
    small = b.constant(np.array([1, -1]), TensorType("int32", (2,)))
    return b.finish(b.sin(table), small)


def changed(data, tensors=None, **fields):
    """A container with other metadata."""
    arrays, metadata = decode(data)
    for name, value in fields.items():
        key = f"realta.{name}"
        metadata.pop(key, None)
        metadata.update({} if value is None else {key: value})
    return encode(arrays if tensors is None else tensors, metadata)


def test_large_constants_are_carried(lookup):
    assert [c.shape for c in large_constants(lookup).values()] == [(100,)]
    assert restore_graph(dump_graph(lookup)) == lookup
    assert parse(str(lookup), constants=large_constants(lookup)) == lookup


def test_bytes_are_the_same_every_time(lookup):
    assert dump_graph(lookup) == dump_graph(restore_graph(dump_graph(lookup)))


def test_names_survive(linear):
    found = restore_graph(dump_graph(linear))
    assert str(found) == str(linear)
    assert found.name == "linear"


def test_unknown_fields_and_later_minor_versions_are_kept(lookup):
    data = changed(dump_graph(lookup), container="1.7", schedule="fast")
    found = read_container(data)
    assert found.graph == lookup
    assert found.fields == {"realta.schedule": "fast"}
    assert read_container(write_container(found)).fields == found.fields


def test_own_fields_are_not_given(lookup):
    with pytest.raises(SerializationError, match=r"'realta\.graph' belongs to the format"):
        write_container(Container(lookup, {"realta.graph": ""}))


def test_another_major_version_is_refused_by_name(lookup):
    with pytest.raises(SerializationError) as caught:
        restore_graph(changed(dump_graph(lookup), container="2.0"))
    assert str(caught.value) == (
        "the container has the format '2.0', and this version reads '1.0'\n"
        "  fix: install the version of realta that wrote it"
    )


def test_weights_without_a_graph():
    with pytest.raises(SerializationError, match="the file holds tensors but no graph"):
        restore_graph(encode({"w": np.ones(3)}, {}))


def test_a_damaged_text_is_noticed(lookup):
    data = dump_graph(lookup)
    broken = data.replace(b"= sin(", b"= cos(")
    assert broken != data
    with pytest.raises(SerializationError, match="the text of the graph is damaged"):
        restore_graph(broken)


def test_a_damaged_constant_is_noticed(lookup):
    data = bytearray(dump_graph(lookup))
    data[-1] ^= 1
    with pytest.raises(SerializationError, match=r"the constant #[0-9a-f]{16} is damaged"):
        restore_graph(bytes(data))


def test_a_constant_that_is_gone(lookup):
    with pytest.raises(SerializationError) as caught:
        restore_graph(changed(dump_graph(lookup), {}))
    assert "the graph inside does not parse: the text does not carry the constant" in str(
        caught.value
    )
    assert isinstance(caught.value.__cause__, ParseError)


def test_every_cut_is_noticed(lookup):
    data = dump_graph(lookup)
    for length in range(0, len(data), 7):
        with pytest.raises(SerializationError):
            restore_graph(data[:length])


@pytest.fixture
def vendor_op():
    op = define(
        "vendor.twice", rule=lambda x: x, reference=lambda x: x * 2, doc="Doubles.", since="3.1"
    )
    yield op
    undefine("vendor.twice")


def test_foreign_ops_carry_their_version_and_are_missed_by_name(vendor_op):
    b = Builder("f")
    x = b.input(TensorType("float32", (3,)), "x")
    graph = b.finish(b.add_node(vendor_op, (x,)))
    data = dump_graph(graph)
    assert json.loads(decode(data)[1]["realta.ops"]) == {"vendor.twice": "3.1"}
    assert restore_graph(data) == graph
    undefine("vendor.twice")
    with pytest.raises(SerializationError) as caught:
        restore_graph(data)
    assert str(caught.value) == (
        "the graph needs the op 'vendor.twice' (version 3.1), which is not installed\n"
        "  fix: install the package that defines 'vendor' ops"
    )
    for damaged in ("[]", "{", "1"):
        with pytest.raises(SerializationError, match="the list of foreign ops is damaged"):
            restore_graph(changed(data, ops=damaged))


def test_files(tmp_path, linear, lookup):
    path = tmp_path / "f.realta"
    save_graph(linear, path)
    save_graph(lookup, str(path))
    assert load_graph_file(path) == lookup
    assert [p.name for p in tmp_path.iterdir()] == ["f.realta"]


def test_text_files(tmp_path, linear):
    path = tmp_path / "linear.graph"
    path.write_text(f"; a comment\n{linear}\n")
    found = load_graph_file(path)
    assert found == linear
    assert str(found.nodes[0].location) == f"{path}:3"
    path.write_text("graph f(%x: f32[3]) {\n  %0: f32[3] = sine(%x)\n}\n")
    with pytest.raises(ParseError) as caught:
        load_graph_file(path)
    assert str(caught.value) == (
        "there is no op named 'sine'\n"
        f"  where: {path}:2:16\n"
        "      %0: f32[3] = sine(%x)\n"
        "                   ^\n"
        "  fix: did you mean 'sin'?"
    )


def test_errors_name_the_file(tmp_path, lookup):
    path = tmp_path / "cut.realta"
    path.write_bytes(dump_graph(lookup)[:-10])
    with pytest.raises(SerializationError) as caught:
        load_graph_file(path)
    assert caught.value.where == str(path)
    assert "the file is cut short" in str(caught.value)


def test_a_failed_save_leaves_the_old_file(tmp_path, linear, monkeypatch):
    path = tmp_path / "f.realta"
    save_graph(linear, path)
    before = path.read_bytes()
    full = OSError("no space left")

    def replace(part, target):
        raise full

    monkeypatch.setattr("os.replace", replace)
    with pytest.raises(OSError, match="no space left"):
        save_graph(linear, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f.realta"]


def test_pickles_and_copies(lookup):
    b = Builder("f", where=Location(None, 0, "model.py:12"))
    graph = b.finish(b.sin(b.input(TensorType("float32", (3,)), "x")))
    for one in (graph, lookup):
        assert pickle.loads(pickle.dumps(one)) == one
        assert copy.deepcopy(one) == one
    assert str(pickle.loads(pickle.dumps(graph)).nodes[0].location) == "model.py:12"
    assert b"model.py" not in dump_graph(graph)
