"""The command ``python -m realta_saboteurs``: prints the table and exits 1 on a mismatch."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from realta_conformance.cli.running import jobs_of

from realta_saboteurs.score import run
from realta_saboteurs.table import FAULTS, rows


def main() -> int:
    """Runs the table; returns the exit code."""
    parser = argparse.ArgumentParser(prog="realta_saboteurs", description=__doc__)
    parser.add_argument("names", nargs="*", help="saboteurs to run; all if left out")
    parser.add_argument("--sample", action="store_true", help="a third of the cases")
    parser.add_argument("--jobs", default="1", help="processes: a number, or auto")
    parser.add_argument("--mutants", action="store_true", help="generated ones, and their score")
    parser.add_argument("--json", type=Path, help="where to write the score")
    parser.add_argument("--page", type=Path, help="where to write the page of the docs")
    options = parser.parse_args()
    if options.mutants:
        return run(options.sample, jobs_of(options.jobs), options.json, options.page)
    unknown = sorted(set(options.names) - {f.name for f in FAULTS})
    if unknown:
        print(f"there is no saboteur {unknown[0]!r}", file=sys.stderr)
        return 2
    wanted = [f for f in FAULTS if not options.names or f.name in options.names]
    print(f"{'saboteur':22} {'caught by':44} what is wrong with it")
    wrong = 0
    for row in rows(wanted, sample=options.sample, jobs=jobs_of(options.jobs)):
        caught = ", ".join(sorted(row.found)) or "nothing"
        print(f"{row.fault.name:22} {caught:44} {row.fault.tells.rstrip('.')}", flush=True)
        if not row.right:
            wrong += 1
            print(f"{'':22} MISMATCH {row.problem}", flush=True)
    print(f"{len(wanted) - wrong} of {len(wanted)} saboteurs are caught exactly as declared")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
