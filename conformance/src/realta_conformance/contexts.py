"""Contexts: the integration level: the same work in every mode of the user's API.

The cases are those of the device levels, one of each op and dtype. Each runs eagerly, lazily, as
one region, compiled, compiled and called again, and with its operands as constants; packs of 64
share a graph wherever the mode has graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import realta
from realta.functional.arguments import apply_many, constant_of
from realta.functional.operation import operation
from realta.ops import OpKind
from realta.runtime import (
    CompileEvent,
    add_compile_wrapper,
    remove_wrapper,
    resolve_device,
    set_fallback_policy,
)

from realta_conformance.case import Case, OpCase
from realta_conformance.device import Device
from realta_conformance.digest import graph_digest
from realta_conformance.execution import raised
from realta_conformance.formats import Array
from realta_conformance.judging import judge_results
from realta_conformance.levels import LEVELS, WRITTEN_BY_CORE
from realta_conformance.oracle import same_bits
from realta_conformance.outcome import Outcome
from realta_conformance.running import level_cases, probe_outcomes
from realta_conformance.selection import select

__all__ = [
    "MODES",
    "contexts_cases",
    "named_cases",
    "run_contexts_case",
    "run_portion",
    "watched_compilations",
]

Results = list[Array]
Call = Callable[..., Any]


def _attrs(case: OpCase, device: str) -> dict[str, Any]:
    given = dict(case.attrs)
    return {**given, "device": device} if "device" in given else given


def _body(case: OpCase, device: str) -> Call:
    """The op as a function of tensors that records into the current context."""
    attrs = _attrs(case, device)

    def body(*tensors: Any) -> tuple[Any, ...]:
        return apply_many(case.op, *tensors, **attrs)

    return body


class _Pack:
    """Cases with their tensors, ready to be called together."""

    def __init__(self, cases: Sequence[OpCase], device: str, turn: int = 0) -> None:
        self.cases = cases
        self.device = device
        self.operands = [case.calls()[turn][0] for case in cases]
        self.bodies = [_body(case, device) for case in cases]

    def tensors(self) -> list[Any]:
        """All operands as tensors on the device, in order."""
        return [realta.Tensor(x, device=self.device) for xs in self.operands for x in xs]

    def types(self) -> list[Any]:
        """Their types."""
        return [t.with_device(self.device) for case in self.cases for t in case.types]

    def call(self, *tensors: Any) -> list[Any]:
        """Every case's results, flat."""
        waiting = list(tensors)
        found: list[Any] = []
        for body, case in zip(self.bodies, self.cases, strict=True):
            found += body(*[waiting.pop(0) for _ in case.types])
        return found

    def with_constants(self) -> list[Any]:
        """Every case's results, its operands written into the graph."""
        constants = [
            constant_of(x, t.with_device(self.device))
            for case, xs in zip(self.cases, self.operands, strict=True)
            for x, t in zip(xs, case.types, strict=True)
        ]
        return self.call(*constants)

    def split(self, tensors: Sequence[Any]) -> list[Results]:
        """Flat results as arrays, by case."""
        arrays = [t.numpy() for t in tensors]
        found = []
        for case in self.cases:
            count = len(case.calls()[0][1])
            found.append(arrays[:count])
            arrays = arrays[count:]
        return found


def _eager(pack: _Pack) -> list[Results]:
    waiting = pack.tensors()
    found: list[Any] = []
    for body, case in zip(pack.bodies, pack.cases, strict=True):
        found += operation(body)(*[waiting.pop(0) for _ in case.types])
    return pack.split(found)


def _lazy(pack: _Pack) -> list[Results]:
    tensors = pack.tensors()
    with realta.lazy():
        found = pack.call(*tensors)
    return pack.split(found)


def _region(pack: _Pack) -> list[Results]:
    return pack.split(realta.functional(pack.call)(*pack.tensors()))


def _compiled(pack: _Pack) -> list[Results]:
    return pack.split(realta.compile(pack.call)(*pack.types())(*pack.tensors()))


def _compiled_twice(pack: _Pack) -> list[Results]:
    """The second call's results, after the first one's have been seen not to change."""
    function = realta.compile(pack.call)(*pack.types())
    first = function(*pack.tensors())
    before = [t.numpy(copy=True) for t in first]
    other = _Pack(pack.cases, pack.device, turn=1)
    function(*other.tensors())
    again = function(*pack.tensors())
    for old, tensor in zip(before, first, strict=True):
        if not same_bits(old, tensor.numpy()):
            raise AssertionError("a later call of the compiled function changed an earlier result")
    return pack.split(again)


def _constants(pack: _Pack) -> list[Results]:
    return pack.split(realta.compile(pack.with_constants)()())


Mode = Callable[[_Pack], list[Results]]
MODES: Final[dict[str, Mode]] = {
    "eager": _eager,
    "lazy": _lazy,
    "region": _region,
    "compiled": _compiled,
    "compiled-twice": _compiled_twice,
    "constants": _constants,
}
"""How each mode runs a pack; eager comes first, the others are compared with it."""


@contextmanager
def _no_fallback() -> Iterator[None]:
    before = set_fallback_policy("error")
    try:
        yield
    finally:
        set_fallback_policy(before)


def _candidates(device: Device, sample: bool) -> list[OpCase]:
    """One case of each op and dtype: the first with several elements."""
    found: dict[tuple[str, str], OpCase] = {}
    for level in LEVELS:
        if level.kind != "device":
            continue
        cases = level_cases(level.name, device)
        ops = [c for c in cases if isinstance(c, OpCase) and c.op not in WRITTEN_BY_CORE]
        for case in ops:
            key = (case.op, "" if sample else case.dtype.name)
            if key not in found and 1 < case.elements <= 128:
                found[key] = case
    return list(found.values())


def contexts_cases(device: Device, sample: bool = False) -> list[OpCase]:
    """The candidates that the device can do."""
    taken = select(device, _candidates(device, sample)).taken
    return [c for c in taken if isinstance(c, OpCase)]


def named_cases(device: Device, sample: bool, ids: Collection[str]) -> list[OpCase]:
    """Those of these ids."""
    return [c for c in _candidates(device, sample) if c.id in ids]


@contextmanager
def watched_compilations(device: Device) -> Iterator[set[str]]:
    """A scope without fallbacks; gives the digests of what core compiles in it for the device.

    Counted so, a graph that core finds in its cache in one process and compiles again in another
    is one graph in both.
    """
    found: set[str] = set()

    def compiling(event: CompileEvent, call: Callable[[], Any]) -> Any:
        if event.device != device.name:
            return call()
        found.add(graph_digest(event.graph))
        device.watch("compile")
        try:
            return call()
        finally:
            device.watch("core")

    add_compile_wrapper(compiling)
    device.watch("core")
    try:
        with _no_fallback():
            yield found
    finally:
        remove_wrapper(compiling)
        device.watch("")


def run_contexts_case(device: Device, id_: str) -> list[Outcome]:
    """The outcomes of one case (``contexts/add-f32-17/lazy``) or one probe."""
    with _no_fallback():
        name = id_.removeprefix("contexts/").rpartition("/")
        wanted = name[0] or name[2]
        cases = [c for c in contexts_cases(device) if c.id.partition("/")[2] == wanted]
        if cases:
            return run_portion(device, cases)
        return [o for o in probe_outcomes(device, "contexts") if o.id.startswith(id_)]


def run_portion(
    device: Device, cases: Sequence[OpCase], modes: Mapping[str, Mode] = MODES
) -> list[Outcome]:
    """Cases in every mode; a mode that raises for a pack runs its cases one by one."""
    known: dict[Case, Results] = {}
    found = _launches(device, cases)
    for mode, run in modes.items():
        for case, results, error in _by_case(run, cases, device.name):
            check, reason, worst = _judge(device, case, mode, results, error, known)
            found.append(
                Outcome(
                    f"contexts/{case.id.partition('/')[2]}/{mode}",
                    "contexts",
                    case.op,
                    case.dtype.name,
                    check,
                    "failed" if reason else "passed",
                    reason,
                    worst,
                    help=case.note,
                )
            )
    return found


def _by_case(
    run: Mode, cases: Sequence[OpCase], device: str
) -> Iterator[tuple[OpCase, Results | None, Exception | None]]:
    try:
        together = run(_Pack(cases, device))
    except Exception as error:
        if len(cases) == 1:
            yield cases[0], None, error
            return
        for case in cases:
            yield from _by_case(run, [case], device)
        return
    for case, results in zip(cases, together, strict=True):
        yield case, results, None


def _judge(
    device: Device,
    case: OpCase,
    mode: str,
    results: Results | None,
    error: Exception | None,
    known: dict[Case, Results],
) -> tuple[str, str, float]:
    """The check that fails, why, and the largest distance in ulps."""
    if error is not None or results is None:
        return "run", raised(error)[1] if error else "no results", 0.0
    verdict = judge_results(device, case, results)
    if not verdict.ok:
        return "values", verdict.reason, verdict.max_ulp
    eager = known.setdefault(case, results)
    pairs = zip(eager, results, strict=True)
    if device.exact and not all(same_bits(a, b) for a, b in pairs):
        return "mode", f"{mode} gives other bits than eager", verdict.max_ulp
    return "mode", "", verdict.max_ulp


def _called(case: OpCase, device: str) -> Results:
    """The results of an eager call."""
    tensors = [realta.Tensor(x, device=device) for x in case.calls()[0][0]]
    return [v.numpy() for v in operation(_body(case, device))(*tensors)]


def _is_host_work(case: OpCase, device: str) -> bool:
    """Whether a call runs a kernel that is declared to run on the host."""
    with realta.profile() as found:
        _called(case, device)
    return any(kernel.host for run in found.runs for kernel in run.kernels)


def _launches(device: Device, cases: Sequence[OpCase]) -> list[Outcome]:
    """An eager call of work launches something on the device."""
    opened = resolve_device(device.name)
    idle = (OpKind.MOVEMENT, OpKind.CREATION)
    found = []
    for case in cases:
        if case.definition.kind in idle or not case.types:
            continue
        before = opened.launches
        try:
            results = _called(case, device.name)
        except Exception:
            continue  # the modes tell
        count = opened.launches - before
        if not count and any(same_bits(results[0], x) for x in case.calls()[0][0]):
            continue  # there was nothing to do: an op that is the identity for this dtype
        if not count and _is_host_work(case, device.name):
            continue  # declared to be the host's
        found.append(
            Outcome(
                f"contexts/{case.id.partition('/')[2]}/launches",
                "contexts",
                case.op,
                case.dtype.name,
                "launches",
                "passed" if count else "failed",
                "" if count else "an eager call launched nothing on the device",
                0.0,
                count,
            )
        )
    return found
