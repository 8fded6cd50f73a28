"""Classifies handwritten digits eagerly, as a region, lazily and compiled, on every device present.

Shows that a network built under ``lazy()`` allocates nothing, that all modes give the same bits, what
each mode compiled and launched, and which ops share kernels. Writes ``demo.html``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from model import DigitClassifier
from numpy.typing import NDArray
from page import render_page

import realta
from realta import F, Tensor
from realta.fusion import Explanation
from realta.plugins import open_device

DATA = Path(__file__).parent / "data"
ROUNDS = 20
REQUIRED_ACCURACY = 0.97


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


def modes(network: DigitClassifier, images: Tensor) -> dict[str, Callable[[Tensor], Tensor]]:
    """The same network to be called in four ways."""
    compiled = realta.compile(network.forward, name="digits")(images.type)

    def lazily(batch: Tensor) -> Tensor:
        with realta.lazy("digits"):
            result = network(batch)
        return result.realize()

    return {
        "eager": network.forward,
        "region": F.functional(network.forward),
        "lazy": lazily,
        "compiled": compiled,
    }


def measure(
    device: str, mode: str, make: Callable[[], Callable[[Tensor], Tensor]], images: Tensor
) -> ModeResult:
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
    call = make()
    result = call(images)
    probabilities = result.numpy(copy=True)
    counts = (
        opened.programs.stats().misses - misses,
        opened.launches - launches,
        opened.pool.stats().peak - live,
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
    names = list(modes(network, images))
    results = [
        measure(device, name, lambda name=name: modes(network, images)[name], images)
        for name in names
    ]
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
