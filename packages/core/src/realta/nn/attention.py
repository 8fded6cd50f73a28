"""MultiHeadAttention: attention of several heads between projections (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import Any

from realta import F
from realta.context import caller_location
from realta.errors import ArgumentError, ShapeError
from realta.nn.kv_cache import KVCache
from realta.nn.linear import Linear
from realta.nn.module import Module
from realta.nn.rotary import RotaryEmbedding
from realta.tensor import Tensor

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(Module):
    """Each head weighs the values of all positions by how its query fits their keys.

    Args:
        dim: features of the input and the result.
        num_heads: heads of the queries.
        num_kv_heads: heads of keys and values, each for several heads of queries (Ainslie et al.
            2023); as many as those of the queries if left out.
        head_dim: features of a head; ``dim // num_heads`` if left out.
        bias: whether the projections have biases.
        rotary: rotates queries and keys by their positions; the table may be shared by layers.
        dtype: of the parameters; the default float if left out.
        device: where they live; the default device if left out.

    Attributes:
        query: projection to (num_heads * head_dim) features.
        key: projection to (num_kv_heads * head_dim) features.
        value: likewise.
        output: projection back to ``dim`` features.

    Raises:
        ArgumentError: the heads do not divide what they share.
    """

    query: Linear
    key: Linear
    value: Linear
    output: Linear
    rotary: RotaryEmbedding | None

    def __init__(
        self,
        dim: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        bias: bool = True,
        rotary: RotaryEmbedding | None = None,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        self.num_heads = num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        _check_heads(dim, num_heads, self.num_kv_heads, head_dim)
        self.head_dim = dim // num_heads if head_dim is None else head_dim
        wide, narrow = num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        where = {"dtype": dtype, "device": device}
        self.query = Linear(dim, wide, bias=bias, **where)
        self.key = Linear(dim, narrow, bias=bias, **where)
        self.value = Linear(dim, narrow, bias=bias, **where)
        self.output = Linear(wide, dim, bias=bias, **where)
        self.rotary = rotary

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        *,
        mask: Any = None,
        causal: bool = False,
        cache: KVCache | None = None,
    ) -> Tensor:
        """The layer applied to a sequence.

        Args:
            x: shape (..., length, dim).
            context: what keys and values are made of, of shape (..., keys, dim); ``x`` if None.
            mask: which keys each query sees: bool, or floats that are added to the scores; of a
                shape that broadcasts to (..., num_heads, length, keys).
            causal: whether each position sees those up to itself only.
            cache: holds the keys and values of earlier positions; those of ``x`` follow them and
                are written to it. Each position then sees those up to itself only, and ``keys`` is
                the cache's capacity.

        Returns:
            The shape of ``x``.

        Raises:
            ArgumentError: both a context and a cache.
            ShapeError: shapes that do not fit.
        """
        if cache is not None and context is not None:
            raise ArgumentError(
                "attention to a context with a cache",
                where=str(caller_location()),
                fix="leave the cache out: keys and values of a context do not grow",
            )
        if x.rank < 2:
            raise ShapeError(
                f"attention over {x.type}",
                where=str(caller_location()),
                fix="give shape (..., length, dim)",
            )
        start = 0 if cache is None else cache.length
        source = x if context is None else context
        queries = self._heads(self.query(x), self.num_heads, start)
        keys = self._heads(self.key(source), self.num_kv_heads, start)
        values = self._heads(self.value(source), self.num_kv_heads, None)
        if cache is not None:
            keys, values, seen = cache(keys, values)
            mask, causal = _both(mask, seen), False
        keys, values = self._shared(keys), self._shared(values)
        found = F.attention(queries, keys, values, mask=mask, causal=causal)
        joined = F.reshape(F.transpose(found, -3, -2), (*x.shape[:-1], self.query.out_dim))
        projected: Tensor = self.output(joined)
        return projected

    def _heads(self, x: Tensor, heads: int, start: Any) -> Tensor:
        """Features apart by head, rotated if they have positions; (..., heads, length, head)."""
        apart = F.reshape(x, (*x.shape[:-1], heads, self.head_dim))
        if self.rotary is not None and start is not None:
            apart = self.rotary(apart, start)
        return F.transpose(apart, -3, -2)

    def _shared(self, x: Tensor) -> Tensor:
        """Heads of keys or values, each as often as heads of queries share it."""
        times = self.num_heads // self.num_kv_heads
        if times == 1:
            return x
        *leading, heads, length, features = x.shape
        wide = F.broadcast_to(F.unsqueeze(x, -3), (*leading, heads, times, length, features))
        return F.reshape(wide, (*leading, heads * times, length, features))


def _both(mask: Any, seen: Tensor) -> Any:
    """What a mask and the cache's order let a position see."""
    if mask is None:
        return seen
    given = mask if isinstance(mask, Tensor) else Tensor(mask, device=seen.device)
    if given.dtype.is_float:
        return F.where(seen, given, float("-inf"))
    return F.logical_and(given, seen)


def _check_heads(dim: int, heads: int, kv_heads: int, head_dim: int | None) -> None:
    fault = ""
    if heads < 1 or kv_heads < 1 or heads % kv_heads:
        fault = f"{heads} heads of queries cannot share {kv_heads} heads of keys"
    elif head_dim is None and dim % heads:
        fault = f"{dim} features cannot be shared by {heads} heads"
    if fault:
        raise ArgumentError(
            fault,
            where=f"MultiHeadAttention at {caller_location()}",
            fix="give numbers that divide, or head_dim",
        )
