"""Value names: what each value of a graph is called in its text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from realta.graph.values import Value

if TYPE_CHECKING:
    from realta.graph.graph import Graph

__all__ = ["IDENTIFIER", "UNKNOWN", "name_text", "value_names"]

IDENTIFIER: Final = r"[A-Za-z_][A-Za-z0-9_.]*"
"""A name that stands in a text as it is; others are quoted as JSON strings."""
UNKNOWN: Final = "?"
"""Stands for a value that the graph neither takes nor makes."""

_PLAIN: Final = re.compile(IDENTIFIER)


def name_text(name: str) -> str:
    """A name as it stands in a text: quoted where it is no identifier."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name)


def value_names(graph: Graph) -> dict[Value, str]:
    """The name of every value, without the percent sign.

    Inputs have their own name if no other has it, else ``arg`` and their number; results are
    numbered in order.
    """
    names: dict[Value, str] = {}
    own_names = frozenset(graph.input_name(v) for v in graph.inputs)
    taken = set(own_names)
    for number, value in enumerate(graph.inputs):
        own = graph.input_name(value)
        if own and own in taken:
            taken.remove(own)  # the first input of a name keeps it
            names.setdefault(value, name_text(own))
        else:
            names.setdefault(value, _free_name(f"arg{number}", own_names))
    count = 0
    for node in graph.nodes:
        for output in node.outputs:
            names.setdefault(output, str(count))
            count += 1
    return names


def _free_name(wanted: str, taken: frozenset[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
