"""MiniLM probe: runs the example of sentence embeddings beside transformers on torch.

python -m benchmarks.probes.minilm

Prints the seconds of compiling the encoder, its time beside torch eager, and the largest error.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.peers.realta_modes import DEVICE
from benchmarks.processes import ROOT

__all__ = ["main"]

EXAMPLE = ROOT / "examples" / "minilm" / "minilm.py"


def main(_arguments: list[str]) -> int:
    """Prints the figures."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "minilm.json"
        command = [sys.executable, str(EXAMPLE), "--json", str(path)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        found = json.loads(path.read_text(encoding="utf-8"))
    pairs = zip(found["seconds"][DEVICE], found["seconds"]["torch eager"], strict=True)
    print(
        json.dumps(
            {
                "compile": found["devices"][DEVICE]["compile"],
                "beside_torch": statistics.median(ours / theirs for ours, theirs in pairs),
                "error": found["devices"][DEVICE]["error"],
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
