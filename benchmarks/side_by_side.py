"""Side by side: windows of all peers of a workload, round robin, and their medians.

All peers of a workload are ready before the first window. In every round each peer has one window
while the others wait, and the order turns by one from round to round, so that neither a slow
minute of the machine nor a neighbour's warm cache favours one of them.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.processes import Failed, WorkerProcess
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["Timing", "Timings", "measure"]

NO_PEERS: Mapping[str, Sequence[str]] = {}
SETTLE_SECONDS = 0.03  # threads that spin after parallel work go to sleep meanwhile


@dataclass(slots=True)
class Timing:
    """What was measured of one peer on one workload.

    Attributes:
        windows: seconds per statement, the median of each window.
        failure: why there are none.
    """

    windows: list[float] = field(default_factory=list)
    failure: str = ""

    @property
    def median(self) -> float:
        """Seconds per statement, the median over rounds."""
        return statistics.median(self.windows)

    @property
    def spread(self) -> float:
        """The distance between the quartiles of the rounds over their median."""
        if len(self.windows) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.windows, n=4, method="inclusive")
        return (high - low) / self.median


Timings = dict[str, dict[str, Timing]]  # by workload, then by peer


def prepare(
    workload: Workload, peers: Sequence[str], workers: dict[str, WorkerProcess]
) -> dict[str, Timing]:
    """Makes a workload ready in all its peers at once; those that cannot have a failure."""
    for peer in peers:
        workers[peer].send({"prepare": workload.id})
    timings = {}
    for peer in peers:
        timings[peer] = Timing()
        try:
            workers[peer].receive()
        except Failed as failure:
            timings[peer].failure = str(failure)
    return timings


def measure_workload(
    workload: Workload,
    peers: Sequence[str],
    workers: dict[str, WorkerProcess],
    rounds: int,
    window_scale: float,
    advance: Callable[[str], None],
) -> dict[str, Timing]:
    """Measures one workload in rounds and releases it."""
    timings = prepare(workload, peers, workers)
    for number in range(rounds):
        turn = number % len(peers)
        for peer in (*peers[turn:], *peers[:turn]):
            if timings[peer].failure:
                continue
            time.sleep(SETTLE_SECONDS)
            try:
                workers[peer].send({"window": workload.window * window_scale})
                timings[peer].windows.append(workers[peer].receive()["seconds"])
            except Failed as failure:
                timings[peer] = Timing(failure=str(failure))
        advance(f"{workload.id} {workload.what}")
    for peer in peers:
        if not timings[peer].failure:
            workers[peer].send({"release": True})
            workers[peer].receive()
    return timings


def measure(
    names: Iterable[str],
    *,
    rounds: int,
    window_scale: float = 1.0,
    peers: Mapping[str, Sequence[str]] = NO_PEERS,
    advance: Callable[[str], None] = lambda _what: None,
) -> Timings:
    """Measures workloads with all their peers.

    Args:
        names: ids of the workloads.
        rounds: windows a peer.
        window_scale: factor on the length of every window.
        peers: by workload, who computes it, where that is not `Workload.peers`.
        advance: called after each round with what is being measured.
    """
    wanted = [WORKLOADS[name] for name in names]
    chosen = {w.id: tuple(peers.get(w.id, w.peers)) for w in wanted}
    with ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile("w"))
        workers = {}
        for peer in dict.fromkeys(peer for names in chosen.values() for peer in names):
            workers[peer] = WorkerProcess(peer, errors)
            stack.callback(workers[peer].close)
        return {
            w.id: measure_workload(w, chosen[w.id], workers, rounds, window_scale, advance)
            for w in wanted
        }
