"""Guide: runs the commands of a documentation page in an empty folder, as a reader would.

    python tools/guide.py PAGE [--folder FOLDER] [--list]

Takes the fenced blocks whose language is ``console``, in order, except those under a line
``<!-- not run: REASON -->``. They run in one shell, so that ``cd`` and variables last; the first
command that fails ends it with its exit code.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

BLOCK: Final = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]*?) -->\n\s*)?^```console\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Commands(NamedTuple):
    """A fenced block.

    Args:
        text: its commands.
        line: where it begins in the page.
        reason: why it is not run; empty if it is.
    """

    text: str
    line: int
    reason: str


def blocks(page: str) -> list[Commands]:
    """The blocks of a page in order."""
    return [
        Commands(found["body"], page.count("\n", 0, found.start("body")), found["reason"] or "")
        for found in BLOCK.finditer(page)
    ]


def script(page: str, name: str) -> str:
    """All commands that are run as one script, which tells where it is."""
    parts = ["set -e"]
    for block in blocks(page):
        if not block.reason:
            parts += [f"echo '=== {name}:{block.line}'", block.text.rstrip("\n")]
    return "\n".join(parts) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Runs a page; returns the exit code."""
    parser = argparse.ArgumentParser(description="Runs the commands of a page.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--folder", type=Path, help="an empty folder (a temporary one)")
    parser.add_argument("--list", action="store_true", help="only print the script")
    given = parser.parse_args(arguments)
    text = script(given.page.read_text("utf-8"), given.page.name)
    if given.list:
        print(text, end="")
        return 0
    if given.folder is not None and any(given.folder.iterdir()):
        print(f"{given.folder} is not empty", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        return subprocess.run(["bash", "-c", text], cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
