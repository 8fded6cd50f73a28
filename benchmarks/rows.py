"""Rows: what is promised, as data, and how each promise is measured.

A row's figure must not be above its target. Rows of workloads compare two peers of one interleaved
run; the others run fresh processes.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks import processes
from benchmarks.processes import Failed
from benchmarks.side_by_side import Timing, Timings
from benchmarks.workloads import WORKLOADS

__all__ = [
    "FULL", "LIMIT", "QUICK", "Measured", "Row", "Settings", "cold_start", "compare",
    "compare_processes", "groups", "growth", "imports", "left_behind", "memory", "microseconds",
    "milliseconds", "ratio", "tracing", "workload_row",
]  # fmt: skip

LIMIT = "copy"
"""The peer that copies as many bytes as a workload reads and writes."""
Figures = Mapping[str, Mapping[str, float]]  # by who was measured, then by what


@dataclass(frozen=True, slots=True)
class Settings:
    """How thoroughly to measure.

    Attributes:
        rounds: windows a peer has on each workload.
        window_scale: factor on the length of windows.
        processes: fresh processes that each side of a comparison of processes has.
        traced: nodes recorded to time tracing.
        chain: length of the shorter of two chains whose costs are compared; the other is three
            times longer.
        operations: small eager operations run to see what they leave.
    """

    rounds: int = 9
    window_scale: float = 1.0
    processes: int = 31
    traced: int = 100_000
    chain: int = 100_000
    operations: int = 20_000


FULL = Settings()
QUICK = Settings(rounds=2, window_scale=0.2, processes=2, traced=5000, chain=3000, operations=2000)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a row's measurement found.

    Attributes:
        got: the figure that is compared with the target; None if it could not be measured.
        figures: what it was computed from.
        note: why there is no figure.
    """

    got: float | None
    figures: Figures = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One promise.

    Attributes:
        id: its name in tables, files and on the command line.
        what: what is measured.
        target: the largest figure that passes.
        unit: what the figure and the target count.
        measure: measures it in fresh processes; rows of workloads have none.
        workload: the workload of a row that compares two peers.
        who: the peers that are promised to be fast; the fastest of those present counts.
        beside: the peer that they are compared with.
        share: the part of that peer's time that is compared with.
        floor: copies that are compared with where they take longer than that.
    """

    id: str
    what: str
    target: float
    unit: str
    measure: Callable[[Settings], Measured] | None = None
    workload: str = ""
    who: tuple[str, ...] = ("realta",)
    beside: str = ""
    share: float = 1.0
    floor: float = 0.0

    def __post_init__(self) -> None:
        if (self.measure is None) == (not self.workload):
            raise ValueError(f"row {self.id} needs a measurement or a workload, and not both")


def seconds(timing: Timing) -> dict[str, float]:
    """The figures of one peer."""
    return {"seconds": timing.median, "spread": timing.spread}


def compare(row: Row, timings: Timings) -> Measured:
    """Divides the times of the two peers that a row compares, round by round, for their median.

    The windows of a round are neighbours; between rounds the machine may change its pace.
    """
    measured = timings[row.workload]
    figures = {peer: seconds(t) for peer, t in measured.items() if not t.failure}
    present = [peer for peer in row.who if peer in figures]
    needed = [row.beside, *([LIMIT] if row.floor else [])]
    missing = [peer for peer in needed if peer not in figures]
    for peer in missing or ([] if present else row.who):
        return Measured(None, figures, f"{peer}: {measured[peer].failure}")
    best = min(present, key=lambda peer: measured[peer].median)
    allowed = [row.share * window for window in measured[row.beside].windows]
    if row.floor:
        copies = [row.floor * window for window in measured[LIMIT].windows]
        allowed = list(map(max, allowed, copies))
    ratios = [own / other for own, other in zip(measured[best].windows, allowed, strict=True)]
    return Measured(statistics.median(ratios), figures)


def compare_processes(peers: Mapping[str, Callable[[], float]], settings: Settings) -> Measured:
    """Measures two kinds of process in turn; the median of what the last takes over the first.

    Neighbours are divided, since a machine may be twice as fast a second later. One process of each
    kind goes first and does not count: it writes byte code and fills caches.
    """
    timings = {peer: Timing() for peer in peers}
    for number in range(settings.processes + 1):
        for peer, measure in peers.items():
            elapsed = measure()
            if number:
                timings[peer].windows.append(elapsed)
    first, last = (timing.windows for timing in timings.values())
    ratios = [ours / theirs for theirs, ours in zip(first, last, strict=True)]
    return Measured(statistics.median(ratios), {p: seconds(t) for p, t in timings.items()})


def import_seconds(module: str) -> float:
    """Imports a module in a fresh process and returns how long the import took."""
    clock = "from time import perf_counter as now; start = now()"
    return float(processes.run("-c", f"{clock}; import {module}; print(now() - start)"))


def imports(settings: Settings) -> Measured:
    """Compares the import of Realta with that of NumPy."""
    return compare_processes(
        {"numpy": lambda: import_seconds("numpy"), "realta": lambda: import_seconds("realta")},
        settings,
    )


def cold_start(settings: Settings) -> Measured:
    """Compares processes from their start until they print an element of W1's result."""
    return compare_processes(
        {
            "numpy": lambda: processes.seconds_until_result("cold_numpy"),
            "realta": lambda: processes.seconds_until_result("cold_realta"),
        },
        settings,
    )


def memory(settings: Settings) -> Measured:
    """Measures the peak of W1 beyond its input, in megabytes, of Realta and of peers present."""
    figures: dict[str, dict[str, float]] = {}
    for peer in ("numpy", "torch", "realta"):
        try:
            peaks = [
                processes.probe("memory", peer)["bytes"]
                for _ in range(max(1, settings.processes // 10))
            ]
        except Failed as failure:
            if peer == "realta":
                return Measured(None, figures, f"{peer}: {failure}")
            continue
        figures[peer] = {"megabytes": statistics.median(peaks) / 1e6}
    return Measured(figures["realta"]["megabytes"], figures)


def paced(found: Callable[[], Mapping[str, float]], what: str, scale: float) -> Measured:
    """Measures a time and the machine's pace before and after it, by which the time is divided."""
    before = processes.probe("pace")["pace"]
    figures = found()
    pace = (before + processes.probe("pace")["pace"]) / 2
    got = figures[what] * scale / pace
    return Measured(got, {"realta": figures, "machine": {"pace": pace}})


def tracing(settings: Settings) -> Measured:
    """Measures the microseconds that a lazily recorded node takes."""
    return paced(lambda: processes.probe("tracing", str(settings.traced)), "seconds", 1e6)


def growth(settings: Settings) -> Measured:
    """Compares every step of a chain with the same step of one three times longer.

    The figure is that of the step that grows most. Three would be exactly linear; the target leaves
    room for noise, none for n·√n, which gives 5.2. Both chains are far longer than the caches hold.
    """
    # No two chains are equally long, or the later ones would find the first one's kernels.
    lengths = [settings.chain, settings.chain + 2, settings.chain + 4, settings.chain * 3]
    *shorter, longer = processes.probe("growth", *map(str, lengths))
    figures = {}
    for step, elapsed in longer.items():
        before = statistics.median(run[step] for run in shorter)
        figures[step] = {"short": before, "long": elapsed, "ratio": elapsed / before}
    return Measured(max(step["ratio"] for step in figures.values()), figures)


def left_behind(what: str) -> Callable[[Settings], Measured]:
    """Returns a measurement of what small eager operations leave."""

    def measure(settings: Settings) -> Measured:
        found = processes.probe("flatness", str(settings.operations))
        return Measured(float(found[what]), {"realta": found})

    return measure


def groups(workload: str) -> Callable[[Settings], Measured]:
    """Returns a measurement of how many kernels a compiled workload has."""

    def measure(_settings: Settings) -> Measured:
        found = processes.probe("groups", workload)
        return Measured(float(found["groups"]), {"realta": found})

    return measure


def workload_row(
    workload: str,
    target: float,
    beside: str,
    how: str = "compiled",
    who: tuple[str, ...] = ("realta",),
) -> Row:
    """Makes the row that compares Realta with a peer on a workload."""
    what = f"{WORKLOADS[workload].what}, {how}"
    return Row(workload, what, target, f"× {beside}", workload=workload, who=who, beside=beside)


def milliseconds(probe: str, what: str) -> Callable[[Settings], Measured]:
    """Returns a measurement of a probe that prints seconds by name, held against milliseconds.

    It is divided by the machine's pace; see `benchmarks.probes.pace`.
    """
    return lambda _settings: paced(lambda: processes.probe(probe), what, 1e3)


def microseconds(probe: str, what: str) -> Callable[[Settings], Measured]:
    """The same for microseconds."""
    return lambda _settings: paced(lambda: processes.probe(probe), what, 1e6)


def ratio(probe: str, what: str) -> Callable[[Settings], Measured]:
    """Returns a measurement of a probe that prints ratios by name."""

    def measure(_settings: Settings) -> Measured:
        found = processes.probe(probe)
        return Measured(found[what], {"realta": found})

    return measure
