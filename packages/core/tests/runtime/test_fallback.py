import warnings

import pytest
from realta.errors import ArgumentError, UnsupportedOp
from realta.graph import Location
from realta.runtime import (
    FallbackWarning,
    compile_program,
    fallback_policy,
    program_for,
    set_fallback_policy,
)
from realta.runtime.fallback import _warned


@pytest.fixture(autouse=True)
def environment_policy(monkeypatch):
    monkeypatch.delenv("REALTA_FALLBACK", raising=False)
    _warned.clear()
    yield
    set_fallback_policy(None)


def test_warns_once_per_op_and_device(bytes_device, graph_of):
    first, _ = bytes_device(lacks=["exp", "log"])
    second, _ = bytes_device(name="others", lacks=["exp"])
    assert fallback_policy() == "warn"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for device, op in ((first, "exp"), (first, "exp"), (first, "log"), (second, "exp")):
            compile_program(graph_of(lambda b, x, op=op: getattr(b, op)(x), device.name), device)
    assert {w.category for w in caught} == {FallbackWarning}
    assert [str(w.message).partition(".")[0] for w in caught] == [
        "exp runs on reference:0, not on bytes:0: it does not have exp",
        "log runs on reference:0, not on bytes:0: it does not have log",
        "exp runs on reference:0, not on others:0: it does not have exp",
    ]


def test_error_names_the_op_the_device_and_the_line(bytes_device, graph_of):
    device, _ = bytes_device(lacks=["exp"])
    set_fallback_policy("error")
    graph = graph_of(lambda b, x: b.exp(x), device.name)
    graph.nodes[0].where = Location(None, 0, "model.py:7")
    with pytest.raises(UnsupportedOp) as caught:
        program_for(graph)
    assert str(caught.value) == (
        "bytes:0 cannot run exp on float32: it does not have exp\n"
        "  where: exp(f32[3]@bytes:0) at model.py:7\n"
        '  fix: cast the operand, move it with .to("cpu"), or allow the fallback'
    )


def test_a_program_compiled_under_one_policy_does_not_serve_another(bytes_device, graph_of):
    device, _ = bytes_device(lacks=["exp"])
    graph = graph_of(lambda b, x: b.exp(x), device.name)
    set_fallback_policy("allow")
    program_for(graph)
    set_fallback_policy("error")
    with pytest.raises(UnsupportedOp):
        program_for(graph)


def test_allow_says_nothing(bytes_device, graph_of):
    device, _ = bytes_device(lacks=["exp"])
    assert set_fallback_policy("allow") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_program(graph_of(lambda b, x: b.exp(x), device.name), device)
    assert set_fallback_policy("warn") == "allow"


def test_the_environment_chooses(monkeypatch):
    monkeypatch.setenv("REALTA_FALLBACK", "error")
    assert fallback_policy() == "error"
    set_fallback_policy("allow")
    assert fallback_policy() == "allow"


def test_an_unknown_policy_is_refused(monkeypatch):
    with pytest.raises(ArgumentError) as caught:
        set_fallback_policy("maybe")
    assert str(caught.value) == (
        "there is no fallback policy 'maybe'\n"
        "  where: set_fallback_policy\n"
        "  fix: use warn, error, allow"
    )
    monkeypatch.setenv("REALTA_FALLBACK", "maybe")
    with pytest.raises(ArgumentError) as caught:
        fallback_policy()
    assert caught.value.where == "variable REALTA_FALLBACK"


def test_an_op_nobody_has_is_refused_whatever_the_policy(bytes_device, graph_of):
    reference, _ = bytes_device(name="reference", lacks=["exp"])
    set_fallback_policy("allow")
    with pytest.raises(UnsupportedOp, match="reference:0 cannot run exp on float32"):
        compile_program(graph_of(lambda b, x: b.exp(x), reference.name), reference)
