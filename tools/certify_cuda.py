"""Certify CUDA: runs the suite and the bandwidth rows on a GPU, and writes what it found.

    python -m tools.certify_cuda [--device cuda:0] [--out conformance/results/certified-cuda.json]

Takes less than eight minutes and no network. A record is of one GPU, one driver and one commit.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import realta
from realta import F
from realta.backend import DeviceInfo
from realta.plugins import device_info
from realta_conformance.device import Device
from realta_conformance.levels import LEVELS
from realta_conformance.running import level_cases
from realta_conformance.selection import select

from tools.cuda_static import static_session

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "conformance" / "results"
SUITE_SECONDS = 300
SANITIZER_SECONDS = 90
BYTES = 1 << 30
PACKAGES = ("realta", "realta-cuda", "realta-conformance", "cuda-core", "cuda-bindings",
            "nvidia-cuda-nvrtc")  # fmt: skip
FIELDS: dict[str, type | tuple[type, ...]] = {
    "schema": int, "gpu": str, "emulated": bool, "driver": int, "versions": dict, "commit": str,
    "cases": str, "levels": dict, "worst_ulp": dict, "bandwidth": dict, "sanitizer": str,
}  # fmt: skip
"""The fields of a record and their types."""


def case_digest() -> str:
    """A digest of the ids of all cases that a GPU is sent."""
    info = DeviceInfo(0, "any GPU", kind="accelerator")
    device = Device("cuda:0", None, info, static_session())  # type: ignore[arg-type]
    ids = [
        case.id
        for level in LEVELS
        if level.kind == "device"
        for case in select(device, level_cases(level.name, device)).taken
    ]
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def complaints(record: dict[str, Any], *, digest: str | None = None) -> list[str]:
    """What is wrong with a record.

    Args:
        record: the record.
        digest: that of the suite's cases; computed if None.
    """
    wrong = [
        f"{name} is missing or no {kind}"
        for name, kind in FIELDS.items()
        if not isinstance(record.get(name), kind)
    ]
    if wrong:
        return wrong
    if record["schema"] != 1:
        wrong.append(f"schema {record['schema']} is unknown")
    if record["emulated"]:
        wrong.append("it is of an emulated device")
    wrong += [
        f"level {name}: {counts.get('failed')} failed"
        for name, counts in record["levels"].items()
        if counts.get("failed") != 0
    ]
    if record["cases"] != (digest or case_digest()):
        wrong.append("the suite has other cases now")
    ancestor = ("git", "merge-base", "--is-ancestor", record["commit"], "HEAD")
    if subprocess.run(ancestor, cwd=ROOT, capture_output=True, check=False).returncode:
        wrong.append(f"{record['commit'][:12]} is no ancestor of this commit")
    return wrong


def _suite_program() -> str:
    return str(Path(sys.executable).with_name("realta-conformance"))


def _suite(device: str, levels: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = [_suite_program(), "run", "--device", device, "--json", str(path)]
        subprocess.run(
            [*command, *(["--levels", levels] if levels else [])],
            check=False, timeout=SUITE_SECONDS,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _worst(report: dict[str, Any]) -> dict[str, float]:
    worst: dict[str, float] = {}
    for level in report["levels"]:
        for case in level["cases"]:
            distance = float(case.get("max_ulp", 0.0))
            if distance:
                worst[case["op"]] = max(worst.get(case["op"], 0.0), distance)
    return dict(sorted(worst.items()))


def _seconds(work: Any) -> float:
    """The least time of several runs, each waited for."""
    best = float("inf")
    for _ in range(7):
        begin = time.perf_counter()
        work()
        realta.synchronize()
        best = min(best, time.perf_counter() - begin)
    return best


def bandwidth(device: str, nbytes: int = BYTES) -> dict[str, float]:
    """Bytes a second of a copy, and what part of it kernels reach."""
    count = nbytes // 4
    x = realta.ones((count // 1024, 1024), device=device)
    rows = {
        "elementwise": realta.compile(lambda x: F.exp(x) * 2.0 + 1.0)(x.type),
        "softmax": realta.compile(lambda x: F.softmax(x, axis=-1))(x.type),
    }
    copied = realta.compile(lambda x: x * 1.5)(x.type)
    copy = 2 * nbytes / _seconds(lambda: copied(x))
    found = {"copy_bytes_per_second": copy}
    for name, work in rows.items():
        found[name] = 2 * nbytes / _seconds(lambda work=work: work(x)) / copy
    return found


def _sanitizer(device: str) -> str:
    program = shutil.which("compute-sanitizer")
    if program is None:
        return "not installed"
    command = [program, "--error-exitcode", "9", _suite_program(), "smoke", "--device", device]
    done = subprocess.run(command, check=False, timeout=SANITIZER_SECONDS)
    return "clean" if done.returncode == 0 else f"exit code {done.returncode}"


def record(device: str, levels: str, nbytes: int) -> dict[str, Any]:
    """Runs everything; the record."""
    from realta_cuda.driver import Driver, load_driver

    info = replace(device_info(device))
    driver = load_driver()
    report = _suite(device, levels)
    commit = subprocess.run(
        ("git", "rev-parse", "HEAD"), cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    return {
        "schema": 1,
        "gpu": info.name,
        "emulated": info.kind == "simulator",
        "driver": driver.version if isinstance(driver, Driver) else 0,
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "commit": commit,
        "cases": case_digest(),
        "levels": {
            level["name"]: {key: level["counts"].get(key, 0) for key in ("passed", "failed")}
            for level in report["levels"]
        },
        "worst_ulp": _worst(report),
        "bandwidth": bandwidth(device, nbytes),
        "sanitizer": _sanitizer(device),
    }


def main(arguments: Sequence[str]) -> int:
    """Writes the record; 1 if something is wrong with it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=Path, default=RECORDS / "certified-cuda.json")
    parser.add_argument("--levels", default="", help="only these; such a record is for looking")
    parser.add_argument("--bytes", type=int, default=BYTES, help="of a bandwidth row")
    given = parser.parse_args(arguments)
    found = record(given.device, given.levels, given.bytes)
    given.out.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    wrong = complaints(found, digest=found["cases"])
    print("\n".join([f"written: {given.out}", *wrong]))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
