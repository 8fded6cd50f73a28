"""Memory probe: the peak of one W1 beyond what the process held when its input was ready.

    python -m benchmarks.probes.memory PEER

What is compiled or started for the first W1 counts. The kernel's high-water mark is set back to the
present once the input is there. Libraries are imported by the peer that needs them, and no other,
since each leaves its own traces in memory.
"""

from __future__ import annotations

import gc
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.workloads import WORKLOADS, chain

__all__ = ["main"]

W1 = WORKLOADS["W1"]
STATUS = Path("/proc/self/status")
RESET_PEAK = ("/proc/self/clear_refs", "5")


def status_bytes(name: str) -> int:
    """Reads a field of /proc/self/status that is given in kB.

    Raises:
        RuntimeError: there is no such field.
    """
    found = re.search(rf"^{name}:\s+(\d+) kB$", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"/proc/self/status has no {name}")
    return int(found[1]) * 1024


def numpy_w1() -> Callable[[], Any]:
    """Makes the input of NumPy."""
    (x,) = W1.inputs()
    return lambda: chain(x)


def torch_w1() -> Callable[[], Any]:
    """Makes the input of PyTorch."""
    import torch

    from benchmarks.peers import torch_modes

    x = torch.from_numpy(W1.inputs()[0])
    compute = torch_modes.FORMULAS["W1"]
    return lambda: compute(x)


def realta_w1() -> Callable[[], Any]:
    """Makes the input of Realta; W1 is compiled for it when called."""
    import realta

    from benchmarks.peers import realta_modes

    x = realta.Tensor(W1.inputs()[0], device=realta_modes.DEVICE)
    return lambda: realta_modes.compiled(W1)(x).realize()


PEERS: dict[str, Callable[[], Callable[[], Any]]] = {
    "numpy": numpy_w1,
    "torch": torch_w1,
    "realta": realta_w1,
}


def main(arguments: list[str]) -> int:
    """Prints the peak in bytes."""
    compute = PEERS[arguments[0]]()
    gc.collect()
    path, text = RESET_PEAK
    Path(path).write_text(text)
    before = status_bytes("VmRSS")
    result = compute()
    peak = status_bytes("VmHWM")
    assert result is not None
    print(json.dumps({"bytes": peak - before}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
