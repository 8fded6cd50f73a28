"""Execution: runs a pack through the contract and makes every check that can be made on it.

One pack is called three times: with its operands, with others in the same buffers, and with the
first ones again. In between everything is read back and overwritten, so that a result that shares
memory with anything shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from realta.backend import Executable, Handle, TensorType, UnsupportedOp

from realta_conformance.case import Case
from realta_conformance.device import Device
from realta_conformance.formats import Array
from realta_conformance.judging import judge_results
from realta_conformance.oracle import Verdict, same_bits
from realta_conformance.packing import Pack, launches_of, pack

__all__ = ["Findings", "run_alone", "run_constants", "run_pack"]


@dataclass(slots=True)
class Findings:
    """What running a case showed.

    Args:
        case: the case.
        failures: for each check that failed, why.
        max_ulp: the largest distance from the truth.
        bound_use: the largest share of its bound that an element uses.
        worst: the place of the worst wrong element, and the call it is wrong in.
        launches: kernels that took part.
        results: what the first call returned.
    """

    case: Case
    failures: dict[str, str] = field(default_factory=dict)
    max_ulp: float = 0.0
    bound_use: float = 0.0
    worst: tuple[tuple[int, ...], int] = ((), 0)
    launches: int = 0
    results: list[Array] = field(default_factory=list)

    def fail(self, check: str, reason: str) -> None:
        """Notes a failure; the first reason for a check stays."""
        self.failures.setdefault(check, reason)


def raised(error: Exception, declared: bool = True) -> tuple[str, str]:
    """The check that an exception fails, and its text."""
    text = str(error).strip().splitlines()
    reason = f"{type(error).__name__}: {text[0] if text else 'no message'}"
    check = "claims" if isinstance(error, UnsupportedOp) and declared else "run"
    return check, reason


def run_pack(device: Device, cases: Sequence[Case]) -> list[Findings]:
    """Runs cases together; splits a pack that raises until the guilty cases stand alone."""
    done: list[Findings] = []
    waiting = [tuple(cases)]
    while waiting:
        portion = waiting.pop(0)
        try:
            done += _attempt(device, portion)
        except Exception as error:
            if len(portion) == 1:
                found = Findings(portion[0])
                found.fail(*raised(error))
                done.append(found)
                continue
            middle = len(portion) // 2
            waiting[:0] = [portion[:middle], portion[middle:]]
    return done


def run_alone(device: Device, case: Case) -> Findings:
    """Runs one case in a graph of its own."""
    return run_pack(device, [case])[0]


def _attempt(device: Device, cases: Sequence[Case]) -> list[Findings]:
    packed = pack(device, cases)
    found = [Findings(case) for case in cases]
    executable = device.compile(packed.graph)
    try:
        for n, count in enumerate(launches_of(packed, executable)):
            found[n].launches = count or 0
            if count == 0:
                found[n].fail("launches", "no reported kernel has a part in it")
        with device.holding() as hold:
            inputs = [device.upload(x, t) for x, t in _typed(packed, 0)]
            hold(inputs)
            _three_calls(_Run(device, packed, executable, inputs, found), hold)
    finally:
        executable.close()
    return found


def _typed(packed: Pack, turn: int) -> list[tuple[Array, TensorType]]:
    return list(zip(packed.operands[turn], packed.input_types, strict=True))


class _Run:
    """One executable with its inputs, and the findings of its cases."""

    def __init__(
        self,
        device: Device,
        packed: Pack,
        executable: Executable,
        inputs: list[Handle],
        found: list[Findings],
    ) -> None:
        self.device = device
        self.packed = packed
        self.executable = executable
        self.inputs = inputs
        self.found = found

    def call(self) -> list[Handle]:
        return self.device.run(self.executable, self.inputs, self.packed.output_types)

    def read(self, handles: Sequence[Handle]) -> list[Array]:
        types = self.packed.output_types
        return [self.device.read(h, t) for h, t in zip(handles, types, strict=True)]

    def give(self, turn: int) -> None:
        for handle, (array, type_) in zip(self.inputs, _typed(self.packed, turn), strict=True):
            self.device.write(handle, type_, array)

    def differing(self, before: Sequence[Array], after: Sequence[Array]) -> list[int]:
        """Numbers of the cases of which some result is not the same any more."""
        numbers = []
        for n, span in enumerate(self.packed.spans):
            pairs = zip(before[span], after[span], strict=True)
            if not all(a.tobytes() == b.tobytes() for a, b in pairs):
                numbers.append(n)
        return numbers

    def inputs_changed(self, turn: int, check: str, reason: str) -> None:
        for n, span in enumerate(self.packed.inputs):
            given = _typed(self.packed, turn)[span]
            for handle, (array, type_) in zip(self.inputs[span], given, strict=True):
                if self.device.read(handle, type_).tobytes() != array.tobytes():
                    self.found[n].fail(check, reason)

    def compare(self, results: Sequence[Array], turn: int) -> list[Verdict]:
        verdicts = []
        for case, span in zip(self.packed.cases, self.packed.spans, strict=True):
            verdicts.append(judge_results(self.device, case, results[span], turn))
        return verdicts


def _three_calls(run: _Run, hold: Callable[[Sequence[Handle]], Any]) -> None:
    first = run.call()
    hold(first)
    results = run.read(first)
    run.inputs_changed(0, "inputs", "the call changed an operand")
    run.give(1)
    _note(run, results, run.read(first), "overwriting an operand changed a result")
    second = run.call()
    hold(second)
    others = run.read(second)
    _note(run, results, run.read(first), "a second call changed a result of the first")
    _stamp(run, second)
    run.inputs_changed(1, "alias", "overwriting a result changed an operand")
    run.give(0)
    third = run.call()
    hold(third)
    again = run.read(third)
    _judge(run, results, others, again)


def _note(run: _Run, before: Sequence[Array], after: Sequence[Array], reason: str) -> None:
    for n in run.differing(before, after):
        run.found[n].fail("alias", reason)


def _stamp(run: _Run, handles: Sequence[Handle]) -> None:
    """Overwrites each output with a value of its own and looks whether all of them stay."""
    types = run.packed.output_types
    stamps = []
    for n, (handle, type_) in enumerate(zip(handles, types, strict=True)):
        value = n % 2 if type_.dtype.kind == "bool" else (n * 37 + 11) % 97
        stamps.append(np.full(type_.static_shape, value).astype(type_.dtype.numpy))
        run.device.write(handle, type_, stamps[-1])
    _note(run, stamps, run.read(handles), "overwriting another result changed this one")


def _judge(
    run: _Run, results: Sequence[Array], others: Sequence[Array], again: Sequence[Array]
) -> None:
    second = run.compare(others, 1)
    for n, verdict in enumerate(run.compare(results, 0)):
        found, span = run.found[n], run.packed.spans[n]
        found.results = list(results[span])
        found.max_ulp = max(verdict.max_ulp, second[n].max_ulp)
        found.bound_use = max(verdict.bound_use, second[n].bound_use)
        found.worst = (second[n].worst, 1) if verdict.ok else (verdict.worst, 0)
        if not verdict.ok:
            found.fail("values", verdict.reason)
        if verdict.ok and not second[n].ok and _all_same(results[span], others[span]):
            found.fail("repeat", "a second call with other operands returned the first results")
        elif not second[n].ok and verdict.ok:
            found.fail("values", f"with other operands: {second[n].reason}")
        if run.device.repeatable and not _all_same(results[span], again[span]):
            found.fail("repeat", "the same operands gave other bits the next time")


def _all_same(a: Sequence[Array], b: Sequence[Array]) -> bool:
    return all(same_bits(x, y) for x, y in zip(a, b, strict=True))


def run_constants(device: Device, cases: Sequence[Case], known: Sequence[Findings]) -> None:
    """Runs cases with their operands as literals of the graph; differences become failures.

    Args:
        device: the device.
        cases: cases that have operands.
        known: what running them with inputs showed, in the same order.
    """
    waiting = [(tuple(cases), tuple(known))]
    while waiting:
        portion, findings = waiting.pop(0)
        try:
            results = _constant_results(device, portion)
        except Exception as error:
            if len(portion) == 1:
                findings[0].fail("constants", raised(error)[1])
                continue
            half = len(portion) // 2
            waiting[:0] = [(portion[:half], findings[:half]), (portion[half:], findings[half:])]
            continue
        for case, found, arrays in zip(portion, findings, results, strict=True):
            _judge_constants(device, case, found, arrays)


def _constant_results(device: Device, cases: Sequence[Case]) -> list[list[Array]]:
    packed = pack(device, cases, constants=True)
    executable = device.compile(packed.graph)
    try:
        with device.holding() as hold:
            handles = device.run(executable, [], packed.output_types)
            hold(handles)
            pairs = zip(handles, packed.output_types, strict=True)
            arrays = [device.read(h, t) for h, t in pairs]
    finally:
        executable.close()
    return [arrays[span] for span in packed.spans]


def _judge_constants(device: Device, case: Case, found: Findings, arrays: list[Array]) -> None:
    if not found.results:
        return
    if device.exact and not _all_same(found.results, arrays):
        found.fail("constants", "operands given as constants gave other bits")
        return
    verdict = judge_results(device, case, arrays)
    if not verdict.ok and "values" not in found.failures:
        found.fail("constants", verdict.reason)
