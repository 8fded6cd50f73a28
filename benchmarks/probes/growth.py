"""Growth probe: what a chain of operations costs to build, print, hash, pickle, run and let die.

    python -m benchmarks.probes.growth LENGTH [LENGTH ...]

Prints the seconds of each step for each length in turn, at the default recursion limit. Give each
length once: a chain that was run before is not compiled again.
"""

from __future__ import annotations

import gc
import json
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import realta
from realta import F

from benchmarks.peers.realta_modes import DEVICE

__all__ = ["main"]

T = TypeVar("T")


class Steps:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, do: Callable[[], T]) -> T:
        """Does a step and notes how long it took."""
        start = time.perf_counter()
        done = do()
        self.seconds[name] = time.perf_counter() - start
        return done


def build(length: int) -> tuple[Any, realta.Tensor]:
    """Records a chain; returns its context and its end, and keeps nothing between."""
    x = realta.Tensor(np.full(4, 0.5, np.float32), device=DEVICE)
    with realta.lazy() as context:
        y = x
        for _ in range(length // 2):
            y = F.tanh(y + x)
    return context, y


def measure(length: int) -> dict[str, float]:
    """Times every step for one length and checks what the chain computes.

    Raises:
        RuntimeError: the graph that was pickled came back different, or the result is wrong.
    """
    steps = Steps()
    context, y = steps.time("build", lambda: build(length))
    graph = context.graph
    text = steps.time("print", lambda: str(graph))
    steps.time("hash", lambda: hash(graph))
    copy = steps.time("pickle", lambda: pickle.loads(pickle.dumps(graph)))
    if len(copy) != len(graph) or text.count("\n") < length:
        raise RuntimeError("the pickled or printed graph lost operations")
    del copy, text, graph
    steps.time("run", y.realize)
    expected = np.full(4, 0.5, np.float32)
    for _ in range(length // 2):
        expected = np.tanh(expected + np.float32(0.5))
    if not np.allclose(y.numpy(), expected, rtol=1e-4):
        raise RuntimeError("the chain computed something else")
    del y, context
    context, y = build(length)
    graph = context.graph

    def die() -> None:
        nonlocal context, y, graph
        del context, y, graph
        gc.collect()

    steps.time("die", die)
    return steps.seconds


def main(arguments: list[str]) -> int:
    """Prints, for each length, the seconds by step."""
    measure(100)
    print(json.dumps([measure(int(length)) for length in arguments]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
