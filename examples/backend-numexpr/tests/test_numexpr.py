"""The backend numexpr: that it is found, computes, and gives the same bits in every mode."""

import numpy as np
import pytest
import realta
from realta import F
from realta_numexpr import expressions

pytest.importorskip("numexpr")
DEVICE = "numexpr:0"


@pytest.fixture(autouse=True)
def device():
    """Skips where the backend says that it cannot run, with its reason."""
    (entry,) = [e for e in realta.backends(probe=True) if e.name == "numexpr"]
    assert entry.state in ("available", "unavailable"), entry.reason
    if entry.state == "unavailable":
        pytest.skip(entry.reason)


def test_it_is_found():
    assert realta.Device("numexpr").name == DEVICE


def test_it_computes():
    x = realta.Tensor([[1.0, -2.0], [3.0, 4.0]], device=DEVICE)
    assert str((x + x).device) == DEVICE
    assert (x + x).tolist() == [[2.0, -4.0], [6.0, 8.0]]
    assert F.sum(x, axis=1).tolist() == [-1.0, 7.0]


def test_every_mode_gives_the_same_bits():
    x = realta.Tensor(np.linspace(-3, 3, 35, dtype=np.float32).reshape(5, 7), device=DEVICE)

    def formula(x):
        return F.exp(x * 2.0) / F.sum(F.abs(x), axis=1, keepdims=True)

    eager = formula(x).numpy().tobytes()
    with realta.lazy():
        pending = formula(x)
    assert pending.numpy().tobytes() == eager
    assert realta.functional(formula)(x).numpy().tobytes() == eager
    assert realta.compile(formula)(x.type)(x).numpy().tobytes() == eager


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_every_expression_compiles_for_each_type_it_is_declared_for(dtype):
    """numexpr finds out about types when it compiles, which is when a kernel first runs."""
    device = realta.runtime.resolve_device(DEVICE)
    wanted = realta.types.as_dtype(dtype)
    names = {*expressions.SAME, *expressions.BY_KIND}
    declared = [n for n in names if wanted in device.session.capabilities.ops.get(n, ())]
    assert len(declared) > 5
    for name in declared:
        text = expressions.SAME.get(name) or expressions.BY_KIND[name][wanted.numpy.kind]
        operands = [np.ones(3, wanted.numpy)] * 3
        if name == "select":
            operands[0] = np.ones(3, bool)
        used = sum(f"{letter}" in text.replace("exp", "") for letter in "xyz")
        assert expressions.evaluate(text, tuple(operands[:used])).shape == (3,), name
