"""New extents probe: what a compiled encoder of six layers takes for extents it has not met.

python -m benchmarks.probes.new_extents

The encoder is that of examples/minilm made narrow, so that planning is not lost in the noise of
computing. Each set of extents is called several times; the figures are the seconds of this thread's
processor time that the first call takes beyond the median of the others. A twin meets the extents
before, so that memory of these sizes is there: fresh pages cost more than all the rest.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time

import numpy as np
import realta
from realta import Tensor

from benchmarks.peers.realta_modes import DEVICE
from benchmarks.probes.minilm import EXAMPLE

__all__ = ["main"]

NARROW = {"DIM": 24, "WIDE": 96, "WORDS": 100, "POSITIONS": 100}
WARM, CALLS, AGAIN = 8, 50, 5


def main(_arguments: list[str]) -> int:
    """Prints the figures."""
    sys.path.insert(0, str(EXAMPLE.parent))
    example = importlib.import_module("encoder")
    vars(example).update(NARROW)
    with realta.default_device(DEVICE):
        model = example.Encoder()
        for parameter in model.state_dict().values():
            parameter.realize()
        encoder, twin = example.compiled(model), example.compiled(model)
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
