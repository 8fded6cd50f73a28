"""Embedding: a table of vectors, looked up by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta import random
from realta.context import caller_location
from realta.errors import ArgumentError
from realta.functional import gather
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["Embedding"]


class Embedding(Module):
    """The rows of a table that indices name.

    Args:
        vocab_size: number of rows.
        dim: extent of a row.
        dims: extents of a row that has several axes, in place of ``dim``.
        dtype: of the table; the default float if left out.
        device: where it lives; the default device if left out.

    Rows are drawn from the standard normal distribution; under ``lazy()`` nothing is drawn or
    allocated until the table is asked for.

    Raises:
        ArgumentError: not just one of ``dim`` and ``dims``.
    """

    weight: Tensor

    def __init__(
        self,
        vocab_size: int,
        *,
        dim: int | None = None,
        dims: Sequence[int] | None = None,
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        if (dim is None) == (dims is None):
            raise ArgumentError(
                f"Embedding takes one of dim and dims, got dim={dim} and dims={dims}",
                where=str(caller_location()),
                fix="write Embedding(1000, dim=64)",
            )
        self.dims = (dim,) if dim is not None else tuple(dims or ())
        self.weight = random.normal((vocab_size, *self.dims), dtype=dtype, device=device)

    @property
    def vocab_size(self) -> int:
        """Number of rows."""
        return int(self.weight.shape[0])

    @property
    def dim(self) -> int:
        """Extent of the first axis of a row."""
        return int(self.weight.shape[1])

    def forward(self, indices: Any) -> Tensor:
        """The rows for integer indices of any shape; shape (*indices.shape, *dims).

        Raises:
            IndexBoundsError: an index is out of range; at the next wait if it is not known before.
        """
        return gather(self.weight, indices, axis=0)
