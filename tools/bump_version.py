"""Version bump: writes one version number, and the ranges that follow from it, everywhere.

    python tools/bump_version.py          prints the version
    python tools/bump_version.py 0.2.0    sets it in every member

All members share one version and depend on each other as >=X.Y,<X.(Y+1).
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION_LINE = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)
SIBLING_RANGE = re.compile(r'"(realta(?:-[a-z]+)?)([<>=!~][^"]*)"')


def members(root: Path = ROOT) -> list[Path]:
    """Lists the pyproject.toml of every workspace member."""
    workspace = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return [
        root / name / "pyproject.toml" for name in workspace["tool"]["uv"]["workspace"]["members"]
    ]


def versions(root: Path = ROOT) -> dict[str, str]:
    """Maps each member's distribution name to its version."""
    projects = [
        tomllib.loads(path.read_text(encoding="utf-8"))["project"] for path in members(root)
    ]
    return {project["name"]: project["version"] for project in projects}


def sibling_range(version: str) -> str:
    """Returns the range by which one member asks for another.

    >>> sibling_range("0.1.3")
    '>=0.1,<0.2'
    """
    major, minor, _ = (int(part) for part in version.split("."))
    return f">={major}.{minor},<{major}.{minor + 1}"


def sibling_ranges(root: Path = ROOT) -> set[str]:
    """Collects every range by which a member asks for another."""
    texts = [path.read_text(encoding="utf-8") for path in members(root)]
    return {found[1] for text in texts for found in SIBLING_RANGE.findall(text)}


def bumped(text: str, version: str) -> str:
    """Returns a member's pyproject.toml with another version."""
    text = VERSION_LINE.sub(f'version = "{version}"', text, count=1)
    return SIBLING_RANGE.sub(rf'"\g<1>{sibling_range(version)}"', text)


def main(arguments: list[str]) -> int:
    """Prints the version, or sets the one given."""
    if not arguments:
        print(*sorted(set(versions().values())))
        return 0
    version = arguments[0]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        print(f"{version!r} is not a version: write three numbers, as in 0.2.0", file=sys.stderr)
        return 2
    for path in members():
        path.write_text(bumped(path.read_text(encoding="utf-8"), version), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {version}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
