"""Manifest probes: what a backend says about itself is complete, consistent and stable."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from realta.backend import SPEC, Capabilities, DeviceInfo, Unavailable
from realta.ops import find_op
from realta.types import DType

from realta_conformance.case import cases_of
from realta_conformance.device import Device
from realta_conformance.probes.probe import Finding, probe

FEATURES: Final = frozenset({"async", "donation", "symbolic", "control_flow", "save"})
MODES: Final = ("exact", "repeatable", "bounded")


@probe("manifest")
def name_and_spec(device: Device) -> Iterator[Finding]:
    """The backend has a plain name and states a spec version of our major.

    If this fails, check `name` (lower-case letters, digits, hyphens) and `spec` of the backend.
    """
    name, spec = device.backend.name, device.backend.spec
    good = re.fullmatch(r"[a-z][a-z0-9_-]*", name)
    yield Finding("name", "" if good else f"{name!r} is no plain name")
    same = str(spec).partition(".")[0] == SPEC.partition(".")[0]
    yield Finding("spec", "" if same else f"spec {spec} is not of the major of {SPEC}")


@probe("manifest")
def probing(device: Device) -> Iterator[Finding]:
    """Probing gives the same devices every time, numbered from 0, each with a name.

    If this fails, check that `probe` keeps one stable order and counts `index` itself.
    """
    found = device.backend.probe()
    if isinstance(found, Unavailable):
        yield Finding("devices", "an open device became unavailable")
        return
    infos = list(found)
    whole = all(type(i) is DeviceInfo and bool(i.name) for i in infos)
    yield Finding("devices", "" if whole else f"{infos!r} are not DeviceInfo with names")
    yield Finding("open", "" if device.info in infos else "the open device is not among them")
    numbers = [i.index for i in infos]
    right = numbers == list(range(len(infos)))
    yield Finding("numbers", "" if right else f"devices are numbered {numbers}")
    again = list(device.backend.probe())  # type: ignore[arg-type]
    yield Finding("stable", "" if again == infos else "a second probe gave other devices")


@probe("manifest")
def capabilities(device: Device) -> Iterator[Finding]:
    """Capabilities name known ops and dtypes that can be stored.

    If this fails, check that `ops` and `composites` map op names to sets of dtypes, that each dtype
    is in `storage`, and that the op is defined for it.
    """
    declared = device.capabilities
    yield Finding("type", "" if type(declared) is Capabilities else f"{type(declared)}")
    holds = declared.storage and all(isinstance(d, DType) for d in declared.storage)
    yield Finding(
        "storage", "" if holds else "storage is empty or holds something else than dtypes"
    )
    for table, primitive in ((declared.ops, True), (declared.composites, False)):
        name = "ops" if primitive else "composites"
        yield Finding(name, "; ".join(_table_problems(device, table, primitive)[:3]))


def _table_problems(
    device: Device, table: Mapping[str, frozenset[DType]], primitive: bool
) -> list[str]:
    problems = []
    for name, dtypes in table.items():
        op = find_op(name)
        if op is None:
            problems.append(f"there is no op {name}")
            continue
        if op.primitive is not primitive:
            kind = "a primitive" if op.primitive else "a composite"
            problems.append(f"{name} is {kind}")
        strange = [d.name for d in dtypes if d not in op.dtypes]
        if strange:
            problems.append(f"{name} is not defined for {', '.join(sorted(strange))}")
        homeless = [d.name for d in dtypes if d not in device.capabilities.storage]
        if homeless:
            problems.append(f"{name} is declared for {', '.join(sorted(homeless))}, not in storage")
    return problems


@probe("manifest")
def numerics_and_limits(device: Device) -> Iterator[Finding]:
    """Numerics, limits and features use the words of the contract.

    If this fails, check the spelling of `modes`, `subnormals` and `features`, and that limits are
    positive or None.
    """
    declared = device.capabilities
    numerics, limits = declared.numerics, declared.limits
    good = numerics.modes in MODES and numerics.subnormals in ("keep", "flush")
    yield Finding("numerics", "" if good else f"{numerics!r}")
    unknown = sorted(set(declared.features) - FEATURES)
    yield Finding("features", f"unknown: {', '.join(unknown)}" if unknown else "")
    names = ("buffer_bytes", "arguments", "parameter_bytes", "local_bytes", "group_size")
    wrong = [n for n in names if (v := getattr(limits, n)) is not None and v <= 0]
    if limits.rank < 1 or limits.alignment < 1:
        wrong.append("rank or alignment")
    yield Finding("limits", f"not positive: {', '.join(wrong)}" if wrong else "")


@probe("manifest")
def fingerprint(device: Device) -> Iterator[Finding]:
    """The fingerprint is a text, and the same when the device is opened again.

    If this fails, check that it is made of what the device is (driver, model, version), not of
    addresses or times.
    """
    text = device.session.fingerprint
    yield Finding("text", "" if type(text) is str and bool(text) else f"{text!r}")
    if device.info.exclusive:
        yield Finding("stable", skipped="the device is exclusive")
        return
    other = device.backend.open(device.info)
    try:
        same = other.fingerprint == text and other.capabilities == device.capabilities
        yield Finding("stable", "" if same else "opened again, it says something else")
    finally:
        other.close()


@probe("manifest")
def supports_is_pure(device: Device) -> Iterator[Finding]:
    """Asking `supports` twice gives the same answer and never raises.

    If this fails, check that `supports` reads nothing but the node.
    """
    for name in sorted(device.capabilities.ops):
        op = find_op(name)
        case = None if op is None else next(iter(cases_of(op)), None)
        if case is None:
            continue
        node = case.graph().nodes[-1]
        try:
            first, second = device.session.supports(node), device.session.supports(node)
        except Exception as error:
            yield Finding(name, f"{type(error).__name__}: {error}")
            continue
        if (first is None) is not (second is None):
            yield Finding(name, f"first {first!r}, then {second!r}")
    yield Finding()
