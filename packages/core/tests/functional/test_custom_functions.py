"""Custom functions: by name, in every context, checked at both ends."""

import json

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, lazy
from realta.errors import ArgumentError, ExecutionError, SerializationError, UnsupportedOp
from realta.graph import dump_graph, load_graph_file, parse, restore_graph, save_graph

X = np.array([1.0, 2.0, 3.0], np.float32)
calls = []


@F.register_custom("test.scale")
def scale(x, *, factor, dtype="float32"):
    calls.append(factor)
    return (x * factor).astype(dtype)


@F.register_custom("test.split")
def split(x):
    return x[:1], x[1:].astype(np.float64)


@F.register_custom("test.fill", mutates=(1,))
def fill(value, target):
    target[...] = value


@F.register_custom("test.swap")
def swap(x, y):
    x[...], y[...] = y.copy(), x.copy()
    return np.float32(7)


def scaled(x):
    return F.custom("test.scale", "reference", [x], [x.type], {"factor": 3})[0] + 1


def test_it_runs_in_every_mode(modes):
    np.testing.assert_array_equal(modes(scaled, X), X * 3 + 1)


def test_several_results_and_dtypes_as_parameters():
    types = [TensorType("float32", (1,)), TensorType("float64", (2,))]
    first, second = F.custom("test.split", "reference", [Tensor(X)], types)
    assert (first.tolist(), second.tolist(), second.dtype) == ([1], [2, 3], realta.float64)
    out = [TensorType("int32", (3,))]
    given = {"factor": 2, "dtype": realta.int32}
    (found,) = F.custom("test.scale", "reference", [X], out, given)
    assert found.tolist() == [2, 4, 6]


def test_operands_move_to_the_device():
    (found,) = F.custom(
        "test.scale", "numpy", [Tensor(X)], [TensorType("float32", (3,))], {"factor": 2}
    )
    assert str(found.device) == "numpy:0"
    assert found.tolist() == [2, 4, 6]


def test_it_gets_read_only_arrays_and_its_result_is_copied():
    kept = []

    @F.register_custom("test.keep")
    def keep(x):
        assert not x.flags.writeable
        kept.append(np.array(x))
        return kept[-1]

    (found,) = F.custom("test.keep", "reference", [Tensor(X)], [TensorType("float32", (3,))])
    kept[0][...] = -1
    assert found.tolist() == X.tolist()


def test_inplace_moves_handles_and_nobody_else_sees_it():
    value, target = Tensor(5.0), Tensor(X)
    with lazy():
        before = target * 1
    assert F.inplace_custom("test.fill", "reference", [value, target]) == []
    assert (target.tolist(), value.item(), before.tolist()) == ([5, 5, 5], 5, X.tolist())
    x, y = Tensor(X), Tensor(-X)
    (seven,) = F.inplace_custom("test.swap", "reference", [x, y], [TensorType("float32", ())])
    assert (seven.item(), x.tolist(), y.tolist()) == (7, (-X).tolist(), X.tolist())


def test_inplace_under_compile_moves_after_the_call():
    @realta.compile
    def filled(value, target):
        F.inplace_custom("test.fill", "reference", [value, target])
        return target + 1

    value, target = Tensor(5.0), Tensor(X)
    call = filled(value.type, target.type)
    assert target.tolist() == X.tolist()
    assert call(value, target).tolist() == [6, 6, 6]
    assert target.tolist() == [5, 5, 5]


def test_unknown_names_suggest(masked):
    with pytest.raises(UnsupportedOp) as caught:
        F.custom("test.scael", "reference", [Tensor(X)], [TensorType("float32", (3,))])
    assert masked(caught.value) == (
        "no custom function is registered as 'test.scael'\n"
        "  where: custom_call 'test.scael' at HERE\n"
        "  fix: did you mean 'test.scale'? import the module that has it, under "
        '@F.register_custom("test.scael")'
    )


@pytest.mark.parametrize(
    ("types", "parameters", "text"),
    [
        ([TensorType("float32", (4,))], {"factor": 1}, r"returned float32\[3\], must be f32\[4\]"),
        ([TensorType("int32", (3,))], {"factor": 1}, r"returned float32\[3\], must be i32\[3\]"),
        ([TensorType("float32", (3,))] * 2, {"factor": 1}, r"returned 1 result\(s\), must be 2"),
        ([TensorType("float32", (3,))], {}, "raised TypeError: .* missing .* 'factor'"),
    ],
)
def test_what_it_returns_is_checked(types, parameters, text, masked):
    with pytest.raises(ExecutionError, match=text) as caught:
        F.custom("test.scale", "reference", [Tensor(X)], types, parameters)
    assert "where: custom_call(f32[3]@reference:0) at HERE" in masked(caught.value)


def test_wrong_arguments():
    x = Tensor(X)
    with pytest.raises(ArgumentError, match=r"the parameter 'factor' of test\.scale is Tensor"):
        F.custom("test.scale", "reference", [x], [x.type], {"factor": x})
    with pytest.raises(ArgumentError, match=r"operand 1 of test\.fill is to be .*, and is int"):
        F.inplace_custom("test.fill", "reference", [x, 3])
    with pytest.raises(ArgumentError, match="the name of a custom function has a dot, got 'scale'"):
        F.register_custom("scale")
    with pytest.raises(ArgumentError, match="takes and returns nothing"):
        F.custom("test.scale", "reference", [], [])


def test_unused_and_equal_calls_run_once_or_never():
    def several(x):
        scaled(x)
        return scaled(x) + scaled(x)

    x = Tensor(X)
    compiled = realta.compile(several)(x.type)
    calls.clear()
    compiled(x)
    assert calls == [3]


def coded(x):
    return F.custom("test.scale", "reference", [x], [x.type], {"factor": 2}, source="kernel")[0]


def test_code_in_a_file_needs_leave(tmp_path):
    graph = realta.stage(coded)(TensorType("float32", (3,), "reference:0")).graph
    assert parse(str(graph)) == graph
    path = tmp_path / "custom.graph"
    save_graph(graph, path)
    text = tmp_path / "text.graph"
    text.write_text(str(graph))
    for file in (path, text):
        with pytest.raises(SerializationError, match=r"'test\.scale' carries code"):
            load_graph_file(file)
        loaded = load_graph_file(file, allow_custom=True)
        assert realta.load_graph(loaded)(Tensor(X)).tolist() == [2, 4, 6]
        assert realta.load_graph(file, allow_custom=True)(Tensor(X)).tolist() == [2, 4, 6]
    with pytest.raises(SerializationError, match="carries code"):
        restore_graph(dump_graph(graph))
    plain = realta.stage(scaled)(TensorType("float32", (3,), "reference:0")).graph
    assert restore_graph(dump_graph(plain)) == plain


def test_code_inside_of_control_flow_needs_leave():
    def inside(x):
        return F.cond(F.sum(x) > 0, None, lambda: coded(x), lambda: x)[0]

    graph = realta.stage(inside)(TensorType("float32", (3,), "reference:0")).graph
    with pytest.raises(SerializationError, match="carries code"):
        restore_graph(dump_graph(graph))


def test_parameters_are_plain_in_the_graph():
    graph = realta.stage(scaled)(TensorType("float32", (3,), "reference:0")).graph
    node = next(n for n in graph.nodes if n.op.name == "custom_call")
    assert json.loads(node.attrs["parameters"]) == {"factor": 3}
