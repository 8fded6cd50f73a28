"""Commands: ``build`` the stand-in driver, say ``where`` it is, ``sanitize`` recorded launches."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from realta_cuda_emulator.building import build, driver_library
from realta_cuda_emulator.errors import EmulatorError
from realta_cuda_emulator.replay import recorded, replay


def main(arguments: Sequence[str]) -> int:
    """Runs a command; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m realta_cuda_emulator", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the stand-in driver and the runners")
    commands.add_parser("where", help="print the path of the stand-in driver")
    sanitize = commands.add_parser("sanitize", help="run recorded launches under sanitizers")
    sanitize.add_argument("folder", type=Path, help="what REALTA_CUDA_EMULATE_RECORD named")
    sanitize.add_argument("--most", type=int, default=24, help="how many launches")
    given = parser.parse_args(arguments)
    try:
        if given.command == "sanitize":
            return _sanitize(given.folder, given.most)
        path = build() if given.command == "build" else driver_library()
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(path if path.exists() else f"not built: {path}")
    return 0


def _sanitize(folder: Path, most: int) -> int:
    launches = recorded(folder, most)
    if not launches:
        print(f"no launches are recorded in {folder}", file=sys.stderr)
        return 1
    failed = 0
    for launch, name, report in replay(launches):
        if report:
            failed += 1
            print(f"{launch.kernel} ({launch.source.name}) under {name}:\n{report}")
    kernels = ", ".join(sorted({launch.kernel for launch in launches}))
    print(f"{len(launches)} launches of {kernels}: {failed} reports")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
