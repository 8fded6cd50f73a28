"""Small calls probe: a cast, a region of twenty operations, and a compiled call.

python -m benchmarks.probes.small_calls

Prints seconds: of a cast of ten floats to integers; of a region of twenty operations on ten
elements that was traced before; and what a compiled addition takes beyond NumPy's own.
"""

from __future__ import annotations

import json
import sys
from timeit import Timer
from typing import Any

import numpy as np
import realta
from realta import F

from benchmarks.peers.realta_modes import DEVICE, twenty

__all__ = ["main"]

CALLS, ROUNDS = 300, 60


def seconds(statement: str, names: dict[str, Any]) -> float:
    """The least seconds of a statement over rounds."""
    timer = Timer(statement, globals=names)
    return min(timer.timeit(CALLS) / CALLS for _ in range(ROUNDS))


def main(_arguments: list[str]) -> int:
    """Prints the figures."""
    array = np.linspace(-9, 9, 10, dtype=np.float32)
    x, y = (realta.Tensor(array, device=DEVICE) for _ in range(2))
    add = realta.compile(lambda a, b: a + b)(x.type, y.type)
    names = {
        "x": x, "y": y, "array": array, "int32": realta.int32, "add": add,
        "region": F.functional(twenty),
    }  # fmt: skip
    compiled, kernel = seconds("add(x, y)", names), seconds("array + array", names)
    found = {
        "cast": seconds("x.cast(int32)", names),
        "region": seconds("region(x, y)", names),
        "call": compiled - kernel,
    }
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
