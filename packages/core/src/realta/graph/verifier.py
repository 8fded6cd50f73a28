"""The verifier: whether a graph keeps the rules of the IR, and where it does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from realta.errors import RealtaError, VerificationError
from realta.graph.builder import call_text
from realta.graph.graph import Graph
from realta.graph.printer import GraphPrinter, Segments
from realta.graph.values import Node, Value
from realta.types import Dim, TensorType

__all__ = ["verify"]

_CONTEXT: Final = 4
"""Lines that are shown before and after a wrong one."""


class Problem(NamedTuple):
    """What is wrong with a graph.

    Args:
        what: the rule that is broken.
        fix: how to mend it.
        role: the piece of the line to underline, as the printer names it.
        node: the node it is about; None for the first line and the return.
    """

    what: str
    fix: str
    role: str
    node: Node | None = None


def verify(graph: Graph) -> None:
    """Checks a graph: one definition before each use, attributes, result types, bound dimensions.

    Linear in nodes and edges.

    Raises:
        VerificationError: a rule is broken; the printed graph has the piece underlined.
    """
    for problem in _problems(graph, frozenset()):
        place = f"the graph {graph.name!r}"
        location = problem.node.location if problem.node is not None else None
        if location is not None:
            place += f", recorded at {location}"
        where = f"{place}\n{_underlined(graph, problem)}"
        raise VerificationError(problem.what, where=where, fix=problem.fix)


def _problems(graph: Graph, dims: frozenset[str]) -> Iterator[Problem]:
    """What is wrong with a graph, and with the graphs among its attributes.

    Args:
        graph: any graph.
        dims: names of dimensions that the graph around it binds.
    """
    for check in _CHECKS:
        yield from check(graph)
    bound = dims | _bound_names(graph)
    yield from _check_dimensions(graph, bound)
    for node in graph.nodes:
        for name in node.op.graphs:
            for problem in _problems(node.attrs[name], bound):
                if problem.node is None:  # of its head or its return: all of it is underlined
                    problem = problem._replace(node=node, role=f"attribute {name}")
                yield problem._replace(what=f"in the graph {name!r}: {problem.what}")


def _check_inputs(graph: Graph) -> Iterator[Problem]:
    seen: set[Value] = set()
    for number, value in enumerate(graph.inputs):
        if value in seen:
            yield Problem(
                f"input {number} is the same value as an earlier one",
                "list every input once",
                f"input {number}",
            )
        seen.add(value)


def _check_definitions(graph: Graph) -> Iterator[Problem]:
    known: set[Value] = set(graph.inputs)
    done: set[Node] = set()
    for node in graph.nodes:
        if node in done:
            yield Problem("an op occurs twice", "list every node once", "call", node)
        done.add(node)
        for number, operand in enumerate(node.operands):
            if operand not in known:
                yield Problem(
                    f"operand {number} of {node.op.name} is used before it is made",
                    "order the nodes so that operands come first, or make it an input",
                    f"operand {number}",
                    node,
                )
        known.update(node.outputs)
    for number, output in enumerate(graph.outputs):
        if output not in known:
            yield Problem(
                f"output {number} is neither an input nor made by an op",
                "return a value of this graph",
                f"output {number}",
            )


def _check_attributes(graph: Graph) -> Iterator[Problem]:
    for node in graph.nodes:
        declared = node.op.attrs
        for name in node.attrs:
            if name not in declared:
                yield Problem(
                    f"{node.op.name} has no attribute {name!r}",
                    f"its attributes are {', '.join(declared) or 'none'}",
                    f"attribute {name}",
                    node,
                )
        missing = [name for name in declared if name not in node.attrs]
        if missing:
            yield Problem(
                f"{node.op.name} lacks the attribute {missing[0]!r}",
                "write every attribute, also those with a default",
                "call",
                node,
            )


def _check_types(graph: Graph) -> Iterator[Problem]:
    for node in graph.nodes:
        operands = tuple([v.type for v in node.operands])
        try:
            right = node.op.result_types(operands, node.attrs)
        except RealtaError as error:
            call = call_text(node.op, operands, node.attrs)
            yield Problem(f"{call} does not hold: {error.what}", error.fix, "call", node)
            continue
        if right != node.types:
            yield Problem(
                f"the results of {node.op.name} are typed {_listed(node.types)}, "
                f"but it gives {_listed(right)}",
                "leave the types to the builder",
                "types",
                node,
            )


def _bound_names(graph: Graph) -> frozenset[str]:
    """The names of dimensions that a call binds: those that are an extent of an input alone."""
    extents = [d for v in graph.inputs for d in v.type.shape if isinstance(d, Dim)]
    return frozenset([name for d in extents if (name := str(d)) in d.names])


def _check_dimensions(graph: Graph, bound: frozenset[str]) -> Iterator[Problem]:
    fix = "give some input an extent that is this name alone, so that a call can bind it"
    for number, value in enumerate(graph.inputs):
        for name in _unbound((value.type,), bound):
            yield Problem(f"the dimension {name!r} is bound by no input", fix, f"input {number}")
    for node in graph.nodes:
        for name in _unbound(node.types, bound):
            yield Problem(f"the dimension {name!r} is bound by no input", fix, "types", node)


def _unbound(types: tuple[TensorType, ...], bound: frozenset[str]) -> Iterator[str]:
    for type in types:
        if not type.is_static:
            extents = [d for d in type.shape if isinstance(d, Dim)]
            yield from (n for n in chain(*(d.names for d in extents)) if n not in bound)


_CHECKS: Final[tuple[Callable[[Graph], Iterator[Problem]], ...]] = (
    _check_inputs,
    _check_definitions,
    _check_attributes,
    _check_types,
)
"""In order: later checks may count on what earlier ones found right."""


def _listed(types: tuple[TensorType, ...]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def _underlined(graph: Graph, problem: Problem) -> str:
    """The printed graph, or the part around the problem, with carets below the wrong piece."""
    texts: list[str] = []
    wrong, carets = 0, ""
    for node, line in GraphPrinter(graph).lines():
        if not carets and node is problem.node:
            carets = _carets(line, problem.role)
            wrong = len(texts)
        texts.append("".join([text for _, text in line]))
    shown: list[str] = []
    last = -1
    for number in sorted({0, *range(wrong - _CONTEXT, wrong + _CONTEXT + 1), len(texts) - 1}):
        if not 0 <= number < len(texts):
            continue
        if number > last + 1:
            shown.append("  ...")
        shown.append(texts[number])
        if number == wrong:
            shown.append(carets)
        last = number
    return "\n".join(f"    {text}" for text in shown)


def _carets(line: Segments, role: str) -> str:
    """Spaces and carets below the pieces of a role; empty if the line has none.

    The pieces of a call are separated by its arguments: the carets span all of it.
    """
    start = end = column = 0
    for own, text in line:
        if own == role:
            start = column if not end else start
            end = column + len(text)
        column += len(text)
    return " " * start + "^" * (end - start)
