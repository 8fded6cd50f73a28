"""Pointwise calls by the fast path: arguments by name, and those that are too many or missing."""

import pytest
from realta import F, Tensor
from realta.context import lazy
from realta.errors import ArgumentError


@pytest.fixture
def x():
    return Tensor([1.0, 4.0], device="reference:0")


@pytest.fixture
def y():
    return Tensor([8.0, 2.0], device="reference:0")


@pytest.mark.parametrize("again", [1, 2, 3])
def test_operands_may_be_named(x, y, again):
    for _ in range(again):  # the first call learns, later ones take the short way
        assert F.sub(lhs=x, rhs=y).tolist() == [-7.0, 2.0]
        assert F.sub(x, rhs=y).tolist() == [-7.0, 2.0]
        assert F.sub(rhs=x, lhs=y).tolist() == [7.0, -2.0]
        assert F.sub(x, rhs=1.0).tolist() == [0.0, 3.0]
        assert F.sub(lhs=1.0, rhs=x).tolist() == [0.0, -3.0]
        assert F.sqrt(x=x).tolist() == [1.0, 2.0]
        assert F.less(lhs=x, rhs=y).tolist() == [True, False]
        assert F.logical_and(lhs=x, rhs=y).tolist() == [True, True]


def test_operands_may_be_named_in_a_context(x, y):
    with lazy():
        z = F.sqrt(x=F.sub(lhs=y, rhs=x))
    assert z.tolist()[0] == pytest.approx(7.0**0.5, rel=1e-7)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda x: F.sub(x), "sub: missing a required argument: 'rhs'"),
        (lambda x: F.sub(), "sub: missing a required argument: 'lhs'"),
        (lambda x: F.sub(rhs=x), "sub: missing a required argument: 'lhs'"),
        (lambda x: F.sub(x, x, x), "sub: too many positional arguments"),
        (lambda x: F.sub(x, x, lhs=x), "sub: multiple values for argument 'lhs'"),
        (lambda x: F.sub(x, x, out=x), "sub: got an unexpected keyword argument 'out'"),
        (lambda x: F.sqrt(), "sqrt: missing a required argument: 'x'"),
        (lambda x: F.sqrt(x, x), "sqrt: too many positional arguments"),
        (lambda x: F.sqrt(x, x=x), "sqrt: multiple values for argument 'x'"),
        (lambda x: F.sqrt(x, inplace=True), "sqrt: got an unexpected keyword argument 'inplace'"),
    ],
)
def test_arguments_that_do_not_fit_are_named(x, call, what):
    with pytest.raises(ArgumentError) as caught:
        call(x)
    text = str(caught.value)
    assert text.startswith(what)
    name = what.partition(":")[0]
    assert f"fix: call it as {name}({'x' if name == 'sqrt' else 'lhs, rhs'})" in text
