"""KVCache: keys and values of earlier positions, kept for the ones to come."""

from __future__ import annotations

from typing import Any

from realta import F
from realta.context import caller_location
from realta.errors import ShapeError
from realta.functional.arguments import apply
from realta.functional.gathering import index_tensor
from realta.functional.storing import store
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["KVCache"]


class KVCache(Module):
    """Keys and values of a sequence that grows from call to call.

    Its three tensors are buffers that do not belong to the state dict. A compiled call that has the
    cache moves them to their new versions, in place where nobody else holds the old ones.

    Args:
        batch: number of sequences.
        num_heads: heads of the keys and values.
        capacity: most positions it can hold.
        head_dim: features of a head.
        dtype: of keys and values; the default float if left out.
        device: where they live; the default device if left out.

    Attributes:
        keys: shape (batch, num_heads, capacity, head_dim); zeros where nothing was written.
        values: likewise.
        length: positions written so far, a 0-d int64 tensor.
    """

    keys: Tensor
    values: Tensor
    length: Tensor

    def __init__(
        self,
        batch: int,
        num_heads: int,
        capacity: int,
        head_dim: int,
        *,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        shape = (batch, num_heads, capacity, head_dim)
        for name in ("keys", "values"):
            self.register_buffer(name, F.zeros(shape, dtype=dtype, device=device), False)
        self.register_buffer("length", F.zeros((), dtype="int64", device=device), False)

    @property
    def capacity(self) -> int:
        """Most positions it can hold."""
        return int(self.keys.shape[2])

    def forward(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Writes the keys and values of the next positions.

        Args:
            keys: shape (batch, num_heads, steps, head_dim).
            values: likewise.

        Returns:
            All keys and values, of the shapes of the buffers, and a mask of shape
            (steps, capacity): which of them each of the new positions sees, those up to itself.

        Raises:
            ShapeError: another shape than the cache's, but for ``steps``.
            IndexBoundsError: more positions than it can hold; at the next wait.
        """
        for new in (keys, values):
            if new.rank != 4 or any(new.shape[n] != self.keys.shape[n] for n in (0, 1, 3)):
                raise ShapeError(
                    f"keys or values of {new.type} for a cache of {self.keys.type}",
                    where=str(caller_location()),
                    fix="give shape (batch, num_heads, steps, head_dim)",
                )
        steps = keys.shape[2]
        positions = self.length + F.arange(steps, device=self.keys.device)
        store(self.keys, _appended, keys, positions)
        store(self.values, _appended, values, positions)
        store(self.length, _advanced, positions)
        seen = F.arange(self.capacity, device=self.keys.device) <= F.unsqueeze(positions, 1)
        return self.keys, self.values, seen

    def reset(self) -> None:
        """Starts a new sequence; what was written is out of sight."""
        self.length[...] = 0


def _appended(x: Tensor, new: Tensor, positions: Tensor) -> Tensor:
    """The buffer with rows of its position axis replaced."""
    index = index_tensor("KVCache", positions, x, 2, "error")
    return apply("scatter", x, index, F.cast(new, x.dtype), axis=2, reduce="set", mode="clip")


def _advanced(x: Tensor, positions: Tensor) -> Tensor:
    """The number of positions with the new ones, however many these are."""
    return x + F.sum(F.ones_like(positions))
