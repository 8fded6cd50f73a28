"""Scan: the entry points of installed distributions, read without importing anything.

``importlib.metadata`` takes longer to import than the rest of core, so the directories on the path
are read here: ``*.dist-info`` and ``*.egg-info`` with their ``entry_points.txt``, and what
``.egg-link`` files point to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from realta.locks import Lock

__all__ = ["EntryPoint", "entry_points", "forget"]

_KINDS: Final = ("backends", "ops", "passes")
_METADATA: Final = (".dist-info", ".egg-info")


class EntryPoint(NamedTuple):
    """One line of a distribution's ``entry_points.txt``.

    Args:
        kind: ``backends``, ``ops`` or ``passes``.
        major: major version of the contract that it speaks.
        name: name of the entry.
        value: ``module`` or ``module:object``.
        distribution: name of the distribution.
        version: its version.
    """

    kind: str
    major: int
    name: str
    value: str
    distribution: str
    version: str


_lock: Final = Lock()
_found: Final[dict[tuple[str, ...], tuple[EntryPoint, ...]]] = {}


def entry_points() -> tuple[EntryPoint, ...]:
    """The entry points of all ``realta`` groups on ``sys.path``; read once per path."""
    path = tuple(sys.path)
    found = _found.get(path)
    if found is None:
        with _lock:
            found = tuple(_scan(path))
            _found.clear()
            _found[path] = found
    return found


def forget() -> None:
    """Makes the next look-up read the directories again."""
    with _lock:
        _found.clear()


def _scan(path: Sequence[str]) -> Iterator[EntryPoint]:
    seen: set[str] = set()
    folders = list(path)
    for folder in folders:
        for name in _listed(folder or os.curdir):
            if name.endswith(".egg-link"):
                linked = _first_line(os.path.join(folder, name))
                if linked and linked not in folders:
                    folders.append(linked)
                continue
            if not name.endswith(_METADATA):
                continue
            distribution, version = _identity(name)
            if distribution in seen:
                continue  # shadowed by one earlier on the path, as in an import
            seen.add(distribution)
            text = _read(os.path.join(folder or os.curdir, name, "entry_points.txt"))
            if "realta." in text:
                yield from _parse(text, distribution, version)


def _listed(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [entry.name for entry in found if entry.name.endswith((*_METADATA, ".egg-link"))]
    except OSError:
        return []


def _identity(folder: str) -> tuple[str, str]:
    """Name and version of a distribution from the name of its metadata folder."""
    stem = folder.rpartition(".")[0]
    name, _, rest = stem.partition("-")
    # Written without `re`, since compiling a pattern takes longer than reading the folders.
    words = name.replace("_", "-").replace(".", "-").split("-")
    return "-".join(filter(None, words)).lower(), rest.partition("-")[0]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _first_line(path: str) -> str:
    return _read(path).partition("\n")[0].strip()


def _parse(text: str, distribution: str, version: str) -> Iterator[EntryPoint]:
    group: tuple[str, int] | None = None
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            group = _group(line[1:-1].strip())
        elif group is not None and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            target = value.partition("[")[0].strip()
            yield EntryPoint(*group, name.strip(), target, distribution, version)


def _group(name: str) -> tuple[str, int] | None:
    """Kind and major version of a group such as ``realta.backends.v1``; None for foreign ones."""
    owner, _, rest = name.partition(".")
    kind, _, version = rest.partition(".")
    if owner != "realta" or kind not in _KINDS or not version.startswith("v"):
        return None
    return (kind, int(version[1:])) if version[1:].isdecimal() else None
