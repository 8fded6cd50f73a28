"""New extents probe: what a compiled encoder of six layers takes for extents it has not met.

python -m benchmarks.probes.new_extents

The encoder has the structure of MiniLM and is narrow, so that planning is not lost in the noise of
computing. Each set of extents is called several times; the figures are the seconds of this thread's
processor time that the first call takes beyond the median of the others. A twin meets the extents
before, so that memory of these sizes is there: fresh pages cost more than all the rest.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import numpy as np
import realta
from realta import F, Tensor, TensorType, nn

from benchmarks.peers.realta_modes import DEVICE

__all__ = ["main"]

DIM, WIDE, HEADS, LAYERS, WORDS = 24, 96, 12, 6, 100
WARM, CALLS, AGAIN = 8, 50, 5


class Layer(nn.Module):
    """Attention and two affine maps, each added to its input and normalized."""

    def __init__(self) -> None:
        self.attention = nn.MultiHeadAttention(DIM, HEADS)
        self.attention_norm = nn.LayerNorm(DIM)
        self.widen = nn.Linear(DIM, WIDE)
        self.narrow = nn.Linear(WIDE, DIM)
        self.norm = nn.LayerNorm(DIM)

    def forward(self, x: Tensor, seen: Tensor) -> Tensor:
        """Shape (batch, length, DIM)."""
        x = self.attention_norm(x + self.attention(x, mask=seen))
        return self.norm(x + self.narrow(F.gelu(self.widen(x))))


class Encoder(nn.Module):
    """Token numbers to a vector for each sentence."""

    def __init__(self) -> None:
        self.words = nn.Embedding(WORDS, dim=DIM)
        self.positions = nn.Embedding(WORDS, dim=DIM)
        self.norm = nn.LayerNorm(DIM)
        self.layers = [Layer() for _ in range(LAYERS)]

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Shape (batch, DIM)."""
        batch, length = tokens.shape
        x = self.words(tokens) + self.positions(F.arange(length, device=tokens.device))
        x = self.norm(x)
        seen = F.reshape(mask, (batch, 1, 1, length))
        for layer in self.layers:
            x = layer(x, seen)
        counted = F.cast(F.unsqueeze(mask, -1), x.dtype)
        return F.sum(x * counted, axis=1) / F.sum(counted, axis=1)


def main(_arguments: list[str]) -> int:
    """Prints the figures."""
    with realta.default_device(DEVICE):
        model = Encoder()
        for parameter in model.state_dict().values():
            parameter.realize()
        types = [TensorType(dtype, ("batch", "length"), DEVICE) for dtype in ("int64", "bool")]
        encoder, twin = model.compile(*types), model.compile(*types)
    beyond = []
    for number in range(WARM + CALLS):
        shape = 2 + number % 4, 8 + number
        tokens = Tensor(np.ones(shape, np.int64), device=DEVICE)
        mask = Tensor(np.ones(shape, bool), device=DEVICE)
        twin(tokens, mask)
        seconds = []
        for _ in range(1 + AGAIN):
            start = time.thread_time()
            encoder(tokens, mask)
            seconds.append(time.thread_time() - start)
        if number >= WARM:
            beyond.append(seconds[0] - statistics.median(seconds[1:]))
    print(json.dumps({"median": statistics.median(beyond), "worst": max(beyond)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
