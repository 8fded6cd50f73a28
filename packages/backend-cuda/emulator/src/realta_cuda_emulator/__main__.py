"""``python -m realta_cuda_emulator build`` builds the stand-in driver; ``where`` shows its path."""

from __future__ import annotations

import sys

from realta_cuda_emulator.building import build, driver_library
from realta_cuda_emulator.errors import EmulatorError

_USAGE = "usage: python -m realta_cuda_emulator build|where"


def main(arguments: list[str]) -> int:
    """Runs a command; the exit status."""
    if arguments not in (["build"], ["where"]):
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        path = build() if arguments == ["build"] else driver_library()
    except EmulatorError as error:
        print(error, file=sys.stderr)
        return 1
    print(path if path.exists() else f"not built: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
