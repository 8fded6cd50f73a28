"""Dialect faults: OpenCL dialects that let a real compiler do what it is tempted to do.

They need the OpenCL backend and a driver; `realta_saboteurs.generated_faults` has the same faults
in the kernel IR, where neither is needed.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from realta.backend import BackendUnavailable, Unavailable
from realta.codegen.dialects import OPENCL
from realta.types import float32
from realta_conformance.device import Device
from realta_conformance.running import level_cases, run_cases
from realta_conformance.selection import select

__all__ = ["DIALECT_FAULTS", "DialectFault", "failing_checks"]

_MAXIMUM: Final = re.compile(r"(rt_maximum_f32\w*\(float\d* x, float\d* y\)\n)\{.*?\n\}", re.DOTALL)


def _as_it_is(source: str) -> str:
    return source


def _fmax(source: str) -> str:
    """The helper that is asked for a maximum calls C's, which drops a NaN."""
    return _MAXIMUM.sub(r"\1{\n    return fmax(x, y);\n}", source)


@dataclass(frozen=True, eq=False)
class DialectFault:
    """A fault of an OpenCL dialect.

    Args:
        name: its name.
        what: what it does wrong.
        level: the level of the suite that has to find it.
        ops: the ops (or graphs) of the suite whose cases are run, in float32.
        fails: what of them has to fail.
        profile: the profile that kernels are made for.
        changes: fields of the dialect that differ.
        edit: what becomes of a source besides.
        driver: short name of one whose compiler takes what it may: Intel's contracts nothing, also
            where everything is allowed.
    """

    name: str
    what: str
    level: str
    ops: tuple[str, ...]
    fails: frozenset[str]
    profile: str = "cpu"
    changes: Mapping[str, Any] = field(default_factory=dict)
    edit: Callable[[str], str] = _as_it_is
    driver: str = "intel"


DIALECT_FAULTS: Final[tuple[DialectFault, ...]] = (
    DialectFault(
        "dialect-contracts",
        "the compiler may contract a product and a sum",
        "fusion",
        ("multiply-add",),
        frozenset({"fusion/multiply-add/fused"}),
        changes={
            "basics": "#pragma OPENCL FP_CONTRACT ON\n",
            "options": (*OPENCL.options, "-cl-unsafe-math-optimizations"),
        },
        driver="pocl",
    ),
    DialectFault(
        "dialect-native-exp",
        "exp is the fast one of the hardware",
        "core",
        ("exp",),
        frozenset({"core/exp/values"}),
        changes={"basics": OPENCL.basics + "#define exp native_exp\n"},
    ),
    DialectFault(
        "dialect-fmax",
        "maximum is C's fmax, which drops a NaN",
        "core",
        ("maximum", "max"),
        frozenset({"core/maximum/values"}),
        edit=_fmax,
    ),
    DialectFault(
        "dialect-no-barrier",
        "work-items read group memory before others have written it",
        "core",
        ("sum", "permute"),
        frozenset({"core/sum/values", "core/permute/values"}),
        profile="gpu",
        changes={"barrier": ""},
    ),
)


def failing_checks(fault: DialectFault, *, on: bool) -> frozenset[str]:
    """The checks that fail of the cases of a fault's ops, with the fault on or off.

    The session's profile is what ``REALTA_OPENCL_PROFILE`` says; see `DialectFault.profile`.

    Args:
        fault: the fault.
        on: whether the session's dialect has it.

    Raises:
        BackendUnavailable: its driver is not here.
    """
    backend = importlib.import_module("realta_opencl").OpenCLBackend()
    found = backend.probe()
    infos = () if isinstance(found, Unavailable) else found
    info = next((info for info in infos if fault.driver in info.aliases), None)
    if info is None:
        raise BackendUnavailable(
            f"there is no OpenCL driver {fault.driver!r} here",
            where=f"saboteur {fault.name}",
            fix=f"pip install 'realta-opencl[{fault.driver}]'",
        )
    session = backend.open(info)
    if on:
        _spoil(session, fault)
    device = Device(f"opencl:{info.index}", backend, info, session)
    try:
        cases = [
            case
            for case in level_cases(fault.level, device)
            if case.op in fault.ops and case.dtype is float32
        ]
        outcomes = run_cases(device, select(device, cases).taken)
    finally:
        device.close()
    if not any(outcome.kind == "passed" for outcome in outcomes):
        return frozenset({f"{fault.level}: no case passed or none ran"})
    return frozenset(outcome.key for outcome in outcomes if outcome.kind == "failed")


def _spoil(session: Any, fault: DialectFault) -> None:
    written = session.source
    session.dialect = replace(OPENCL, **fault.changes)
    session.compiler_options = (*session.compiler_options, *session.dialect.options)
    session.source = lambda kernels: fault.edit(written(kernels))
