"""Certified: runs the conformance suite on a device and asks for all that its levels require.

    python tools/certified.py DEVICE

Exits 0 if the suite does and, at every level, everything required was covered.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path


def uncovered(report: dict[str, object]) -> list[str]:
    """The levels of a report that leave something required uncovered.

    >>> uncovered({"levels": [{"name": "core", "required_covered": 2, "required_total": 3}]})
    ['core: 2 of 3']
    """
    levels: list[dict[str, object]] = report["levels"]  # type: ignore[assignment]
    return [
        f"{level['name']}: {level['required_covered']} of {level['required_total']}"
        for level in levels
        if level["required_covered"] != level["required_total"]
    ]


def main(arguments: list[str]) -> int:
    """Runs the suite on the device named and checks its report."""
    (device,) = arguments
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = ["realta-conformance", "run", "--strict", "--device", device, "--json", str(path)]
        code = subprocess.run(command, check=False).returncode
        if not path.exists():
            return code or 1
        missing = uncovered(json.loads(path.read_text(encoding="utf-8")))
    for line in missing:
        print(f"not covered on {device}: {line}")
    return code or bool(missing)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
