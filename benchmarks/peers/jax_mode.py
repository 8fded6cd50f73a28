"""JAX as a peer: `jax.jit` on the CPU, as shipped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers import Prepared
from benchmarks.workloads import DRAWN, EPSILON, SHIFT, SLOPE, Workload

__all__ = ["prepare"]

WARM_UP = 3
Formula = Callable[..., Any]


def layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    """W4."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = jnp.square(centred).mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + EPSILON) * weight + bias


def attention(q: Any, k: Any, v: Any) -> Any:
    """W10."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, axis=-1), v)


FORMULAS: dict[str, Formula] = {
    "W1": lambda x: jax.nn.relu(x * SLOPE + SHIFT) * jax.nn.sigmoid(x) - 0.5,
    "W2": partial(jax.nn.gelu, approximate=True),
    "W3": partial(jax.nn.softmax, axis=-1),
    "W4": layer_norm,
    "W5a": partial(jnp.sum, axis=0),
    "W5b": partial(jnp.sum, axis=1),
    "W5c": jnp.sum,
    "W10": attention,
    "W11": lambda x, y: x.T + y,
}


def draw(key: Any) -> Any:
    """W12."""
    return jax.random.normal(key, (DRAWN,))


def prepare(_peer: str, workload: Workload) -> Prepared:
    """Moves the inputs to JAX, compiles and warms up."""
    inputs = [jnp.asarray(array) for array in workload.inputs()] or [jax.random.key(0)]
    compute = jax.jit(FORMULAS.get(workload.id, draw))
    for _ in range(WARM_UP):
        compute(*inputs).block_until_ready()
    names: dict[str, Any] = dict(zip("xyz", inputs, strict=False)) | {"compute": compute}
    arguments = ", ".join(list(names)[:-1])
    statement = f"result = compute({arguments}).block_until_ready()"
    return Prepared(statement, names, lambda: np.asarray(compute(*inputs)))
