"""Graph cases: graphs whose ops a backend may merge, and what each of them catches.

A graph is written in the text of the IR; ``$T`` stands for the dtype under test. Each is run whole
and op by op, and on an exact device both give the same bits.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from realta.types import DTYPES, DType, as_dtype

from realta_conformance.case import GraphCase, graph_case

__all__ = ["Pattern", "dtypes_of", "elements_of", "graph_cases", "patterns"]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A graph with a hole for the dtype.

    Args:
        id: its name.
        level: the level it belongs to.
        text: the graph.
        dtypes: dtypes it is tried with.
        domains: value domain of each input, or one for all.
        note: what it catches.
        corpus: ids of the bug corpus that it covers.
        inputs: operands in written form; empty for drawn ones.
        right: results in written form, where they are the same for all dtypes.
    """

    id: str
    level: str
    text: str
    dtypes: tuple[DType, ...]
    domains: tuple[str, ...]
    note: str
    corpus: tuple[str, ...]
    inputs: tuple[Any, ...]
    right: tuple[Any, ...]

    @property
    def plain(self) -> bool:
        """Whether it has no control flow, which core runs for sessions that do not."""
        return "=graph " not in self.text


@cache
def patterns() -> tuple[Pattern, ...]:
    """The patterns of ``graphs.toml``."""
    text = files("realta_conformance").joinpath("graphs.toml").read_text("utf-8")
    found = []
    for entry in tomllib.loads(text)["graph"]:
        dtypes = tuple(as_dtype(d) for d in entry.get("dtypes", ["float32"]))
        found.append(
            Pattern(
                entry["id"],
                entry.get("level", "fusion"),
                _text(entry),
                dtypes,
                tuple(entry.get("domains", ["any"])),
                entry["note"],
                tuple(entry.get("corpus", [])),
                tuple(entry.get("inputs", [])),
                tuple(entry.get("right", [])),
            )
        )
    return tuple(found)


def _text(entry: dict[str, Any]) -> str:
    """The text of a graph; one that adds up many operands is written here."""
    count = entry.get("operands")
    if count is None:
        return str(entry["text"])
    heads = ", ".join(f"%x{n}: $T[33]" for n in range(count))
    lines = [f"  %{n}: $T[33] = add(%{n - 1 if n else 'x0'}, %x{n + 1})" for n in range(count - 1)]
    return f"graph many_inputs({heads}) {{\n" + "\n".join(lines) + f"\n  return %{count - 2}\n}}\n"


def graph_cases(
    level: str, storage: frozenset[DType] = frozenset(DTYPES), *, rounds: bool = True
) -> Iterator[GraphCase]:
    """The graph cases of a level.

    Args:
        level: the level.
        storage: dtypes that the device stores.
        rounds: whether the device promises that every op rounds at its boundary.
    """
    for pattern in patterns():
        if pattern.level != level:
            continue
        for dtype in pattern.dtypes:
            if dtype in storage:
                yield _case(pattern, dtype, rounds)


def dtypes_of(pattern: Pattern, dtype: DType) -> frozenset[DType]:
    """Every dtype that a pattern needs where ``$T`` is this one."""
    source = _case(pattern, dtype, True).source
    values = [*source.inputs, *(v for node in source.nodes for v in node.outputs)]
    return frozenset(v.type.dtype for v in values)


def elements_of(pattern: Pattern, dtype: DType) -> int:
    """Elements of the largest operand where ``$T`` is this dtype."""
    return _case(pattern, dtype, True).elements


@cache
def _case(pattern: Pattern, dtype: DType, rounds: bool) -> GraphCase:
    return graph_case(
        pattern.id, pattern.level, pattern.text, dtype, pattern.domains, pattern.note,
        rounds=rounds, given=pattern.inputs,
    )  # fmt: skip
