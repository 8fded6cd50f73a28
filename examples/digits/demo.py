"""Classifies handwritten digits eagerly, as a region, lazily and compiled, on every device present.

Shows that a network built under ``lazy()`` allocates nothing, that all modes give the same bits,
what each mode compiled and launched, and which ops share kernels. Writes ``demo.html``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import realta
from model import DigitClassifier
from numpy.typing import NDArray
from page import render_page
from realta import F, Tensor
from realta.fusion import Explanation
from realta.plugins import open_device
from realta.runtime import CompileEvent, Program, add_compile_wrapper, remove_wrapper

DATA = Path(__file__).parent / "data"
ROUNDS = 20
REQUIRED_ACCURACY = 0.97
Mode = Callable[[Tensor], Tensor]


@dataclass(frozen=True, slots=True)
class ModeResult:
    """What one mode did on one device: its probabilities, counts of its first call, median time."""

    device: str
    mode: str
    probabilities: NDArray[Any]
    compiled: int
    kernels: int
    peak_bytes: int
    fallbacks: int
    milliseconds: float


def build(device: str) -> DigitClassifier:
    """The network with its trained weights; built under ``lazy()``, where it costs no memory."""
    opened = open_device(device)
    before = opened.pool.stats().live
    with realta.default_device(device), realta.lazy("building"):
        network = DigitClassifier()
    grown = opened.pool.stats().live - before
    unreal = sum(not parameter.is_real for _, parameter in network.parameters)
    print(f"{device}: built lazily, {unreal} parameters unrealized, {grown} bytes allocated")
    check(grown == 0, f"lazy construction allocated {grown} bytes")
    network.load_state_dict(realta.load_tensors(DATA / "mlp.safetensors", device=device))
    return network


def modes(network: DigitClassifier, images: Tensor) -> dict[str, Callable[[], Mode]]:
    """For each of four ways to call the same network, what makes it; nothing is compiled before."""

    def lazily(batch: Tensor) -> Tensor:
        with realta.lazy("digits"):
            result = network.forward(batch)
        result.realize()
        return result

    return {
        "eager": lambda: network.forward,
        "region": lambda: F.functional(network.forward),
        "lazy": lambda: lazily,
        "compiled": lambda: realta.compile(network.forward, name="digits")(images.type),
    }


@contextmanager
def temporaries() -> Iterator[list[int]]:
    """Collects, of each graph compiled in the block, the bytes it keeps between its kernels."""
    found: list[int] = []

    def note(event: CompileEvent, call: Callable[[], Program]) -> Program:
        program = call()
        parts = [getattr(step, "executable", None) for step in program.plan.steps]
        found.append(max([part.temporary_bytes for part in parts if part], default=0))
        return program

    add_compile_wrapper(note)
    try:
        yield found
    finally:
        remove_wrapper(note)


def measure(device: str, mode: str, make: Callable[[], Mode], images: Tensor) -> ModeResult:
    """Calls a mode once with everything counted, then some rounds for the time."""
    opened = open_device(device)
    opened.programs.clear()
    opened.pool.reset_peak()
    live = opened.pool.stats().live
    misses, launches, fallbacks = (
        opened.programs.stats().misses,
        opened.launches,
        opened.fallbacks.total(),
    )
    with temporaries() as largest:
        call = make()
        result = call(images)
    probabilities = result.numpy(copy=True)
    # A kernel makes a small result itself, outside the pool.
    pooled = max(opened.pool.stats().peak - live, result.nbytes)
    counts = (
        opened.programs.stats().misses - misses,
        opened.launches - launches,
        pooled + max(largest, default=0),
        opened.fallbacks.total() - fallbacks,
    )
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call(images).realize()
        times.append(time.perf_counter() - start)
    return ModeResult(device, mode, probabilities, *counts, float(np.median(times)) * 1e3)


def run_device(
    device: str, pixels: NDArray[Any], labels: NDArray[Any]
) -> tuple[list[ModeResult], Explanation]:
    """All modes on one device, checked against each other."""
    network = build(device)
    images = Tensor(pixels, device=device)
    makers = modes(network, images)
    results = [measure(device, name, make, images) for name, make in makers.items()]
    by_mode = {result.mode: result for result in results}
    for result in results:
        same = result.probabilities.tobytes() == results[0].probabilities.tobytes()
        check(same, f"{device}: {result.mode} and {results[0].mode} differ")
        accuracy = (result.probabilities.argmax(-1) == labels).mean()
        check(accuracy >= REQUIRED_ACCURACY, f"{device}: {result.mode} is right in {accuracy:.1%}")
        check(result.fallbacks == 0, f"{device}: {result.mode} fell back to another device")
    if device.partition(":")[0] != "reference":
        # The reference device runs op by op, so it has nothing to fuse.
        for fused in ("region", "compiled"):
            fewer = by_mode[fused].kernels < by_mode["eager"].kernels
            check(fewer, f"{device}: {fused} ran no fewer kernels than eager")
    return results, realta.explain(network.forward, images)


def check(holds: bool, complaint: str) -> None:
    """Ends the program with a complaint unless a condition holds."""
    if not holds:
        raise SystemExit(f"demo: {complaint}")


def main() -> None:
    """Runs the demo and writes ``demo.html`` into the working directory."""
    data = realta.load_tensors(DATA / "digits_test.safetensors")
    pixels, labels = data["images"].numpy(), data["labels"].numpy()
    results: list[ModeResult] = []
    explanations: dict[str, Explanation] = {}
    for device in realta.devices():
        if device.backend in ("numpy", "reference", "llvm", "opencl", "cuda"):
            found, explanations[device.name] = run_device(device.name, pixels, labels)
            results += found
    rows = [
        {
            "device": r.device, "mode": r.mode, "graphs compiled": r.compiled,
            "kernels run": r.kernels, "peak kB": f"{r.peak_bytes / 1e3:.0f}",
            "median ms": f"{r.milliseconds:.3f}",
            "right": f"{(r.probabilities.argmax(-1) == labels).mean():.1%}",
        }
        for r in results
    ]  # fmt: skip
    widths = {name: max(len(name), *[len(str(row[name])) for row in rows]) for name in rows[0]}
    print("\n" + "  ".join(name.rjust(width) for name, width in widths.items()))
    for row in rows:
        print("  ".join(str(row[name]).rjust(width) for name, width in widths.items()))
    best = next(iter(explanations))
    layer = realta.explain(
        lambda x, w, b: F.relu(F.linear(x, w, b)), Tensor(pixels, device=best),
        *[realta.zeros(s, device=best) for s in ((128, 64), (128,))],
    )  # fmt: skip
    print(f"\nOne layer on {best}:\n\n{layer}\n")
    predictions = results[0].probabilities.argmax(-1)
    Path("demo.html").write_text(
        render_page(pixels, labels, predictions, rows, explanations), encoding="utf-8"
    )
    print("All modes gave the same bits. Wrote demo.html.")


if __name__ == "__main__":
    main()
