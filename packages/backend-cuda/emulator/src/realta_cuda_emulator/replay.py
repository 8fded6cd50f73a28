"""Replay: recorded launches under every sanitizer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from realta_cuda_emulator.sanitizers import PASSES, watch

__all__ = ["Recorded", "recorded", "replay"]

_MOST_BLOCKS: Final = 64  # ThreadSanitizer keeps something for each thread of each


class Recorded(NamedTuple):
    """A launch that the stand-in driver recorded.

    Args:
        kernel: the name of the kernel.
        source: where its source is.
        launch: where the launch is.
    """

    kernel: str
    source: Path
    launch: Path


def recorded(folder: Path, most: int) -> list[Recorded]:
    """At most so many launches with few blocks, as many of each kind of kernel as there can be.

    The kind is the name without numbers; the choice is the same each time.
    """
    kinds: dict[str, list[Recorded]] = {}
    for launch in sorted(folder.glob("*.launch")):
        key, _, kernel = launch.stem.partition("-")
        source = folder / f"{key}.cu"
        if source.exists() and _blocks(launch) <= _MOST_BLOCKS:
            kind = re.sub(r"[\d_]+", "", kernel)
            kinds.setdefault(kind, []).append(Recorded(kernel, source, launch))
    turns = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return list(islice((launch for turn in turns for launch in turn if launch), most))


def replay(launches: list[Recorded], workers: int = 2) -> Iterator[tuple[Recorded, str, str]]:
    """Watches each launch in each way: the launch, the way, and the report if it is not clean."""

    def one(work: tuple[Recorded, str]) -> tuple[Recorded, str, str]:
        launch, name = work
        source = launch.source.read_text(encoding="utf-8")
        verdict = watch(source, launch.kernel, launch.launch.read_bytes(), PASSES[name])
        return launch, name, "" if verdict.clean else verdict.report or "it fails"

    with ThreadPoolExecutor(max_workers=workers) as pool:
        yield from pool.map(one, [(launch, name) for launch in launches for name in PASSES])


def _blocks(launch: Path) -> int:
    with launch.open("rb") as file:
        sizes = [int(word) for word in file.readline().split()[:3]]
    return sizes[0] * sizes[1] * sizes[2]
