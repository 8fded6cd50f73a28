"""Structure: ops that move, reduce, contract and look up elements, as functions of JAX arrays."""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp
from jax import lax
from realta.backend import Node

from realta_jax.elementwise import Lowering, is_float, larger, smaller

__all__ = ["STRUCTURE"]

Array = Any


def slices(node: Node) -> tuple[slice, ...]:
    """The slices of a node's bounds; a stop of -1 means before the first element."""
    bounds = zip(node.attrs["start"], node.attrs["stop"], node.attrs["step"], strict=True)
    return tuple(
        slice(a, None if b < 0 else b, s) if range(a, b, s) else slice(0, 0) for a, b, s in bounds
    )


def reduced(largest: bool) -> Lowering:
    """The largest or smallest element over some axes."""

    def lowered(node: Node, x: Array) -> Array:
        pick, limit = (larger, "min") if largest else (smaller, "max")
        if x.dtype == jnp.bool_:
            start = jnp.asarray(not largest)
        elif is_float(x):
            start = jnp.asarray(-jnp.inf if largest else jnp.inf, x.dtype)
        else:
            start = jnp.asarray(getattr(jnp.iinfo(x.dtype), limit), x.dtype)
        return lax.reduce(x, start, pick, node.attrs["axes"])

    return lowered


def scan(name: str) -> Lowering:
    """A running sum or product along an axis."""
    function, unit = (lax.cumsum, 0) if name == "cumsum" else (lax.cumprod, 1)

    def lowered(node: Node, x: Array) -> Array:
        axis, reverse = node.attrs["axis"], node.attrs["reverse"]
        if node.attrs["exclusive"] and x.shape[axis]:
            # The element before each: those before the first and after the last are the unit.
            one = jnp.full((*x.shape[:axis], 1, *x.shape[axis + 1 :]), unit, x.dtype)
            rest = lax.slice_in_dim(x, 1, None, axis=axis) if reverse else None
            kept = rest if reverse else lax.slice_in_dim(x, 0, -1, axis=axis)
            x = jnp.concatenate([kept, one] if reverse else [one, kept], axis)
        return function(x, axis=axis, reverse=reverse)

    return lowered


def dot_general(node: Node, x: Array, y: Array) -> Array:
    """Sums of products over pairs of axes, in full precision."""
    a = node.attrs
    contract, batch = (a["x_contract"], a["y_contract"]), (a["x_batch"], a["y_batch"])
    return lax.dot_general(x, y, (contract, batch), precision=lax.Precision.HIGHEST)


def wrapped(indices: Array, extent: int) -> Array:
    """Indices of which negative ones count from the end, once."""
    return jnp.where(indices < 0, indices + extent, indices)


def gather(node: Node, x: Array, indices: Array) -> Array:
    """Elements of an axis by index; what is outside is clamped."""
    axis = node.attrs["axis"]
    return jnp.take(x, wrapped(indices, x.shape[axis]), axis=axis, mode="clip")


def update_slice(node: Node, x: Array, new: Array) -> Array:
    """The operand with a slice replaced."""
    return x.at[slices(node)].set(new) if new.size else x


def check_bounds(node: Node, indices: Array) -> Array:
    """The status of indices: all -1, or 0, the axis, and the two words of the first bad one."""
    extent = node.attrs["extent"]
    flat = indices.reshape(-1).astype(jnp.int64)
    bad = (flat < -extent) | (flat >= extent)
    found = flat[jnp.argmax(bad)] if flat.size else jnp.asarray(0, jnp.int64)
    words = lax.bitcast_convert_type(found, jnp.int32)  # low word first
    status = jnp.concatenate([jnp.asarray([0, node.attrs["axis"]], jnp.int32), words])
    return jnp.where(bad.any(), status, jnp.full(4, -1, jnp.int32))


def arg(largest: bool) -> Lowering:
    """The index of the largest or smallest element, the first of equals; NaN wins."""
    function = lax.argmax if largest else lax.argmin
    return lambda node, x: function(x, node.attrs["axis"], jnp.int64)


def total(node: Node, x: Array) -> Array:
    """Sums; floats in float64, rounded once."""
    wide = jnp.float64 if is_float(x) else x.dtype
    return jnp.sum(x, axis=node.attrs["axes"], dtype=wide).astype(x.dtype)


def product(node: Node, x: Array) -> Array:
    """Products; floats in float64, rounded once."""
    wide = jnp.float64 if is_float(x) else x.dtype
    return jnp.prod(x, axis=node.attrs["axes"], dtype=wide).astype(x.dtype)


def pad(node: Node, x: Array, fill: Array) -> Array:
    """The operand between copies of a value."""
    widths = zip(node.attrs["low"], node.attrs["high"], strict=True)
    return lax.pad(x, fill, [(low, high, 0) for low, high in widths])


def iota(node: Node) -> Array:
    """The index along an axis."""
    a = node.attrs
    return lax.broadcasted_iota(a["dtype"].numpy, a["shape"], a["axis"])


STRUCTURE: Final[dict[str, Lowering]] = {
    "all": lambda node, x: jnp.all(x, axis=node.attrs["axes"]),
    "any": lambda node, x: jnp.any(x, axis=node.attrs["axes"]),
    "argmax": arg(largest=True),
    "argmin": arg(largest=False),
    "barrier": lambda node, x: lax.optimization_barrier(x),
    "broadcast": lambda node, x: jnp.broadcast_to(x, node.attrs["shape"]),
    "check_bounds": check_bounds,
    "concat": lambda node, *parts: jnp.concatenate(parts, axis=node.attrs["axis"]),
    "constant": lambda node: jnp.asarray(node.attrs["value"].array),
    "cumprod": scan("cumprod"),
    "cumsum": scan("cumsum"),
    "dot_general": dot_general,
    "gather": gather,
    "iota": iota,
    "max": reduced(largest=True),
    "min": reduced(largest=False),
    "pad": pad,
    "permute": lambda node, x: jnp.transpose(x, node.attrs["axes"]),
    "prod": product,
    "reshape": lambda node, x: jnp.reshape(x, node.attrs["shape"]),
    "slice": lambda node, x: x[slices(node)],
    "sum": total,
    "update_slice": update_slice,
}
