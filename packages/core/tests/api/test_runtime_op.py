"""An elementwise op that is defined at run time is there everywhere, at once."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.explaining import explain
from realta.graph import Builder, parse, verify
from realta.ops import OpKind, define, undefine
from realta.ops.rules import elementwise
from realta.ops.samples import elementwise_samples
from realta.plugins import backends, open_device
from realta.testing import assert_same_bits
from realta.types import FLOATS, tensor_type

X = np.linspace(-3, 3, 33, dtype=np.float32)


class Guarded:
    """A reference that may be called where the test says so, and nowhere else."""

    def __init__(self):
        self.allowed = False

    def __call__(self, x):
        assert self.allowed, "the reference was called outside reference:0"
        return x * np.tanh(np.log1p(np.exp(x.astype(np.float64)))).astype(x.dtype)


@pytest.fixture
def guarded():
    return Guarded()


@pytest.fixture
def mish(guarded):
    """``mish(x) = x * tanh(log(1 + exp(x)))`` (Misra 2019), defined in one call."""
    op = define(
        "mish",
        rule=elementwise,
        reference=guarded,
        lowering=lambda emit, x: emit.mul(x, emit.tanh(emit.log1p(emit.exp(x)))),
        widen=True,
        doc="x times the hyperbolic tangent of log(1 + exp(x)).",
        dtypes=FLOATS,
        samples=elementwise_samples(1, "small"),
        tolerance="tan",
    )
    yield op
    undefine("mish")


def expected(x=X):
    wide = x.astype(np.float64)
    return wide * np.tanh(np.log1p(np.exp(wide)))


def test_it_is_a_function_until_it_is_gone(mish):
    assert F.mish is F.mish
    assert F.mish.__name__ == "mish"
    assert "mish(x)" in F.mish.__doc__
    undefine("mish")
    with pytest.raises(AttributeError):
        _ = F.mish


def test_another_definition_is_another_function(mish, guarded):
    first = F.mish
    undefine("mish")
    define("mish", rule=elementwise, reference=guarded, doc="Another.", lowering=lambda emit, x: x)
    assert F.mish is not first


def test_it_prints_parses_and_verifies(mish):
    builder = Builder("use")
    x = builder.input(tensor_type(realta.float32, (3,)), "x")
    graph = builder.finish(builder.mish(x))
    text = "graph use(%x: f32[3]) {\n  %0: f32[3] = mish(%x)\n  return %0\n}"
    assert str(graph) == text
    assert parse(text) == graph
    verify(graph)


@pytest.mark.parametrize("device", ["reference:0", "numpy:0"])
def test_it_runs_in_every_mode(mish, guarded, device):
    if device[:-2] not in {entry.name for entry in backends()}:
        pytest.skip(f"{device} is not installed")
    guarded.allowed = device == "reference:0"
    with realta.default_device(device):
        x = Tensor(X)

        def body(t):
            return F.mish(t * 2.5) + 1

        eager = body(x)
        with realta.lazy():
            pending = body(x)
        ways = {
            "again": body(x), "lazy": pending, "region": F.functional(body)(x),
            "compiled": realta.compile(body)(x.type)(x),
        }  # fmt: skip
        for mode, result in ways.items():
            try:
                assert_same_bits(result, eager)
            except AssertionError as error:
                raise AssertionError(f"{mode}: {error}") from None
        np.testing.assert_allclose(F.mish(x).numpy(), expected(), rtol=2e-6, atol=1e-7)
        half = F.mish(x.cast("bfloat16"))
        assert half.dtype is realta.bfloat16
        assert F.mish(Tensor([1])).dtype is realta.float32
        assert F.mish(0.5).item() == pytest.approx(float(expected(np.array(0.5))))


def test_it_fuses_with_its_neighbours_in_one_kernel(mish):
    if "numpy" not in {entry.name for entry in backends()}:
        pytest.skip("no backend that fuses is installed")
    with realta.default_device("numpy:0"):
        x = Tensor(X)

        @F.functional(fuse="must")
        def body(t):
            return F.mish(t * 2.5) + 1

        found = body(x)
        device = open_device("numpy:0")
        before = device.launches
        body(x)
        assert device.launches - before == 1
        with realta.lazy():
            pending = F.mish(x * 2.5) + 1
        explanation = explain(pending)
        assert len(explanation.kernels) == 1
        assert_same_bits(pending, found)


def test_an_op_of_bools_takes_bools():
    define(
        "implies",
        operands=("x", "y"),
        rule=lambda x, y: x,
        reference=lambda x, y: ~x | y,
        lowering=lambda emit, x, y: emit.bitwise_or(emit.logical_not(x), y),
        doc="Whether y holds where x does.",
        dtypes=frozenset({realta.bool_}),
    )
    try:
        assert F.implies(Tensor([True, False]), False).tolist() == [False, True]
    finally:
        undefine("implies")


def test_an_op_with_an_attribute_takes_it_by_name():
    from realta.ops import Attr

    define(
        "leaky",
        rule=lambda x, *, slope: x,
        reference=lambda x, *, slope: np.where(x > 0, x, x * x.dtype.type(slope)),
        lowering=lambda emit, x, *, slope: emit.select(
            emit.greater(x, emit.const(0, like=x)), x, emit.mul(x, emit.const(slope, like=x))
        ),
        attrs={"slope": Attr("float", 0.01, "factor of negative elements")},
        doc="x, or a small multiple of it where it is negative.",
        dtypes=FLOATS,
        kind=OpKind.ELEMENTWISE,
    )
    try:
        assert F.leaky(Tensor([-2.0, 2.0]), slope=0.25).tolist() == [-0.5, 2.0]
        assert F.leaky(Tensor([-2.0, 2.0]), slope=0.5).tolist() == [-1.0, 2.0]
        assert F.leaky(Tensor([-100.0])).tolist() == [-1.0]
        with pytest.raises(TypeError, match="no attribute 'alpha'"):
            F.leaky(Tensor([1.0]), alpha=1)
        with pytest.raises(TypeError, match="takes 1 operand"):
            F.leaky(Tensor([1.0]), Tensor([1.0]))
    finally:
        undefine("leaky")
