"""Oclgrind: conformance kernels in a simulator that reports memory errors and data races.

    python tools/oclgrind.py [--cases N]

Runs N cases of each op (2 if left out) on Oclgrind's simulated device, for both device profiles,
and fails on anything that it reports. First it runs two kernels that are wrong on purpose, which it
must report. Where Oclgrind is not installed it says so and exits 0; with CI=true it exits 1.
`tools/install_debian.sh` installs it.

Its `oclgrind` wrapper preloads a library, which pyopencl, with a loader of its own, does not see:
so it is given as a driver. Kernels are compiled without optimization: of optimized vector code
Oclgrind 21.10 computes some results wrongly, indices among them, where other devices do not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

LIBRARIES = (
    Path("/usr/lib/oclgrind/liboclgrind-rt-icd.so"),
    Path("/usr/local/lib/liboclgrind-rt-icd.so"),
)
LEVELS = ("core", "math", "linalg", "indexing", "random", "fusion")
PROFILES = ("cpu", "gpu")
SHOWN = 60
MINUTES = 5
WRONG = """
__kernel void outside(__global int *x) { x[get_global_size(0) + 4] = 1; }
__kernel void races(__global int *x) { x[0] = (int)get_global_id(0); }
"""
EXPECTED = ("Invalid write of size 4", "Write-write data race")


def library() -> Path | None:
    """The driver, if it is installed."""
    given = os.environ.get("OCLGRIND_ICD")
    return next((p for p in ([Path(given)] if given else LIBRARIES) if p.exists()), None)


def report_of(driver: Path, folder: Path, *arguments: str, **settings: str) -> tuple[int, str]:
    """Runs this file in a process that sees Oclgrind's device only.

    Returns:
        Its exit code, and what Oclgrind reported.
    """
    icds = folder / "icd"
    icds.mkdir(exist_ok=True)
    (icds / "oclgrind.icd").write_text(f"{driver}\n")
    log = folder / "report.txt"
    log.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "OCL_ICD_VENDORS": str(icds),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "OCLGRIND_DATA_RACES": "1",
        "OCLGRIND_UNIFORM_WRITES": "1",
        "REALTA_CACHE": "off",
        **settings,
    }
    command = [sys.executable, __file__, *arguments]
    try:
        code = subprocess.run(
            command, env=environment, timeout=MINUTES * 60, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        print(f"oclgrind: took more than {MINUTES} minutes")
        code = 1
    return code, log.read_text(errors="replace") if log.exists() else ""


def run_wrong() -> int:
    """Runs kernels that are wrong, in the child process."""
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, WRONG).build()
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64 * 4)
    for name in ("outside", "races"):
        cl.Kernel(program, name)(queue, (64,), (64,), buffer)
    queue.finish()
    return 0


def chosen(device: Any, level: str, count: int) -> list[Any]:
    """Some cases of each op of a level: of other dtypes from op to op, the largest of each."""
    from realta_conformance.running import level_cases

    by_op: dict[str, dict[str, Any]] = {}
    for case in level_cases(level, device):
        if case.elements:
            by_op.setdefault(case.op, {})[case.dtype.name] = case
    found = []
    for number, cases in enumerate(by_op.values()):
        names = list(cases)
        turns = range(number, number + min(count, len(names)))
        found += [cases[names[turn % len(names)]] for turn in turns]
    return found


def run_chosen(device: Any, level: str, count: int) -> tuple[int, int]:
    """Runs the chosen cases of a level and prints what is wrong; how many ran, how many are."""
    from realta_conformance.execution import run_pack
    from realta_conformance.packing import packs_of
    from realta_conformance.selection import select

    ran = wrong = 0
    for portion in packs_of(select(device, chosen(device, level, count)).taken):
        for finding in run_pack(device, portion):
            ran += 1
            for check, reason in finding.failures.items():
                wrong += 1
                print(f"{finding.case.id}/{check}: {reason}")
    return ran, wrong


def run_cases(count: int) -> int:
    """Runs conformance cases, in the child process."""
    from realta_conformance.opening import open_named

    device = open_named("opencl:oclgrind")
    device.info = replace(device.info, kind="simulator")
    profile = device.session.profile.name  # type: ignore[attr-defined]
    ran, wrong = map(sum, zip(*[run_chosen(device, level, count) for level in LEVELS], strict=True))
    device.close()
    print(f"{profile} profile: {ran} cases ran, {wrong} failed", flush=True)
    return 1 if wrong or not ran else 0


def check_detection(driver: Path, folder: Path) -> bool:
    """Whether Oclgrind reports what is wrong on purpose."""
    _, report = report_of(driver, folder, "--child", "wrong")
    missed = [text for text in EXPECTED if text not in report]
    for text in missed:
        print(f"oclgrind: a kernel that is wrong was run, and it did not report: {text}")
    return not missed


def check_profile(driver: Path, folder: Path, profile: str, cases: int) -> bool:
    """Whether the kernels of one profile run without a report."""
    code, report = report_of(
        driver, folder, "--child", "cases", "--cases", str(cases), REALTA_OPENCL_PROFILE=profile
    )
    if report.strip():
        print("\n".join(report.splitlines()[:SHOWN]))
    print(f"{profile} profile: {'nothing' if not report.strip() else 'errors'} reported")
    return code == 0 and not report.strip()


def main(arguments: Sequence[str]) -> int:
    """Runs both profiles; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=2, help="cases of each op")
    parser.add_argument("--child", choices=("cases", "wrong"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        return run_wrong() if given.child == "wrong" else run_cases(given.cases)
    driver = library()
    if driver is None:
        needed = os.environ.get("CI") == "true"
        print(f"oclgrind: {'needed in CI and ' if needed else ''}not installed; "
              "run tools/install_debian.sh as root")  # fmt: skip
        return int(needed)
    with tempfile.TemporaryDirectory(prefix="realta-oclgrind-") as name:
        folder = Path(name)
        right = [check_detection(driver, folder)]
        right += [check_profile(driver, folder, profile, given.cases) for profile in PROFILES]
    return 0 if all(right) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
