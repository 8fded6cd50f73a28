"""Encoder: all-MiniLM-L6-v2, a BERT of six layers that turns sentences into vectors of length one.

Wang et al. 2020 (MiniLM), Devlin et al. 2019 (BERT), Reimers and Gurevych 2019 (mean pooling).
"""

from __future__ import annotations

from pathlib import Path

import realta
from realta import F, Tensor, TensorType, nn

DIM, WIDE, HEADS, LAYERS = 384, 1536, 12, 6
WORDS, POSITIONS, TYPES, EPS = 30522, 512, 2, 1e-12

# What the checkpoint calls the parts, from the longest to the shortest.
NAMES = {
    "encoder.layer.": "layers.",
    "embeddings.LayerNorm.": "norm.",
    "embeddings.word_embeddings.": "words.",
    "embeddings.position_embeddings.": "positions.",
    "embeddings.token_type_embeddings.": "types.",
    ".attention.self.": ".attention.",
    ".attention.output.LayerNorm.": ".attention_norm.",
    ".attention.output.dense.": ".attention.output.",
    ".intermediate.dense.": ".widen.",
    ".output.dense.": ".narrow.",
    ".output.LayerNorm.": ".norm.",
}
UNUSED = ("embeddings.position_ids", "pooler.")


class Layer(nn.Module):
    """Attention and two affine maps, each added to its input and normalized."""

    def __init__(self) -> None:
        self.attention = nn.MultiHeadAttention(DIM, HEADS)
        self.attention_norm = nn.LayerNorm(DIM, EPS)
        self.widen = nn.Linear(DIM, WIDE)
        self.narrow = nn.Linear(WIDE, DIM)
        self.norm = nn.LayerNorm(DIM, EPS)

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        """Shape (batch, length, DIM); ``seen`` says which positions hold words."""
        x = self.attention_norm(x + self.attention(x, mask=seen))
        return self.norm(x + self.narrow(F.gelu(self.widen(x))))


class Encoder(nn.Module):
    """Token numbers to a vector for each sentence."""

    def __init__(self) -> None:
        self.words = nn.Embedding(WORDS, dim=DIM)
        self.positions = nn.Embedding(POSITIONS, dim=DIM)
        self.types = nn.Embedding(TYPES, dim=DIM)
        self.norm = nn.LayerNorm(DIM, EPS)
        self.layers = [Layer() for _ in range(LAYERS)]

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Vectors of length one.

        Args:
            tokens: numbers of words, shape (batch, length).
            mask: True where there is a word, same shape.

        Returns:
            Shape (batch, DIM).
        """
        batch, length = tokens.shape
        positions = F.arange(length, device=tokens.device)
        x = self.words(tokens) + self.positions(positions) + self.types.weight[0]
        x = self.norm(x)
        seen = F.reshape(mask, (batch, 1, 1, length))
        for layer in self.layers:
            x = layer(x, seen)
        counted = F.cast(F.unsqueeze(mask, -1), x.dtype)
        mean = F.sum(x * counted, axis=1) / F.sum(counted, axis=1)
        return mean / F.sqrt(F.sum(mean * mean, axis=-1, keepdims=True))


def name_here(name: str) -> str | None:
    """What a name of the checkpoint is called here; None for what is not used."""
    if name.startswith(UNUSED):
        return None
    for theirs, ours in NAMES.items():
        name = name.replace(theirs, ours)
    return name


def load(weights: Path, device: str) -> Encoder:
    """The encoder with its weights: nothing is drawn, and nothing is allocated but what is read."""
    with realta.lazy(), realta.default_device(device):
        model = Encoder()
    model.load_state_dict(weights, names=name_here)
    return model


def compiled(model: Encoder) -> realta.CompiledFunction:
    """The encoder for any number of sentences of any length."""
    device = str(model.device)
    tokens = TensorType("int64", ("batch", "length"), device)
    return model.compile(tokens, tokens.with_dtype(realta.bool))
