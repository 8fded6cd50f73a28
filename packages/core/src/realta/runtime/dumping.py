"""Dumping: graphs before and after each pass, and kernels, as files: a folder for each graph.

A file that cannot be written is warned of once; it never keeps a graph from being compiled.
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from realta.graph import Graph, Node, call_text, print_graph
from realta.runtime.contract import KernelReport
from realta.runtime.units import format_bytes

__all__ = ["Dump", "dump_file", "node_lines", "open_dump"]

_VARIABLE: Final = "REALTA_DUMP"
_LONGEST: Final = 60
"""Letters of a name; file systems allow 255 bytes."""
_lock = threading.Lock()
_refused: Final[set[str]] = set()


class Dump:
    """The folder of one graph.

    Args:
        folder: where it is.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def graph(self, name: str, graph: Graph) -> None:
        """Writes a graph, with the places of its ops."""
        dump_file(self.folder, f"{name}.graph", print_graph(graph, locations=True))

    def kernels(self, device: str, nodes: Sequence[Node], reports: Sequence[KernelReport]) -> None:
        """Writes each kernel: what it computes, for which lines, and its source if it has one.

        Args:
            device: name of the device.
            nodes: the nodes of the graph that was compiled.
            reports: its kernels.
        """
        for report in reports:
            read, written = format_bytes(report.bytes_read), format_bytes(report.bytes_written)
            about = [
                f"kernel {report.name} on {device}",
                *node_lines([nodes[n] for n in report.nodes]),
                f"reads {read}, writes {written}, counts {report.operations} operations",
            ]
            if report.schedule:
                about.append(f"{report.schedule} {report.profile}".rstrip())
            if report.reason:
                about.append(f"on its own because {report.reason}")
            lines = [f"// {line}" for line in about]
            text = "\n".join([*lines, "", report.source or "// no source was generated"])
            dump_file(self.folder, f"{report.name}.source", text)


def node_lines(nodes: Sequence[Node]) -> list[str]:
    """A line for each node that computes, with the place in the user's program it comes from."""
    lines = []
    for node in nodes:
        if node.op.name == "constant":
            continue
        text = call_text(node.op, [value.type for value in node.operands])
        place = "" if node.location is None else str(node.location)
        lines.append(f"  {text} at {place}" if place else f"  {text}")
    return lines


def open_dump(root: str, name: str) -> Dump | None:
    """A new folder for a graph.

    Args:
        root: the folder in which it is made; if empty, the one that ``REALTA_DUMP`` names.
        name: name of the graph.

    Returns:
        The folder; None if nothing is to be written, or if it cannot be.
    """
    root = root or os.environ.get(_VARIABLE, "")
    if not root:
        return None
    try:
        with _lock:
            return Dump(str(_new_folder(Path(root), _readable(name))))
    except OSError as error:
        _warn(root, error)
        return None


def _new_folder(root: Path, name: str) -> Path:
    """The next number's folder; other processes may be making theirs at the same time."""
    root.mkdir(parents=True, exist_ok=True)
    number = sum(1 for _ in root.iterdir())
    while True:
        folder = root / f"{number:04}-{name}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def dump_file(folder: str, name: str, text: str) -> None:
    """Writes the next file of a graph's folder.

    Args:
        folder: `Options.dump`.
        name: what it is called, without the number that is put before it.
        text: what it holds.
    """
    stem, _, suffix = name.rpartition(".")
    try:
        number = sum(1 for _ in Path(folder).iterdir())
        path = Path(folder, f"{number:02}-{_readable(stem)}.{suffix}")
        path.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    except OSError as error:
        _warn(folder, error)


def _readable(name: str) -> str:
    """A name made of letters that every file system takes."""
    return re.sub(r"[^\w.+-]+", "_", name).strip("_.")[:_LONGEST] or "graph"


def _warn(folder: str, error: OSError) -> None:
    """Warns once a process: what is dumped helps people, and nobody waits for it."""
    if _refused:
        return
    _refused.add(folder)
    warnings.warn(
        f"nothing is written to {folder} ({error.strerror or error}). "
        f"Set {_VARIABLE} to a folder that can be written, or unset it.",
        RuntimeWarning,
        stacklevel=2,
    )
