"""The backend jax: that it is found, computes, and agrees with itself in every mode."""

import numpy as np
import pytest
import realta
from realta import F

pytest.importorskip("jax")
DEVICE = "jax:0"


@pytest.fixture(autouse=True)
def device():
    """Skips where the backend says that it cannot run, with its reason."""
    (entry,) = [e for e in realta.backends(probe=True) if e.name == "jax"]
    assert entry.state in ("available", "unavailable"), entry.reason
    if entry.state == "unavailable":
        pytest.skip(entry.reason)


def test_it_is_found():
    assert realta.Device("jax").name == DEVICE


def test_it_computes():
    x = realta.Tensor([[1.0, -2.0], [3.0, 4.0]], device=DEVICE)
    assert str((x + x).device) == DEVICE
    assert (x + x).tolist() == [[2.0, -4.0], [6.0, 8.0]]
    assert F.sum(x, axis=1).tolist() == [-1.0, 7.0]


def test_every_mode_agrees():
    """Not bit for bit: XLA compiles a graph as a whole, and the session says so."""
    x = realta.Tensor(np.linspace(-3, 3, 35, dtype=np.float32).reshape(5, 7), device=DEVICE)

    def formula(x):
        return F.exp(x * 2.0) / F.sum(F.abs(x), axis=1, keepdims=True)

    eager = formula(x).numpy()
    with realta.lazy():
        pending = formula(x)
    compiled = realta.compile(formula)(x.type)
    for found in (pending, realta.functional(formula)(x), compiled(x)):
        np.testing.assert_allclose(found.numpy(), eager, rtol=1e-6)
    assert compiled(x).numpy().tobytes() == compiled(x).numpy().tobytes()


def test_a_graph_is_one_program():
    x = realta.TensorType("float32", (4, 8), DEVICE)
    compiled = realta.compile(lambda x: F.softmax(x * 2.0, axis=-1))(x)
    assert [kernel.schedule for _, kernel, _ in compiled.program.members()] == [
        "one program of XLA"
    ]


def test_other_users_of_jax_keep_their_types():
    import jax.numpy as jnp

    realta.Tensor([1, 2], dtype="int64", device=DEVICE).tolist()
    assert jnp.arange(3.0).dtype == jnp.float32
    assert jnp.arange(3).dtype == jnp.int32
