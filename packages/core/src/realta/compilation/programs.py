"""Programs: what a graph is compiled to: one program, or one for each set of extents."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Final

from realta import runtime
from realta.context import caller_location
from realta.errors import ShapeError
from realta.graph import Graph
from realta.locks import Lock
from realta.passes.specialize import specialize

__all__ = ["KEPT", "Programs"]

KEPT: Final = 64
"""Programs for different extents that one graph keeps; the least recently used goes first."""


class Programs:
    """The programs of one graph, with the places of its ops for errors.

    Args:
        graph: the graph; compiled at once if all its extents are known.
        options: how to compile it.
        device: where it runs if its types name no device.

    Attributes:
        static: the only program of a graph without symbolic dimensions, else None.
        places: where its ops stand in the user's program.
    """

    __slots__ = (
        "_found", "_lock", "_open_program", "_warned", "device", "graph", "options", "places",
        "static",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        options: runtime.Options,
        device: runtime.OpenDevice | None = None,
    ) -> None:
        self.graph = graph
        self.options = options
        self.device = device
        self.places = runtime.Places(graph.nodes).keep()
        self._found: dict[Any, runtime.Program] = {}
        self._lock = Lock()
        self._warned = False
        self.static: runtime.Program | None = None
        home = runtime.graph_device(graph) if device is None else device
        self._open_program = runtime.OpenProgram(graph, home, options)
        if all(value.type.is_static for value in graph.inputs):
            self.static = runtime.program_for(graph, options, device)

    def get(self, names: Mapping[str, int]) -> runtime.Program:
        """The program for these extents.

        Raises:
            ShapeError: the extents do not fit an op.
            RealtaError: it cannot be compiled.
        """
        if self.static is not None:
            return self.static
        key = tuple(sorted(names.items()))
        with self._lock:
            program = self._found.pop(key, None)
            if program is not None:
                self._found[key] = program  # now the last one to go
                return program
        program = self._open_program.bind(dict(key))
        if program is None:
            graph = specialize(self.graph, names)
            program = runtime.program_for(graph, self.options, self.device)
        with self._lock:
            self._found[key] = program
            full = len(self._found) > KEPT
            if full:
                del self._found[next(iter(self._found))]
        if full and not self._warned:
            self._warned = True
            self._warn()
        return program

    def _warn(self) -> None:
        place = caller_location()
        warnings.warn_explicit(
            f"{self.graph.name} was called with more than {KEPT} sets of extents, so the programs "
            "used least recently are compiled again when they are needed; pad to fewer lengths",
            RuntimeWarning,
            place.file,
            place.line,
        )

    def only(self) -> runtime.Program:
        """The only program.

        Raises:
            ShapeError: dimensions are symbolic, so there is one for each call's extents.
        """
        if self.static is None:
            raise ShapeError(
                f"{self.graph.name} has symbolic dimensions, so it is compiled when it is called",
                fix="compile it for static shapes, or call it and use `profile`",
            )
        return self.static
