"""Mutants: generated saboteurs, one for each op of the registry and each way it can go wrong.

The share of them that the suite catches is how strong it is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from multiprocessing import get_context
from typing import Any, Final

from realta.backend import Node, Value
from realta.ops import OpDef, OpKind, all_ops, find_op
from realta_conformance.case import Case, cases_of
from realta_conformance.certification import certify, with_needs
from realta_conformance.device import Device, open_backend
from realta_conformance.graphs import graph_cases
from realta_conformance.levels import LEVELS
from realta_conformance.running import probe_outcomes, run_cases
from realta_conformance.selection import select

from realta_saboteurs.contract_mutants import CONTRACT_MUTANTS, MutatedBackend
from realta_saboteurs.fault import Array, Fault
from realta_saboteurs.healthy import Saboteur
from realta_saboteurs.mutations import MUTATIONS, Mutation, truth_of

__all__ = ["Mutant", "Tried", "mutant_ids", "reasons", "summary", "tells_of", "tried"]

_PORTION: Final = 12
_BY_CORE: Final = frozenset({"transfer", "constant"})
_STATEFUL: Final = {
    "stale-cache": "the first call's results are returned at every later call",
    "aliasing": "results are in the memory of the first call's",
}


class Mutant(Fault):
    """One op that is wrong in one way.

    Args:
        op: the op.
        operator: name of the mutation.
    """

    def __init__(self, op: OpDef, operator: str) -> None:
        super().__init__(f"{op.name}-{operator}")
        self.op = op
        self.operator = operator
        self.mutation: Mutation | None = next((m for m in MUTATIONS if m.name == operator), None)

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        if node.op is not self.op:
            return self.right(node, operands)
        if self.operator == "stale-cache" and node in executable.memory:
            kept: tuple[Array, ...] = executable.memory[node]
            return kept
        right = truth_of(node, operands)
        if self.operator == "stale-cache":
            executable.memory[node] = right
        return right if self.mutation is None else self.mutation.change(node, operands, right)

    def finish(self, executable: Any, number: int, value: Value, array: Array, buffer: Any) -> None:
        made = any(v.op is self.op and value in v.outputs for v in executable.graph.nodes)
        if made and self.operator == "aliasing":
            buffer.memory = executable.memory.setdefault(number, buffer.memory)
        super().finish(executable, number, value, array, buffer)


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a mutant.

    Args:
        id: ``op/operator`` or ``contract/Class.method/operator``.
        caught: what caught it, as ``level/op/check``; empty if nothing did.
    """

    id: str
    caught: str

    @property
    def operator(self) -> str:
        """The way in which it is wrong."""
        return self.id.rpartition("/")[2]


def _ops() -> list[OpDef]:
    """The ops that backends see and device levels test."""
    levels = {level.name for level in LEVELS if level.kind == "device"}
    wanted = [op for op in all_ops() if op.level in levels and "." not in op.name]
    return [op for op in wanted if op.name not in _BY_CORE and op.kind is not OpKind.CONTROL]


@cache
def mutant_ids() -> tuple[str, ...]:
    """Every mutant, in the order of the registry."""
    found = [
        f"{op.name}/{name}"
        for op in _ops()
        for name in (*[m.name for m in MUTATIONS if m.fits(op)], *_STATEFUL)
    ]
    return (*found, *[mutant.id for mutant in CONTRACT_MUTANTS])


def tried(ids: Sequence[str], jobs: int = 1) -> Iterator[Tried]:
    """Runs the suite against mutants until something catches each."""
    if jobs == 1:
        yield from map(_try, ids)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(_try, ids, chunksize=8)


def _try(id_: str) -> Tried:
    if id_.startswith("contract/"):
        mutant = next(m for m in CONTRACT_MUTANTS if m.id == id_)
        return Tried(id_, _caught_by_levels(MutatedBackend(mutant)))
    name, _, operator = id_.partition("/")
    op = find_op(name)
    if op is None:
        raise KeyError(name)
    return Tried(id_, _caught_by_cases(Mutant(op, operator), op))


def _caught_by_levels(backend: Saboteur) -> str:
    try:
        device = open_backend(backend)
    except Exception as error:
        return f"opening: {type(error).__name__}"
    try:
        certificate = certify(device, with_needs(["core"]), sample=True)
        return next((o.key for o in certificate.failures()), "")
    except Exception as error:
        return f"raised: {type(error).__name__}"


def _caught_by_cases(mutant: Mutant, op: OpDef) -> str:
    device = _device(mutant, op)
    for portion in _portions(_cases(device, op)):
        found = run_cases(device, select(device, portion).taken)
        key = next((o.key for o in found if o.kind == "failed"), "")
        if key:
            return key
    found = list(probe_outcomes(device, op.level)) if op.kind is OpKind.RANDOM else []
    return next((o.key for o in found if o.kind == "failed"), "")


def _device(mutant: Mutant, op: OpDef) -> Device:
    """The device of a mutant; it claims the op if that is a composite."""
    device = open_backend(Saboteur(mutant))
    if not op.primitive:
        session: Any = device.session
        session.capabilities = replace(session.capabilities, composites={op.name: op.dtypes})
    return device


def _cases(device: Device, op: OpDef) -> list[Case]:
    """The cases of an op, special values first, then the graphs that it is in."""
    own = sorted(cases_of(op), key=lambda c: not c.id.endswith("-special"))
    graphs = [
        case
        for level in LEVELS
        if level.kind == "device"
        for case in graph_cases(level.name, device.capabilities.storage)
        if any(node.op is op for node in case.source.nodes)
    ]
    return [*own, *graphs]


def _portions(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    for start in range(0, len(cases), _PORTION):
        yield cases[start : start + _PORTION]


def tells_of(operator: str) -> str:
    """What goes wrong, in one sentence."""
    known = {mutation.name: mutation.tells for mutation in MUTATIONS} | _STATEFUL
    return known[operator]


@cache
def reasons() -> dict[str, str]:
    """Why each known survivor survives, by id."""
    text = files("realta_saboteurs").joinpath("survivors.toml").read_text("utf-8")
    return {str(k): str(v) for k, v in tomllib.loads(text).get("survivors", {}).items()}


def summary(found: Sequence[Tried]) -> dict[str, Any]:
    """Counts for each operator, the share caught, and the survivors with their reasons."""
    operators: dict[str, dict[str, int]] = {}
    for one in found:
        entry = operators.setdefault(one.operator, {"caught": 0, "mutants": 0})
        entry["mutants"] += 1
        entry["caught"] += bool(one.caught)
    survivors = [one.id for one in found if not one.caught]
    caught = len(found) - len(survivors)
    return {
        "mutants": len(found),
        "caught": caught,
        "share": round(caught / len(found), 4) if found else 0.0,
        "operators": dict(sorted(operators.items())),
        "survivors": {name: reasons().get(name, "") for name in sorted(survivors)},
    }
