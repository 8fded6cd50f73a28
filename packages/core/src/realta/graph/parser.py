"""The parser: a graph out of its text; ``parse(str(graph)) == graph``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from realta.errors import RealtaError, UnsupportedOp
from realta.graph.graph import Graph
from realta.graph.literal_parser import STRING, LiteralParser
from realta.graph.literals import type_text
from realta.graph.naming import IDENTIFIER
from realta.graph.scanner import Scanner
from realta.graph.values import Input, Location, Node, Region, Value
from realta.ops import ConstantData, OpDef, get_op
from realta.types import TensorType

__all__ = ["parse"]

_GRAPH: Final = re.compile(r"graph\b")
_NAME: Final = re.compile(IDENTIFIER)
_VALUE: Final = re.compile(rf"%({IDENTIFIER}|\d+|{STRING.pattern})")
_ATTRIBUTE: Final = re.compile(r"([A-Za-z_]\w*)\s*=")
_DECORATION: Final = re.compile(r"region=|loc\(")
_RETURN: Final = re.compile(r"return\b")
_FUSE: Final = ("may", "must", "never")
_NUMERICS: Final = ("exact", "fast")
_DEEPEST: Final = 32
"""How deep graphs may stand in attributes of each other: control flow in control flow."""


def parse(
    text: str, *, source: str = "", constants: Mapping[str, ConstantData] | None = None
) -> Graph:
    """The graph that a text describes, in time linear in its length.

    The grammar is in ``docs/spec/graph.md``.

    Args:
        text: what `print_graph` writes, or a person.
        source: name of the file the text comes from: errors name it, and ops are located in it.
        constants: constants that the text names by digest, as `realta.graph.large_constants` gives.

    Raises:
        ParseError: with line, column and a caret below the place.
    """
    scanner = Scanner(text, source)
    graph = _GraphParser(scanner, LiteralParser(scanner, constants or {})).graph()
    if scanner.accept("") and scanner.start < len(scanner.text):
        raise scanner.error(f"expected the end of the text, found {scanner.found()}")
    return graph


class _GraphParser:
    """Reads one graph.

    Args:
        scanner: stands at the graph.
        literals: reads at the same place.
        depth: in how many graphs this one stands.
    """

    def __init__(self, scanner: Scanner, literals: LiteralParser, depth: int = 0) -> None:
        self.scanner = scanner
        self.literals = literals
        self.depth = depth
        self.values: dict[str, Value] = {}
        self.regions: dict[str, Region] = {}
        self.nodes: list[Node] = []

    def graph(self) -> Graph:
        scanner = self.scanner
        if scanner.match(_GRAPH) is None:
            raise scanner.error(
                f"expected 'graph', found {scanner.found()}",
                fix="a graph text begins with: graph name(%x: f32[2, 3]) {",
            )
        name = self._name("the name of the graph")
        inputs = self._inputs()
        scanner.expect("{", "the inputs")
        while not scanner.match(_RETURN):
            self._statement()
        outputs = self._operands_until("}")
        scanner.expect("}", "the outputs")
        return Graph(name, inputs, outputs, self.nodes)

    def _name(self, what: str) -> str:
        found = self.scanner.match(_NAME)
        if found is not None:
            return found.group(0)
        if self.scanner.match(STRING) is None:
            raise self.scanner.error(f"expected {what}, found {self.scanner.found()}")
        self.scanner.position = self.scanner.start
        return self.literals.string()

    def _inputs(self) -> list[Value]:
        scanner = self.scanner
        scanner.expect("(", "the name of the graph")
        inputs: list[Value] = []
        if scanner.accept(")"):
            return inputs
        while True:
            name, position = self._value_name("an input such as %x")
            scanner.expect(":", "the name of an input")
            type = self.literals.type()
            anonymous = name.rstrip("_") == f"arg{len(inputs)}"
            value = Input(type, "" if anonymous else self._unquoted(name))
            self._bind(name, value, position)
            inputs.append(value)
            if not scanner.accept(","):
                break
        scanner.expect(")", "the inputs")
        return inputs

    def _unquoted(self, name: str) -> str:
        return name if not name.startswith('"') else LiteralParser(Scanner(name), {}).string()

    def _value_name(self, what: str) -> tuple[str, int]:
        found = self.scanner.match(_VALUE)
        if found is None:
            raise self.scanner.error(f"expected {what}, found {self.scanner.found()}")
        return found.group(1), self.scanner.start

    def _bind(self, name: str, value: Value, position: int) -> None:
        if name in self.values:
            raise self.scanner.error(
                f"%{name} is defined twice", at=position, fix="give every value its own name"
            )
        self.values[name] = value

    def _operand(self) -> Value:
        name, position = self._value_name("a value such as %0")
        value = self.values.get(name)
        if value is None:
            raise self.scanner.error(
                f"%{name} is not defined before it is used",
                at=position,
                fix="define it in a line above, or make it an input",
            )
        return value

    def _operands_until(self, end: str) -> list[Value]:
        operands: list[Value] = []
        if self.scanner.accept(end):
            self.scanner.position = self.scanner.start
            return operands
        while True:
            operands.append(self._operand())
            if not self.scanner.accept(","):
                return operands

    def _statement(self) -> None:
        names, types, types_at = self._results()
        op, op_at = self._op()
        operands, attrs = self._arguments(op)
        region, where = self._decorations(op_at)
        try:
            node = Node(op, operands, op.make_attrs(attrs), where=where, region=region)
        except RealtaError as error:
            raise self.scanner.error(error.what, at=op_at, fix=error.fix) from error
        if node.types != types:
            written = ", ".join(map(type_text, types)) or "no result"
            gives = ", ".join(map(type_text, node.types)) or "no result"
            raise self.scanner.error(
                f"the line says {written}, but {op.name} gives {gives}",
                at=types_at,
                fix=f"write {gives}",
            )
        self.nodes.append(node)
        for (name, position), output in zip(names, node.outputs, strict=True):
            self._bind(name, output, position)

    def _results(self) -> tuple[list[tuple[str, int]], tuple[TensorType, ...], int]:
        """``%3, %4: f32[2], i64[2] =``; nothing for an op without results."""
        scanner = self.scanner
        if not scanner.accept("%"):
            return [], (), scanner.start
        scanner.position = scanner.start
        names = [self._value_name("a result such as %0")]
        while scanner.accept(","):
            names.append(self._value_name("a result such as %0"))
        scanner.expect(":", "the results")
        types = [self.literals.type()]
        types_at = scanner.start
        while scanner.accept(","):
            types.append(self.literals.type())
        scanner.expect("=", "the result types")
        if len(types) != len(names):
            raise scanner.error(
                f"{len(names)} result(s) have {len(types)} type(s)",
                at=types_at,
                fix="write one type for each result",
            )
        return names, tuple(types), types_at

    def _op(self) -> tuple[OpDef, int]:
        found = self.scanner.match(_NAME)
        if found is None:
            raise self.scanner.error(
                f"expected an op, '%' or 'return', found {self.scanner.found()}",
                fix="a graph ends with: return %0, and a closing brace",
            )
        position = self.scanner.start
        try:
            return get_op(found.group(0)), position
        except UnsupportedOp as error:
            raise self.scanner.error(error.what, at=position, fix=error.fix) from None

    def _arguments(self, op: OpDef) -> tuple[tuple[Value, ...], dict[str, Any]]:
        scanner = self.scanner
        scanner.expect("(", f"the op {op.name}")
        operands: list[Value] = []
        attrs: dict[str, Any] = {}
        if scanner.accept(")"):
            return (), attrs
        while True:
            found = scanner.match(_ATTRIBUTE)
            if found is not None:
                self._attribute(op, found.group(1), attrs)
            elif attrs:
                raise scanner.error(f"expected an attribute, found {scanner.found()}")
            else:
                operands.append(self._operand())
            if not scanner.accept(","):
                break
        scanner.expect(")", "the arguments")
        return tuple(operands), attrs

    def _attribute(self, op: OpDef, name: str, attrs: dict[str, Any]) -> None:
        declared = op.attrs.get(name)
        if declared is None:
            raise self.scanner.error(
                f"{op.name} has no attribute {name!r}",
                fix=f"its attributes are {', '.join(op.attrs) or 'none'}",
            )
        if name in attrs:
            raise self.scanner.error(f"the attribute {name!r} is given twice", fix="give it once")
        if declared.kind == "graph":
            attrs[name] = self._inner()
        else:
            attrs[name] = self.literals.literal(declared.kind)

    def _inner(self) -> Graph:
        """A graph as an attribute: names of its own, nothing of the graph around it."""
        if self.depth == _DEEPEST:
            raise self.scanner.error(
                f"graphs stand in each other more than {_DEEPEST} deep", fix="flatten the text"
            )
        for text, graph in self.literals.graphs:
            if self.scanner.accept(text):
                return graph  # shared, as it was before it was printed
        begin = self.scanner.position
        found = _GraphParser(self.scanner, self.literals, self.depth + 1).graph()
        self.literals.graphs.append((self.scanner.text[begin : self.scanner.position], found))
        return found

    def _decorations(self, op_at: int) -> tuple[Region | None, Location | None]:
        """The region and the location of an op, if it has them."""
        region: Region | None = None
        source = self.scanner.source
        while (found := self.scanner.match(_DECORATION)) is not None:
            if found.group(0) == "region=":
                region = self._region()
                continue
            text = self.literals.string()
            self.scanner.expect(")", "a location")
            return region, Location(None, 0, text)
        line = f"{source}:{self.scanner.line_at(op_at)}" if source else ""
        return region, Location(None, 0, line) if line else None

    def _region(self) -> Region:
        """``r0(name="mlp", fuse="must", numerics="exact")``, or ``r0`` once it is known."""
        name = self._name("the name of a region")
        position = self.scanner.start
        if not self.scanner.accept("("):
            if name not in self.regions:
                raise self.scanner.error(
                    f"the region {name} is not described",
                    at=position,
                    fix=f'write {name}(name="...") where it occurs first',
                )
            return self.regions[name]
        fields: dict[str, str] = {}
        while (found := self.scanner.match(_ATTRIBUTE)) is not None:
            fields[found.group(1)] = self.literals.string()
            self.scanner.accept(",")
        self.scanner.expect(")", "the fields of a region")
        self.regions[name] = self._described(name, fields, position)
        return self.regions[name]

    def _described(self, name: str, fields: dict[str, str], position: int) -> Region:
        fuse, numerics = fields.get("fuse", "may"), fields.get("numerics", "exact")
        wrong = set(fields) - {"name", "fuse", "numerics"}
        if name in self.regions or wrong or fuse not in _FUSE or numerics not in _NUMERICS:
            raise self.scanner.error(
                f"the region {name} is not described rightly, or twice",
                at=position,
                fix=f"its fields are name, fuse ({', '.join(_FUSE)}), "
                f"numerics ({', '.join(_NUMERICS)})",
            )
        return Region(fields.get("name", name), fuse, numerics)  # type: ignore[arg-type]
