"""``realta new-backend``: a complete repository for a backend, green from the start."""

from __future__ import annotations

import argparse
import keyword
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

import realta
from realta.errors import ArgumentError
from realta.runtime import SPEC

__all__ = ["NAME", "TIERS", "add_arguments", "collect", "show"]

NAME: Final = "new-backend"
TIERS: Final = {
    "op": "a table of kernels, one for each op",
    "kernel": "realta writes kernels in C, OpenCL C or CUDA C++; you build and launch them",
    "graph": "a session that gets whole graphs",
}
_TEMPLATES: Final = Path(__file__).parent / "templates"
_SUFFIX: Final = ".in"
_SHARED: Final = {"op": ("common", "host"), "kernel": ("common",), "graph": ("common", "host")}
_PLACES: Final = {
    "gitignore": ".gitignore",
    "conformance.yml": ".github/workflows/conformance.yml",
    "test_backend.py": "tests/test_{name}.py",
    "README.md": "README.md",
    "pyproject.toml": "pyproject.toml",
    "conformance.toml": "conformance.toml",
}
"""Where files of a template go that do not belong to the package."""
_TAKEN: Final = frozenset({"cpu", "accelerator", "reference", "interp", "core", "conformance"})


class Names(NamedTuple):
    """What stands in the files in place of ``@...@``.

    Args:
        name: name of the backend, as in ``NAME:0``.
        package: import name.
        distribution: name of the distribution.
        class_name: the class of the backend.
    """

    name: str
    package: str
    distribution: str
    class_name: str

    def fill(self, text: str) -> str:
        """A template with these names in it."""
        major, minor = [int(part) for part in realta.__version__.split(".")[:2]]
        values = {
            "name": self.name, "package": self.package, "distribution": self.distribution,
            "class": self.class_name, "major": SPEC.partition(".")[0],
            "range": f">={major}.{minor},<{major}.{minor + 1}",
        }  # fmt: skip
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The name, the tier, and where the repository goes."""
    parser.add_argument("name", help="name of the backend, as in NAME:0")
    tiers = "; ".join(f"{tier}: {what}" for tier, what in TIERS.items())
    parser.add_argument("--tier", choices=tuple(TIERS), default="op", help=tiers)
    parser.add_argument("--into", default="", help="folder of the repository (realta-NAME)")


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """Writes the files.

    Raises:
        ArgumentError: the name is none, or there is something in the folder.
    """
    names = _names(arguments.name)
    folder = Path(arguments.into or names.distribution)
    _check_folder(folder)
    written = []
    for place, text in _files(arguments.tier, names):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        written.append(place)
    return {
        "backend": names.name, "tier": arguments.tier, "folder": str(folder),
        "device": f"{names.name}:0", "files": sorted(written),
    }  # fmt: skip


def _names(name: str) -> Names:
    good = re.fullmatch(r"[a-z][a-z0-9_]*", name) and not name.endswith("_")
    if not good or keyword.iskeyword(name):
        raise ArgumentError(
            f"a backend cannot be called {name!r}",
            where=f"realta {NAME} {name}",
            fix="use lower-case letters, digits and _, beginning with a letter, as in my_chip",
        )
    if name in _TAKEN:
        raise ArgumentError(
            f"the name {name!r} means something else in device names",
            where=f"realta {NAME} {name}",
            fix=f"choose one that is not among {', '.join(sorted(_TAKEN))}",
        )
    words = [word for word in name.split("_") if word]
    return Names(
        name, f"realta_{name}", f"realta-{'-'.join(words)}", "".join(map(str.capitalize, words))
    )


def _check_folder(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentError(
            "there is something already where the repository is to go",
            where=str(folder),
            fix="give another folder with --into, or empty that one",
        )


def _files(tier: str, names: Names) -> list[tuple[str, str]]:
    """The files of a tier: their places in the repository and their texts."""
    found = [(f"src/{names.package}/py.typed", "")]
    for part in (*_SHARED[tier], tier):
        for path in sorted((_TEMPLATES / part).glob(f"*{_SUFFIX}")):
            plain = path.name.removesuffix(_SUFFIX)
            place = _PLACES.get(plain, f"src/{names.package}/{plain}").format(name=names.name)
            found.append((place, names.fill(path.read_text(encoding="utf-8"))))
    return found


def show(data: dict[str, Any]) -> None:
    """What was written, and the commands to go on with."""
    print(f"{data['folder']}: a backend of the {data['tier']} tier")
    for name in data["files"]:
        print(f"  {name}")
    print(
        f"\ncd {data['folder']}\n"
        'python -m pip install -e ".[test]"\n'
        "python -m pytest\n"
        f"realta-conformance run --device {data['device']} --level core"
    )
