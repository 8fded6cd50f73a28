"""Rotary position embedding: positions as rotations of pairs of features (Su et al. 2021)."""

from __future__ import annotations

import math
from typing import Any

from realta import F
from realta.context import caller_location
from realta.errors import ArgumentError, ShapeError
from realta.nn.module import Module
from realta.tensor import Tensor
from realta.types import Dim, float64

__all__ = ["RotaryEmbedding", "TransposedRotaryEmbedding", "positional_embedding", "yarn"]


def _frequencies(dim: int, base: float) -> Tensor:
    """``base ** (-2 * i / dim)``, in float64; shape (dim // 2)."""
    if dim <= 0 or dim % 2:
        raise ArgumentError(
            f"rotary positions for {dim} features, which are no pairs",
            where=str(caller_location()),
            fix="give an even number, the size of a head",
        )
    return F.pow(base, F.arange(0, dim, 2, dtype=float64) * (-1.0 / dim))


def _table(frequencies: Tensor, length: int, scale: float, dtype: Any) -> Tensor:
    angles = F.outer(F.arange(length, dtype=float64), frequencies)
    pairs = F.stack([F.cos(angles), F.sin(angles)], axis=-1) * scale
    return F.cast(pairs, dtype or "float32")


@F.functional
def positional_embedding(
    dim: int, base: float, max_sequence_length: int, *, dtype: Any = None
) -> Tensor:
    """The table of rotations that `RotaryEmbedding` takes.

    Args:
        dim: features of a head, an even number.
        base: the longest wavelength is ``2 * pi * base``; usually 10000.
        max_sequence_length: number of positions.
        dtype: element type; float32 if left out. Computed in float64 and rounded once.

    Returns:
        Cosines and sines of shape (max_sequence_length, dim // 2, 2).

    Raises:
        ArgumentError: ``dim`` is odd.
    """
    return _table(_frequencies(dim, base), max_sequence_length, 1.0, dtype)


@F.functional
def yarn(
    dim: int,
    base: float,
    max_sequence_length: int,
    *,
    factor: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    dtype: Any = None,
) -> Tensor:
    """The table of rotations for a context that is longer than that of training (Peng et al. 2023).

    Args:
        dim: features of a head, an even number.
        base: as in `positional_embedding`.
        max_sequence_length: number of positions.
        factor: how many times longer the context is.
        original_length: context length of training.
        beta_fast: features with more rotations than this within ``original_length`` stay as they
            are.
        beta_slow: features with fewer are stretched by ``factor``; between both, linearly.
        dtype: as in `positional_embedding`.

    Returns:
        Shape (max_sequence_length, dim // 2, 2), scaled by ``0.1 * ln(factor) + 1``.

    Raises:
        ArgumentError: ``dim`` is odd, or the factor is less than 1.
    """
    if factor < 1.0:
        raise ArgumentError(
            f"yarn with factor={factor} would shorten the context",
            where=str(caller_location()),
            fix="give a factor of at least 1, or use positional_embedding",
        )
    plain = _frequencies(dim, base)

    def feature(rotations: float) -> float:
        return dim * math.log(original_length / (rotations * 2 * math.pi)) / (2 * math.log(base))

    low = max(math.floor(feature(beta_fast)), 0)
    high = min(math.ceil(feature(beta_slow)), dim - 1)
    ramp = (F.arange(dim // 2, dtype=float64) - float(low)) / float(max(high - low, 1e-3))
    stretched = F.clip(ramp, 0.0, 1.0)
    frequencies = plain * (1.0 - stretched) + plain / factor * stretched
    return _table(frequencies, max_sequence_length, 0.1 * math.log(factor) + 1.0, dtype)


class RotaryEmbedding(Module):
    """Rotates neighbouring pairs of features by angles that grow with the position.

    Args:
        weight: cosines and sines of shape (max_sequence_length, dim // 2, 2); see
            `positional_embedding`.

    Raises:
        ShapeError: the table has another shape.
    """

    weight: Tensor

    def __init__(self, weight: Tensor) -> None:
        if weight.rank != 3 or weight.shape[2] != 2:
            raise ShapeError(
                f"a table of rotations of {weight.type}",
                where=str(caller_location()),
                fix="give shape (positions, features // 2, 2), as positional_embedding makes it",
            )
        self.weight = weight

    @property
    def dim(self) -> int:
        """Features that it rotates."""
        return int(self.weight.shape[1]) * 2

    @property
    def max_sequence_length(self) -> int:
        """Positions that it knows."""
        return int(self.weight.shape[0])

    def forward(self, x: Tensor, start_pos: Any = 0) -> Tensor:
        """The rotated features.

        Args:
            x: shape (..., length, heads, dim).
            start_pos: position of the first; an int, an extent, or a 0-d integer tensor, which may
                change from call to call of a compiled function.

        Returns:
            The shape and dtype of ``x``; half types are computed in float32 and rounded once.

        Raises:
            ShapeError: another number of features.
            IndexBoundsError: a position beyond the table; at the next wait for one that is not
                known before.
        """
        if x.rank < 3 or x.shape[-1] != self.dim:
            raise ShapeError(
                f"rotary positions for {x.type}, the table is for {self.dim} features",
                where=str(caller_location()),
                fix=f"give shape (..., length, heads, {self.dim})",
            )
        return self._rotated(x, self._rows(x.shape[-3], start_pos))

    def _rows(self, length: Any, start_pos: Any) -> Tensor:
        """Rotations of the positions, with an axis for heads: (length, 1, dim // 2, 2)."""
        if isinstance(start_pos, int) and isinstance(length, int):
            # Known before anything runs, so that nothing has to be checked then.
            rows = self.weight[start_pos : start_pos + length]
            if start_pos < 0 or rows.shape[0] != length:
                raise ShapeError(
                    f"positions {start_pos} to {start_pos + length - 1}, the table has "
                    f"{self.max_sequence_length}",
                    where=str(caller_location()),
                    fix="make a longer table",
                )
        else:
            first = F.arange(length) + _position(start_pos)
            rows = F.gather(self.weight, first, axis=0)
        return F.unsqueeze(rows, 1)

    def _rotated(self, x: Tensor, rows: Tensor) -> Tensor:
        pairs = F.reshape(x, (*x.shape[:-1], self.dim // 2, 2))
        turned = F.stack(_turned(pairs[..., 0], pairs[..., 1], rows), axis=-1)
        return F.cast(F.reshape(turned, x.shape), x.dtype)


class TransposedRotaryEmbedding(RotaryEmbedding):
    """Like `RotaryEmbedding` for pairs of a feature of the first half and one of the second."""

    def _rotated(self, x: Tensor, rows: Tensor) -> Tensor:
        half = self.dim // 2
        turned = F.concat(_turned(x[..., :half], x[..., half:], rows), axis=-1)
        return F.cast(turned, x.dtype)


def _turned(first: Tensor, second: Tensor, rows: Tensor) -> list[Tensor]:
    """Both parts of each pair after its rotation."""
    cos, sin = rows[..., 0], rows[..., 1]
    return [first * cos - second * sin, first * sin + second * cos]


def _position(start_pos: Any) -> Any:
    """A position as something that adds to a tensor."""
    if isinstance(start_pos, Dim):
        raise ArgumentError(
            f"the position {start_pos} is an extent, and extents are no values",
            where=str(caller_location()),
            fix="pass a 0-d integer tensor",
        )
    return start_pos
