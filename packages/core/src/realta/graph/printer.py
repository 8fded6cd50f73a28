"""The printer: a graph as text, one typed line per op, that parses back to an equal graph.

A graph among the attributes of an op, as control flow has them, stands in its place, with lines of
its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from realta.graph.literals import literal_text, type_text
from realta.graph.naming import UNKNOWN, name_text, value_names
from realta.graph.values import Node, Region, Value
from realta.types import TensorType

if TYPE_CHECKING:
    from realta.graph.graph import Graph

__all__ = ["GraphPrinter", "Segments", "print_graph"]

Segments = list[tuple[str, str]]
"""A line as pieces with a role: ``results``, ``types``, ``call``, ``operand 1``, ``input 0``,
``attribute axes``, ``output 0``, or an empty one."""

_INDENT: Final = "  "


def print_graph(
    graph: Graph,
    *,
    locations: bool = False,
    annotate: Callable[[Node], str] | None = None,
) -> str:
    """The text of a graph; `realta.graph.parse` reads it. Linear in nodes and edges.

    Args:
        graph: any graph, also one that does not verify (unknown operands print as ``%?``).
        locations: whether to add ``loc("file:line")`` to each op that has one.
        annotate: a comment for the end of a node's line, or an empty string.
    """
    printer = GraphPrinter(graph, locations=locations, annotate=annotate)
    return "\n".join("".join([text for _, text in line]) for _, line in printer.lines())


class GraphPrinter:
    """Prints one graph, line by line and piece by piece, so that errors can underline a piece.

    Args:
        graph: what to print.
        locations: whether to add locations.
        annotate: comments by node.
        brief: whether graphs among attributes are only named, so that each op has one line.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        locations: bool = False,
        annotate: Callable[[Node], str] | None = None,
        brief: bool = False,
    ) -> None:
        self.graph = graph
        self.brief = brief
        self.locations = locations
        self.annotate = annotate
        self.names = value_names(graph)
        self._regions: dict[Region, str] = {}
        self._types: dict[TensorType, str] = {}

    def lines(self) -> Iterator[tuple[Node | None, Segments]]:
        """The lines in order, each with its node (None for the first, the return and the brace).

        An op with graphs among its attributes has several, with those of the inner ops between.
        """
        yield None, self._head()
        for node in self.graph.nodes:
            yield from self._node(node)
        yield None, self._return()
        yield None, [("", "}")]

    def _head(self) -> Segments:
        line: Segments = [("", f"graph {name_text(self.graph.name)}(")]
        for number, value in enumerate(self.graph.inputs):
            line.append(("", ", " if number else ""))
            line.append((f"input {number}", f"{self._value(value)}: {self._type(value.type)}"))
        line.append(("", ") {"))
        return line

    def _return(self) -> Segments:
        line: Segments = [("", f"{_INDENT}return")]
        for number, value in enumerate(self.graph.outputs):
            line.append(("", ", " if number else " "))
            line.append((f"output {number}", self._value(value)))
        return line

    def _node(self, node: Node) -> Iterator[tuple[Node, Segments]]:
        line: Segments = [("", _INDENT)]
        if node.types:
            line.append(("results", ", ".join([self._value(v) for v in node.outputs])))
            line.append(("", ": "))
            line.append(("types", ", ".join([self._type(t) for t in node.types])))
            line.append(("", " = "))
        line.append(("call", node.op.name))
        line.append(("call", "("))
        for role, text in self._arguments(node):
            line.append((role, text))
            if not text.endswith("="):
                continue
            if self.brief:
                line.append((role, f"graph {node.attrs[text[:-1]].name}"))
                continue
            first, *between, last = self._inner(node.attrs[text[:-1]]).lines()
            yield node, line + first[1]
            for owner, part in between:
                yield owner or node, [("", _INDENT), *part]
            line = [("", _INDENT), *last[1]]
        line.append(("call", ")"))
        if node.region is not None:
            line.append(("", f" region={self._region(node.region)}"))
        if self.locations and node.location is not None:
            line.append(("", f" loc({json.dumps(str(node.location))})"))
        comment = self.annotate(node) if self.annotate else ""
        if comment:
            line.append(("", f" ; {' '.join(comment.split())}"))
        yield node, line

    def _inner(self, graph: Graph) -> GraphPrinter:
        return GraphPrinter(graph, locations=self.locations, annotate=self.annotate)

    def _arguments(self, node: Node) -> Segments:
        parts: Segments = [(f"operand {n}", self._value(v)) for n, v in enumerate(node.operands)]
        for name, value in node.attrs.items():
            text = self._attribute(node, name, value)
            if text:
                parts.append((f"attribute {name}", text))
        separated: Segments = []
        for part in parts:
            if separated:
                separated.append(("call", ", "))
            separated.append(part)
        return separated

    def _attribute(self, node: Node, name: str, value: Any) -> str:
        """``name=value``; empty for a default, ``name=`` for a graph."""
        if name in node.op.graphs and hasattr(value, "nodes"):
            return f"{name}="
        declared = node.op.attrs.get(name)
        if declared is None:  # a graph that does not verify is printed all the same
            return f"{name}={value!r}"
        try:
            text = literal_text(declared.kind, value)
        except (TypeError, ValueError, AttributeError):
            return f"{name}={value!r}"
        if declared.default is not ... and text == literal_text(declared.kind, declared.default):
            return ""
        return f"{name}={text}"

    def _value(self, value: Value) -> str:
        return f"%{self.names.get(value, UNKNOWN)}"

    def _type(self, type: TensorType) -> str:
        found = self._types.get(type)
        if found is None:
            found = self._types[type] = type_text(type)
        return found

    def _region(self, region: Region) -> str:
        """A region by name, described where it occurs first."""
        known = self._regions.get(region)
        if known is not None:
            return known
        short = self._regions[region] = f"r{len(self._regions)}"
        described = {"name": region.name, "fuse": region.fuse, "numerics": region.numerics}
        inner = ", ".join(f"{key}={json.dumps(value)}" for key, value in described.items())
        return f"{short}({inner})"
