"""Control flow, effects and custom calls as ops: type rules and references."""

import numpy as np
import pytest
from realta.errors import ArgumentError, DTypeError, ExecutionError, ShapeError, VerificationError
from realta.graph import Builder
from realta.ops import get_op
from realta.types import TensorType

X, N, P = TensorType("float32", (3,)), TensorType("int32", ()), TensorType("bool", ())
TOKEN = TensorType("bool", (0,))


def graph(body, *types):
    b = Builder("inner")
    found = body(b, *[b.input(t) for t in types])
    return b.finish(*(found if isinstance(found, tuple) else (found,)))


def types_of(op, *types, **attrs):
    op = get_op(op)
    return op.result_types(types, op.make_attrs(attrs))


NEG = graph(lambda b, x: b.neg(x), X)
SAME = graph(lambda b, x: x, X)
LESS = graph(lambda b, i, x: b.less(i, b.constant(np.int32(3), N)), N, X)
STEP = graph(lambda b, i, x: (b.add(i, b.constant(np.int32(1), N)), b.add(x, x)), N, X)


def test_results_have_the_types_of_the_graphs():
    assert types_of("cond", P, X, then=NEG, otherwise=SAME) == (X,)
    assert types_of("while_loop", N, X, predicate=LESS, body=STEP, carried=2) == (N, X)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda: types_of("cond", N, X, then=NEG, otherwise=SAME),
            DTypeError,
            "cond is not defined for int32",
        ),
        (lambda: types_of("cond", TOKEN, X, then=NEG, otherwise=SAME), ShapeError, "must be 0-d"),
        (
            lambda: types_of("cond", P, X, X, then=NEG, otherwise=SAME),
            VerificationError,
            r"the graph 'then' takes f32\[3\], but its operands are f32\[3\], f32\[3\]",
        ),
        (
            lambda: types_of("cond", P, X, then=NEG, otherwise=graph(lambda b, x: (x, x), X)),
            VerificationError,
            r"'then' returns f32\[3\], 'otherwise' returns f32\[3\], f32\[3\]",
        ),
        (
            lambda: types_of("while_loop", N, X, predicate=LESS, body=LESS, carried=2),
            VerificationError,
            r"'body' returns bool\[\], but i32\[\], f32\[3\] is carried",
        ),
        (
            lambda: types_of("while_loop", N, X, predicate=STEP, body=STEP, carried=2),
            VerificationError,
            "'predicate' returns i32",
        ),
        (
            lambda: types_of("while_loop", N, X, predicate=LESS, body=STEP, carried=3),
            VerificationError,
            "3 of 2 operands are carried",
        ),
        (lambda: types_of("print", X, X), DTypeError, "a token must be bool"),
        (lambda: types_of("assert_", P, P), ShapeError, r"a token is bool\[0\]"),
        (lambda: types_of("assert_", X), DTypeError, "is not defined for float32"),
        (
            lambda: types_of("custom_call", X, name="a.b", types=(X,), mutates=(1,)),
            ArgumentError,
            r"changes the operands \[1\] of 1",
        ),
        (lambda: types_of("cond", P, then=3, otherwise=NEG), ArgumentError, "is a graph, got 3"),
    ],
)
def test_rules_refuse(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_tokens_and_custom_results():
    assert types_of("print", X.with_device("a:0"), TOKEN) == (TOKEN.with_device("a:0"),)
    assert types_of("custom_call", X, N, name="a.b", types=(P,), mutates=(1,)) == (N, P)


def test_references(capsys):
    x = np.array([1, 2, 3], np.float32)
    cond, loop = get_op("cond").reference, get_op("while_loop").reference
    assert cond(np.array(True), x, then=NEG, otherwise=SAME)[0].tolist() == (-x).tolist()
    assert cond(np.array(False), x, then=NEG, otherwise=SAME)[0].tolist() == x.tolist()
    found = loop(np.int32(0), x, predicate=LESS, body=STEP, carried=2)
    assert (int(found[0]), found[1].tolist()) == (3, (8 * x).tolist())
    assert get_op("print").reference(x, name="x").shape == (0,)
    assert capsys.readouterr().out == "x: [1. 2. 3.]\n"
    with pytest.raises(ExecutionError, match="no"):
        get_op("assert_").reference(np.array([True, False]), message="no")


def test_a_branch_state_is_a_key_of_its_own_for_each_step_and_graph():
    op = get_op("philox_branch")
    state = np.array([3, 0, 5, 6], np.uint32)
    keys = {
        op.reference(state, np.uint32(n), path=p, draw=d)[2:].tobytes()
        for n in range(4)
        for p in (0, 1)
        for d in (0, 1)
    }
    assert len(keys) == 8  # the number of the draw is the counter, not the key
    assert op.reference(state, np.uint32(0), path=0, draw=9)[:2].tolist() == [9, 0]
