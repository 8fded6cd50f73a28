"""Splitting: cuts kernels that take more arguments than the device allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from realta.fusion.draft import Draft
from realta.fusion.limits import Limits
from realta.fusion.refusals import Read, limit_text
from realta.fusion.views import is_number_constant
from realta.graph import Node, Value

__all__ = ["argument_limit", "split_drafts"]

ARGUMENT_BYTES: Final = 8
"""Each buffer is passed as a pointer."""


def argument_limit(limits: Limits) -> int | None:
    """The most buffers, inputs and outputs together, that a kernel may take; None: any number."""
    bounds = [] if limits.arguments is None else [limits.arguments]
    if limits.parameter_bytes is not None:
        bounds.append(limits.parameter_bytes // ARGUMENT_BYTES)
    return min(bounds, default=None)


def split_drafts(drafts: Sequence[Draft], stored: set[Value], most: int) -> list[Draft]:
    """The drafts with each one that takes too many arguments cut into consecutive parts.

    An op that takes more on its own stays: no cut can help it.

    Args:
        drafts: the kernels.
        stored: values that other kernels read, and outputs of the graph.
        most: the most arguments of one kernel.
    """
    found = []
    for draft in drafts:
        cutter = _Cutter(draft, stored)
        if len(draft.nodes) == 1 or cutter.whole() <= most:
            found.append(draft)
            continue
        start = 0
        for stop in [*cutter.cuts(most), len(draft.nodes)]:
            found.append(
                replace(
                    draft,
                    nodes=draft.nodes[start:stop],
                    reads=draft.reads[start:stop],
                    split=limit_text(most),
                )
            )
            start = stop
    return found


class _Cutter:
    """Counts the arguments of a kernel while its nodes are added one by one."""

    def __init__(self, draft: Draft, stored: set[Value]) -> None:
        self.draft = draft
        self.stored = stored
        self.readers: dict[Value, int] = {}
        for reads in draft.reads:
            for source in _sources(reads):
                self.readers[source] = self.readers.get(source, 0) + 1

    def whole(self) -> int:
        """Arguments of the kernel uncut."""
        made = {v for n in self.draft.nodes for v in n.outputs}
        return sum(v not in made for v in self.readers) + sum(v in self.stored for v in made)

    def cuts(self, most: int) -> list[int]:
        """Positions before which to cut so that no part takes more than ``most`` arguments."""
        found = []
        self._start()
        for position, (node, reads) in enumerate(
            zip(self.draft.nodes, self.draft.reads, strict=True)
        ):
            if position and self._with(node, reads) > most:
                found.append(position)
                self._start()
            self._add(node, reads)
        return found

    def _start(self) -> None:
        self.inputs: set[Value] = set()
        self.made: dict[Value, int] = {}
        self.outputs = 0

    def _with(self, node: Node, reads: Sequence[Read]) -> int:
        """Arguments if this node were added."""
        sources = _sources(reads)
        new = sum(v not in self.made and v not in self.inputs for v in sources)
        done = sum(self.made.get(v) == 1 and v not in self.stored for v in sources)
        return len(self.inputs) + new + self.outputs - done + self._outputs_of(node)

    def _add(self, node: Node, reads: Sequence[Read]) -> None:
        for source in _sources(reads):
            if source not in self.made:
                self.inputs.add(source)
                continue
            self.made[source] -= 1
            if self.made[source] == 0 and source not in self.stored:
                self.outputs -= 1
        for value in node.outputs:
            self.made[value] = self.readers.get(value, 0)
        self.outputs += self._outputs_of(node)

    def _outputs_of(self, node: Node) -> int:
        return sum(v in self.stored or self.readers.get(v, 0) > 0 for v in node.outputs)


def _sources(reads: Sequence[Read]) -> set[Value]:
    """What a node reads from memory or from its own kernel; literals take no argument."""
    return {r.source for r in reads if not is_number_constant(r.source)}
