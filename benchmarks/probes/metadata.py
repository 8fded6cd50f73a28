"""Metadata probe: eager indexing, reshaping and the like, beside NumPy, which makes views.

python -m benchmarks.probes.metadata

Prints for each expression the seconds of Realta beyond twice those of NumPy, and the worst.
"""

from __future__ import annotations

import json
import sys
from timeit import Timer

import numpy as np
import realta

from benchmarks.peers.realta_modes import DEVICE

__all__ = ["main"]

EXPRESSIONS = {
    "x[3]": "x[3]",
    "x[1:5]": "x[1:5]",
    "x[-1]": "x[-1]",
    "x[2, 3]": "x[2, 3]",
    "x[:, 1:9]": "x[:, 1:9]",
    "x[..., None]": "x[..., None]",
    "x[::-1]": "x[::-1]",
    "x.T": "x.T",
    "x.reshape": "x.reshape((8, 32))",
    "squeeze": "y.squeeze(0)",
    "broadcast": "broadcast_to(x, (4, 16, 16))",
}
SIZE = 16
CALLS, ROUNDS = 500, 60


def main(_arguments: list[str]) -> int:
    """Prints the figures."""
    array = np.arange(SIZE * SIZE, dtype=np.float32).reshape(SIZE, SIZE)
    tensor = realta.Tensor(array, device=DEVICE)
    sides = [
        {"x": array, "y": array[None], "broadcast_to": np.broadcast_to},
        {
            "x": tensor,
            "y": realta.Tensor(array[None], device=DEVICE),
            "broadcast_to": realta.F.broadcast_to,
        },
    ]
    found = {}
    for name, expression in EXPRESSIONS.items():
        timers = [Timer(expression, globals=names) for names in sides]
        best = [float("inf")] * 2
        for _ in range(ROUNDS):
            best = [min(b, t.timeit(CALLS) / CALLS) for b, t in zip(best, timers, strict=True)]
        found[name] = best[1] - 2 * best[0]
    print(json.dumps(found | {"worst": max(found.values())}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
