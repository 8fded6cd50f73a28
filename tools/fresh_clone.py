"""Fresh clone: runs the checks of CI in a clone of this repository, in an empty folder, in time.

    python tools/fresh_clone.py

The README's two commands are among them. Exits with the code of `.ci/run`, or 1 after 20 minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 20 * 60


def main() -> int:
    """Clones and runs."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("REALTA_", "NOX"))
    }
    kept.pop("VIRTUAL_ENV", None)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "realta"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        try:
            done = subprocess.run(
                [str(clone / ".ci" / "run")], cwd=clone, env=kept, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"not done after {SECONDS // 60} minutes")
            return 1
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
