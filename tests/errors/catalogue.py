"""Catalogue: the error paths of the public surface, each a small provocation with a title."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent


@dataclass(frozen=True, slots=True)
class Place:
    """What a provocation may need of its test: a folder of its own, and undoing of changes."""

    folder: Path
    undo: pytest.MonkeyPatch


@dataclass(frozen=True, slots=True)
class Case:
    """One wrong use.

    Attributes:
        group: the golden file that has its text.
        title: name in that file.
        provoke: makes the error.
    """

    group: str
    title: str
    provoke: Callable[[Place], Any]


CASES: Final[list[Case]] = []


def wrong(title: str) -> Callable[[Callable[[Place], Any]], Callable[[Place], Any]]:
    """Adds a provocation to the catalogue; its module is its group."""

    def add(provoke: Callable[[Place], Any]) -> Callable[[Place], Any]:
        group = provoke.__module__.rpartition(".")[2]
        CASES.append(Case(group, title, provoke))
        return provoke

    return add


def normalized(text: str, folder: Path) -> str:
    """The text without what differs between machines: paths, line numbers, versions, addresses.

    Of the backends that are switched off one stands for all: others depend on what is installed.
    """
    text = re.sub(r"(?:, )?\b(?!numpy)(\w+) \(the plugin '\1' is disabled by [^)]*\)", "", text)
    text = text.replace("not usable: , ", "not usable: ")
    text = text.replace(str(folder), "<folder>")
    text = re.sub(rf"{re.escape(str(HERE))}/\w+\.py:\d+", "<user's line>", text)
    text = re.sub(rf"{re.escape(str(ROOT))}/[\w/.-]+\.py:\d+", "<our line>", text)
    text = re.sub(r"0x[0-9a-f]{6,}", "<address>", text)
    return re.sub(r"#[0-9a-f]{16}", "#<digest>", text)


def golden_texts(group: str) -> dict[str, str]:
    """The wanted texts of a group by title."""
    path = HERE / f"{group}.txt"
    if not path.exists():
        return {}
    return dict(_sections(path.read_text(encoding="utf-8")))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        yield title, body.strip("\n")


def written(texts: dict[str, str]) -> str:
    """The golden file of texts by title."""
    return "\n\n".join(f"## {title}\n{text}" for title, text in texts.items()) + "\n"
