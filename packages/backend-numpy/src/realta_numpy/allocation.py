"""Allocation: which register or output tile holds each result of a program.

A result whose operand ends there is written over it where the instruction allows that. Tiles of
outputs serve as registers until their own value is computed: they are written anyway, so they
cost no further room in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from realta_numpy.program import Program, Result, Span, Step

__all__ = ["Allocation", "Register", "allocate"]


@dataclass(frozen=True, slots=True)
class Register:
    """A scratch array of a tile.

    Args:
        name: identifier in the source.
        dtype: element type.
        span: over all elements or over rows.
    """

    name: str
    dtype: np.dtype[Any]
    span: Span


@dataclass(slots=True)
class Allocation:
    """Where results are.

    Args:
        registers: the scratch arrays needed.
        places: name of the array that holds each result.
    """

    registers: list[Register] = field(default_factory=list)
    places: dict[int, str] = field(default_factory=dict)

    def name(self, result: Result) -> str:
        """The array that holds a result."""
        return self.places[id(result)]


class _Allocator:
    def __init__(self, program: Program, outputs: list[str], lend_outputs: bool) -> None:
        self.program = program
        self.allocation = Allocation()
        self.free: dict[tuple[np.dtype[Any], Span], list[str]] = {}
        self.kind: dict[str, tuple[np.dtype[Any], Span]] = {}
        self.fixed: dict[int, str] = {}
        """Results that are computed in an output."""
        self.until: dict[str, int] = {}
        """Outputs that may still hold something else, and the step that computes them."""
        self.borrowed: set[str] = set()
        self._outputs(outputs, lend_outputs)

    def _outputs(self, outputs: list[str], lend_outputs: bool) -> None:
        made = {id(s.result): n for n, s in enumerate(self.program.steps) if s.result is not None}
        for name, result in zip(outputs, self.program.placed, strict=True):
            if result is None:
                continue
            self.fixed[id(result)] = name
            if lend_outputs and result.span == "full":
                self.until[name] = made[id(result)]
                self.kind[name] = (result.register, result.span)

    def run(self) -> Allocation:
        for n, step in enumerate(self.program.steps):
            dying = self._dying(n, step)
            if step.result is not None:
                name = self._place(n, step, dying)
                self.allocation.places[id(step.result)] = name
                if step.result.last < n and id(step.result) not in self.fixed:
                    dying.append(name)  # computed and never read
                dying = [d for d in dying if d != name or step.result.last < n]
            for name in dying:
                self._release(name)
        return self.allocation

    def _dying(self, n: int, step: Step) -> list[str]:
        ending = {id(a.result): a.result for a in step.reads if a.result and a.result.last == n}
        fixed = self.fixed
        return [self.allocation.places[key] for key in ending if key not in fixed]

    def _place(self, n: int, step: Step, dying: list[str]) -> str:
        result = step.result
        assert result is not None  # noqa: S101
        own = self.fixed.get(id(result))
        if own is not None:
            self.until.pop(own, None)
            return own
        kind = (result.register, result.span)
        if step.instruction is not None and step.instruction.reuses:
            for name in dying:
                if self.kind[name] == kind and self._lendable(name, result):
                    return name
        for name in self.until:
            unused = name not in self.borrowed and self.kind[name] == kind
            if unused and self._lendable(name, result):
                self.borrowed.add(name)
                return name
        return self._take(kind)

    def _lendable(self, name: str, result: Result) -> bool:
        """Whether an output's tile is free long enough; registers always are."""
        until = self.until.get(name)
        if until is None:
            return name not in self.kind or name.startswith("r")
        if result.last < until:
            return True
        reader = self.program.steps[until]
        in_place = reader.instruction is not None and reader.instruction.reuses
        return result.last == until and in_place

    def _take(self, kind: tuple[np.dtype[Any], Span]) -> str:
        names = self.free.setdefault(kind, [])
        if names:
            return names.pop()
        register = Register(f"r{len(self.allocation.registers)}", *kind)
        self.allocation.registers.append(register)
        self.kind[register.name] = kind
        return register.name

    def _release(self, name: str) -> None:
        if name in self.borrowed:
            self.borrowed.remove(name)
        elif name.startswith("r"):
            self.free.setdefault(self.kind[name], []).append(name)


def allocate(program: Program, outputs: list[str], *, lend_outputs: bool = True) -> Allocation:
    """Gives every result a place.

    Args:
        program: the code.
        outputs: names of the output tiles.
        lend_outputs: whether output tiles may hold other results first; not where an output is
        written
            over an input.
    """
    return _Allocator(program, outputs, lend_outputs).run()
