"""``realta doctor``: whether this installation works, and what is wrong if not."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from typing import Any, Final

import ml_dtypes
import numpy as np

from realta.cli.output import show_table
from realta.errors import RealtaError
from realta.graph import Builder
from realta.plugins import backends, devices, open_device, resolve_device_name
from realta.runtime import compile_program, format_bytes
from realta.types import float32, tensor_type

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "doctor"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """Versions, settings, and for each backend and device whether it computes 1 + 1."""
    checks = [
        _check_backend(entry.name, entry.state, entry.reason, entry.fix)
        for entry in backends(probe=True)
    ]
    checks += [_check_device(device.name) for device in devices()]
    checks.append(_check_default())
    return {
        "versions": {
            "python": platform.python_version(), "numpy": np.__version__,
            "ml_dtypes": ml_dtypes.__version__, "platform": platform.platform(),
        },
        "settings": {k: v for k, v in sorted(os.environ.items()) if k.startswith("REALTA_")},
        "checks": checks,
        "ok": all(check["ok"] for check in checks if check["needed"]),
    }  # fmt: skip


def exit_code(data: dict[str, Any]) -> int:
    """1 if nothing can compute."""
    return 0 if data["ok"] else 1


def _check_backend(name: str, state: str, reason: str, fix: str) -> dict[str, Any]:
    ok = state in ("available", "disabled")
    return {
        "what": f"backend {name}",
        "ok": ok,
        "detail": reason or state,
        "fix": fix,
        "needed": False,
    }


def _check_device(name: str) -> dict[str, Any]:
    what = f"device {name}"
    try:
        total, limit = _one_plus_one(name)
    except RealtaError as error:
        return {"what": what, "ok": False, "detail": error.what, "fix": error.fix, "needed": False}
    if total != 2.0:
        return {
            "what": what, "ok": False, "detail": f"computes 1 + 1 = {total}",
            "fix": "certify it with realta-conformance", "needed": False,
        }  # fmt: skip
    memory = "no memory limit" if limit is None else f"memory limit {format_bytes(limit)}"
    return {"what": what, "ok": True, "detail": f"computes; {memory}", "fix": "", "needed": False}


def _check_default() -> dict[str, Any]:
    try:
        detail, fix, ok = f"is {resolve_device_name('cpu')}", "", True
    except RealtaError as error:
        detail, fix, ok = error.what, error.fix, False
    return {"what": "device cpu", "ok": ok, "detail": detail, "fix": fix, "needed": True}


def _one_plus_one(name: str) -> tuple[float, int | None]:
    device = open_device(name)
    builder = Builder("doctor")
    one = builder.input(tensor_type(float32, (), name), "one")
    program = compile_program(builder.finish(builder.add(one, one)), device)
    (total,) = program.run([np.ones((), np.float32)])
    return float(total.copy_to_host()), device.pool.limit


def show(data: dict[str, Any]) -> None:
    """Versions, settings, and a line a check with how to mend it."""
    for name, value in {**data["versions"], **data["settings"]}.items():
        print(f"{name}: {value}")
    print()
    rows = [
        ("ok" if check["ok"] else "PROBLEM", check["what"], check["detail"])
        for check in data["checks"]
    ]
    show_table(("", "what", "finding"), rows)
    for check in data["checks"]:
        if not check["ok"] and check["fix"]:
            print(f"\n{check['what']}: {check['detail']}\n  fix: {check['fix']}")
    if not data["ok"]:
        print("\nnothing can compute here", file=sys.stderr)
