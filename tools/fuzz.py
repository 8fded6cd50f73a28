"""Fuzz: random graphs of the registry's ops on a device, against the kernel interpreter.

    python -m tools.fuzz [--minutes M] [--seed N] [--device llvm:0]
    python -m tools.fuzz --replay build/fuzz/1.graph

For every graph: fused and op by op, and with 1, 2 and 5 threads, the device has to give the same
bits. For every op in it, on the values that the device itself gave: the bits of ``interp:0`` where
the op is exact or has a canonical order, else results within the bounds of spec 5a. What fails is
made smaller, printed as the text of a graph, and kept under build/fuzz with its operands.

Graphs in which a NaN reaches an op that reads its sign or its other bits are left out: of NaN they
say nothing.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from realta import set_num_threads
from realta.errors import RealtaError
from realta.graph import Builder, Graph, Node, Output, Value, parse
from realta.ops import OpDef, OpKind
from realta.passes import DeadCodeElimination
from realta.types import TensorType, tensor_type
from realta_conformance.device import Device
from realta_conformance.expected import expect
from realta_conformance.formats import wide
from realta_conformance.opening import open_named
from realta_conformance.oracle import compare, same_bits
from realta_conformance.packing import normal_graph
from realta_conformance.stepwise import run_compiled, run_graph

from tools.random_graphs import Array, random_graph

FOLDER = Path(__file__).resolve().parent.parent / "build" / "fuzz"
THREADS = (1, 2, 5)
BATCH = 16


@cache
def reads_nan(op: OpDef, types: tuple[TensorType, ...], attrs: Any) -> bool:
    """Whether results of an elementwise op depend on which NaN an operand is."""
    if op.kind is not OpKind.ELEMENTWISE:
        return False
    floats = [n for n, type in enumerate(types) if type.dtype.is_float]
    return any(not same_bits(*_of_nans(op, types, attrs, n)) for n in floats)


def _of_nans(op: OpDef, types: Sequence[TensorType], attrs: Any, place: int) -> list[Array]:
    """What an op makes of NaN and of -NaN as one of its operands, the others being 1."""
    found = []
    for sign in (1.0, -1.0):
        given = [np.ones((), t.dtype.numpy) for t in types]
        given[place] = np.copysign(np.nan, sign).astype(types[place].dtype.numpy)
        with np.errstate(all="ignore"):
            found.append(np.asarray(op.reference(*given, **attrs)))
    return found


@dataclass(slots=True)
class Trial:
    """A graph in normal form with its operands.

    Args:
        seed: what it was made from.
        graph: the graph.
        known: values as far as they are known: operands first, then what the device computed.
        fused: what the whole graph gave.
    """

    seed: int
    graph: Graph
    known: dict[Value, Array]
    fused: list[Array] = field(default_factory=list)


@dataclass(slots=True)
class Failure:
    """What went wrong, with a graph that shows it.

    Args:
        what: one line.
        graph: the graph, as small as it could be made.
        arrays: its operands.
        seed: of the graph that it was found in.
    """

    what: str
    graph: Graph
    arrays: list[Array]
    seed: int


class Fuzzer:
    """Makes and judges graphs.

    Args:
        device: the device under test.
        interpreter: the kernel interpreter.
    """

    def __init__(self, device: Device, interpreter: Device) -> None:
        self.device = device
        self.interpreter = interpreter
        self.counts: Counter[str] = Counter()
        self.ops: Counter[str] = Counter()

    def trial(self, seed: int) -> Trial | None:
        """The graph of a seed; None if the device does not take it."""
        made = random_graph(seed)
        return None if made is None else self.trial_of(*made, seed)

    def trial_of(self, graph: Graph, arrays: Sequence[Array], seed: int) -> Trial | None:
        """A graph and its operands, if the device takes it."""
        given = dict(zip(graph.inputs, arrays, strict=True))
        normal = DeadCodeElimination().run(normal_graph(self.device, graph))
        if any(self.device.refusal(node) is not None for node in normal.nodes):
            return None
        by_name = {graph.input_name(v): array for v, array in given.items()}
        known = {v: by_name[normal.input_name(v)] for v in normal.inputs}
        return Trial(seed, normal, known)

    def batch(self, trials: list[Trial]) -> Iterator[Failure]:
        """Judges several graphs together: their first ops are compiled at once, and so on."""
        good = []
        for trial in trials:
            try:
                trial.fused = self.whole(trial)
                good.append(trial)
            except Mismatch as found:
                yield self.smaller(trial, str(found))
            except RealtaError as error:
                yield self.smaller(trial, f"{type(error).__name__}: {error}")
        for step in range(max((len(t.graph.nodes) for t in good), default=0)):
            yield from self.step([t for t in good if step < len(t.graph.nodes)], step)
        for trial in good:
            if self.reads_nan(trial):
                self.counts["left out for a NaN"] += 1
                continue
            self.counts["graphs"] += 1
            values = [trial.known[v] for v in trial.graph.outputs]
            if not all(map(same_bits, trial.fused, values)):
                yield self.smaller(trial, "the whole graph gives other bits than op by op")

    def whole(self, trial: Trial) -> list[Array]:
        """The results of the whole graph, with every number of threads."""
        return self.fused(trial.graph, [trial.known[v] for v in trial.graph.inputs])

    def fused(self, graph: Graph, arrays: Sequence[Array]) -> list[Array]:
        """The results of a graph, which must not depend on the number of threads."""
        executable = self.device.compile(graph)
        try:
            found = []
            for count in THREADS:
                set_num_threads(count)
                found.append(run_compiled(self.device, executable, graph, arrays))
                if not all(map(same_bits, found[0], found[-1])):
                    raise Mismatch(f"{count} threads give other bits than {THREADS[0]}")
            return found[0]
        finally:
            executable.close()

    def step(self, trials: list[Trial], step: int) -> Iterator[Failure]:
        """One op of each graph, on the values that the device gave."""
        builder, arrays = Builder(f"step_{step}"), list[Array]()
        outputs: list[Value] = []
        for trial in trials:
            node = trial.graph.nodes[step]
            operands = []
            for value in node.operands:
                operands.append(builder.input(value.type, f"x{len(arrays)}"))
                arrays.append(trial.known[value])
            outputs += builder.add_node(node.op, tuple(operands), node.attrs).outputs
        graph = builder.finish(*outputs)
        results = run_graph(self.device, graph, arrays)
        others = run_graph(self.interpreter, graph, arrays)
        for trial in trials:
            node = trial.graph.nodes[step]
            self.ops[node.op.name] += 1
            count = len(node.outputs)
            mine, theirs = results[:count], others[:count]
            del results[:count], others[:count]
            trial.known.update(zip(node.outputs, mine, strict=True))
            wrong = self.judge(trial, node, mine, theirs)
            if wrong:
                yield Failure(wrong, *alone(trial, node), trial.seed)

    def judge(
        self, trial: Trial, node: Node, mine: Sequence[Array], theirs: Sequence[Array]
    ) -> str:
        """What is wrong with the results of an op; empty if nothing is."""
        types = [v.type for v in node.operands]
        given = [trial.known[v] for v in node.operands]
        if nan_reaches(node, given):
            return ""
        canonical = node.op.kind in (OpKind.REDUCE, OpKind.SCAN)
        if canonical or node.op.exact_for(node.op.data_dtype(types, node.types)):
            self.counts["ops compared bit by bit"] += 1
            if all(map(same_bits, mine, theirs)):
                return ""
            return f"{node.op.name} gives other bits than the interpreter"
        self.counts["ops compared within bounds"] += 1
        for got, truth in zip(mine, expect(node.op, given, types, node.attrs), strict=True):
            verdict = compare(node.op.name, got, truth)
            if not verdict.ok:
                return f"{node.op.name} is beyond its bound: {verdict.reason}"
        return ""

    def reads_nan(self, trial: Trial) -> bool:
        """Whether a NaN reached an op that tells NaNs apart."""
        return any(
            nan_reaches(node, [trial.known[v] for v in node.operands]) for node in trial.graph.nodes
        )

    # -- smaller graphs ---------------------------------------------------------------------------

    def smaller(self, trial: Trial, what: str) -> Failure:
        """A failure of a whole graph shown by as little of it as possible."""
        graph, arrays = trial.graph, [trial.known[v] for v in trial.graph.inputs]
        for node in trial.graph.nodes:
            part, given = cut(trial.graph, node, trial.known, set())
            if self.differs(part, given):
                graph, arrays = part, given
                break
        else:
            return Failure(what, graph, arrays, trial.seed)
        last, stopped = node, set[Value]()
        for value in trial.graph.nodes[: trial.graph.nodes.index(last)]:
            part, given = cut(trial.graph, last, trial.known, {*stopped, *value.outputs})
            if self.differs(part, given):
                graph, arrays = part, given
                stopped.update(value.outputs)
        return Failure(what, graph, arrays, trial.seed)

    def differs(self, graph: Graph, arrays: Sequence[Array]) -> bool:
        """Whether a graph as a whole, or with more threads, gives other bits than op by op."""
        try:
            whole = self.fused(graph, arrays)
        except (Mismatch, RealtaError):
            return True
        known = dict(zip(graph.inputs, arrays, strict=True))
        trial = Trial(0, graph, known)
        for step in range(len(graph.nodes)):
            list(self.step([trial], step))
        return not all(map(same_bits, whole, [known[v] for v in graph.outputs]))


class Mismatch(Exception):
    """The same graph gave other bits."""


def nan_reaches(node: Node, given: Sequence[Array]) -> bool:
    """Whether an op that tells NaNs apart is given one."""
    types = tuple(tensor_type(v.type.dtype, (), "") for v in node.operands)
    floats = [x for x, t in zip(given, types, strict=True) if t.dtype.is_float]
    if not any(np.isnan(wide(x)).any() for x in floats):
        return False
    return reads_nan(node.op, types, node.attrs)


def maker_of(value: Value) -> Value:
    """The node of a result; an input itself."""
    return value.node if isinstance(value, Output) else value


def cut(
    graph: Graph, node: Node, known: dict[Value, Array], stopped: set[Value]
) -> tuple[Graph, list[Array]]:
    """The part of a graph that makes a node, from its inputs and from values that are known."""
    needed: set[Value] = {node}
    for maker in reversed(graph.nodes):
        if maker in needed:
            needed.update(maker_of(v) for v in maker.operands if v not in stopped)
    builder, made, arrays = Builder(graph.name), dict[Value, Value](), list[Array]()

    def value_of(value: Value) -> Value:
        if value not in made:
            made[value] = builder.input(value.type, f"x{len(arrays)}")
            # What does not even compile does not compile with zeros either.
            zeros = np.zeros(value.type.static_shape, value.type.dtype.numpy)
            arrays.append(known.get(value, zeros))
        return made[value]

    for maker in graph.nodes:
        if maker in needed:
            copy = builder.add_node(maker.op, tuple(map(value_of, maker.operands)), maker.attrs)
            made.update(zip(maker.outputs, copy.outputs, strict=True))
    return builder.finish(*[made[v] for v in node.outputs]), arrays


def alone(trial: Trial, node: Node) -> tuple[Graph, list[Array]]:
    """An op as a graph of its own."""
    return cut(trial.graph, node, trial.known, set(trial.known) - set(node.outputs))


def keep(failure: Failure, number: int) -> None:
    """Prints a failure and writes it where it can be run again."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    place = FOLDER / f"{number}.graph"
    place.write_text(f"{failure.graph}\n")
    np.savez(place.with_suffix(".npz"), *[x.view(f"u{x.itemsize}") for x in failure.arrays])
    print(f"\nFAILED (seed {failure.seed}): {failure.what}\n{failure.graph}")
    print(f"again: python -m tools.fuzz --replay {place.relative_to(Path.cwd())}", flush=True)


def replay(fuzzer: Fuzzer, place: Path) -> int:
    """Judges a graph that was kept."""
    graph = parse(place.read_text())
    with np.load(place.with_suffix(".npz")) as held:
        arrays = [
            held[name].view(value.type.dtype.numpy)
            for name, value in zip(held.files, graph.inputs, strict=True)
        ]
    trial = fuzzer.trial_of(graph, arrays, 0)
    found = [] if trial is None else list(fuzzer.batch([trial]))
    for failure in found:
        print(f"{failure.what}\n{failure.graph}")
    print("it fails" if found else "it passes")
    return int(bool(found))


def split_all_work() -> None:
    """Makes the LLVM backend share out every kernel, however short, among the threads.

    Raises:
        AttributeError: it no longer has the number that says from when on it does.
    """
    launching: Any = importlib.import_module("realta_llvm.launching")
    launching._SPLIT_FROM = launching._SPLIT_FROM * 0


def run(fuzzer: Fuzzer, minutes: float, seed: int, tell: Callable[[str], None]) -> int:
    """Fuzzes for some minutes; the number of failures."""
    start = told = time.monotonic()
    failures = 0
    while time.monotonic() - start < 60 * minutes:
        trials = [fuzzer.trial(n) for n in range(seed, seed + BATCH)]
        for failure in fuzzer.batch([t for t in trials if t is not None]):
            failures += 1
            keep(failure, failures)
        seed += BATCH
        if time.monotonic() - told > 15:
            told = time.monotonic()
            tell(f"{told - start:4.0f} s: {fuzzer.counts['graphs']} graphs, {failures} failures")
    counts = ", ".join(f"{count} {what}" for what, count in fuzzer.counts.items())
    tell(f"{counts}; {len(fuzzer.ops)} ops; next seed {seed}; {failures} failures")
    return failures


def main(arguments: Sequence[str]) -> int:
    """Fuzzes, or runs what was kept; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="llvm:0")
    parser.add_argument("--replay", type=Path)
    given = parser.parse_args(arguments)
    # Each kernel is built for one graph: none is worth keeping.
    os.environ["REALTA_CACHE"] = "off"
    fuzzer = Fuzzer(open_named(given.device), open_named("interp:0"))
    if given.device.startswith("llvm"):
        split_all_work()
    if given.replay:
        return replay(fuzzer, given.replay)
    failures = run(fuzzer, given.minutes, given.seed, lambda line: print(line, flush=True))
    return int(failures > 0 or not fuzzer.counts["graphs"])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
