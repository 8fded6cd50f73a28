"""First kernel probe: from an imported library to the first result of W1 on an OpenCL device.

    python -m benchmarks.probes.first_kernel [DEVICE]

Starts processes of its own, with an empty cache directory and then with what the first ones left
in it; the driver's own caches lie there too. What is measured is opening the device, compiling W1
and running it once.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

REPEATS = 3
ONE = """
import sys, time
import numpy as np
import realta
from benchmarks.peers.realta_modes import FORMULAS
x = np.linspace(-4, 4, 1_000_000, dtype=np.float32)
start = time.perf_counter()
realta.compile(FORMULAS["W1"])(realta.TensorType("float32", x.shape, sys.argv[1]))(
    realta.Tensor(x, device=sys.argv[1])
).realize()
print(time.perf_counter() - start)
"""


def once(device: str, folder: str) -> float:
    """The seconds of one process whose caches lie in a folder."""
    caches = {
        "REALTA_CACHE_DIR": str(Path(folder) / "realta"),
        "POCL_CACHE_DIR": str(Path(folder) / "pocl"),
        "XDG_CACHE_HOME": str(Path(folder) / "other"),
    }
    for path in caches.values():
        Path(path).mkdir(exist_ok=True)
    command = [sys.executable, "-c", ONE, device]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **caches}
    )
    return float(done.stdout.split()[-1])


def main(arguments: list[str]) -> int:
    """Prints the median with an empty and with a filled cache."""
    device = arguments[0] if arguments else "opencl:pocl"
    cold, warm = [], []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            cold.append(once(device, folder))
            warm.append(once(device, folder))
    print(json.dumps({"cold": statistics.median(cold), "warm": statistics.median(warm)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
