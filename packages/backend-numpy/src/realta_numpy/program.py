"""Program: a group as straight-line code on tiles: loads, elementwise steps, reductions and stores.

This is what is left of a group once index maps have become strides and reductions know their axes.
Register allocation (`allocation`) and the writer of Python source (`source`) read nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from realta.fusion import Group
from realta.graph import Node, Value
from realta.ops import OpKind
from realta.types import DType

from realta_numpy.frame import Frame, Unframed, build_frame, chain_of
from realta_numpy.instructions import (
    Instruction,
    extreme_of_filled,
    extreme_of_number,
    instruction_of,
    never_minus_zero,
    plain_extreme,
)
from realta_numpy.loops import TILE, Loops, choose_loops
from realta_numpy.registers import register_dtype

__all__ = ["Atom", "Program", "Result", "Step", "build_program"]

Span = Literal["full", "row"]
VIEWS: Final = frozenset({"reshape", "permute", "broadcast", "slice", "barrier"})


@dataclass(slots=True, eq=False)
class Result:
    """What one step makes: a value over all elements of a tile, or over its rows.

    Args:
        dtype: element type of the tensor.
        span: over all elements or over rows.
        last: number of the last step that reads it.
        rounds: whether it is to be rounded to its half type before others read it.
    """

    dtype: DType
    span: Span
    last: int = -1
    rounds: bool = False

    @property
    def register(self) -> np.dtype[Any]:
        """The NumPy dtype it is held in."""
        return register_dtype(self.dtype)


@dataclass(frozen=True, slots=True)
class Atom:
    """What a step reads: an operand array, a constant, or the result of an earlier step."""

    kind: Literal["operand", "constant", "result"]
    number: int = -1
    result: Result | None = None

    def is_operand(self, number: int) -> bool:
        """Whether it is the operand array of that number."""
        return self.kind == "operand" and self.number == number


@dataclass(frozen=True, slots=True)
class Step:
    """One step.

    Args:
        kind: ``load`` copies an operand into a register, ``apply`` calls an instruction, ``reduce``
            folds rows, ``store`` copies a result to an output.
        reads: what it reads.
        result: what it makes; None for a store.
        instruction: what is applied.
        reduction: ``sum prod max min any all``.
        output: number of the output that is stored.
    """

    kind: Literal["load", "apply", "reduce", "store"]
    reads: tuple[Atom, ...]
    result: Result | None = None
    instruction: Instruction | None = None
    reduction: str = ""
    output: int = -1


@dataclass(slots=True)
class Program:
    """The code of one kernel.

    Args:
        group: what it computes.
        frame: its axes.
        loops: how those are cut.
        operands: values that are read, as index maps or inputs of the group.
        steps: the code.
        constants: 0-d arrays in register dtypes.
        placed: for each output the result that is computed right there, or None where it is stored.
    """

    group: Group
    frame: Frame
    loops: Loops
    operands: list[Value]
    steps: list[Step] = field(default_factory=list)
    constants: list[NDArray[Any]] = field(default_factory=list)
    placed: list[Result | None] = field(default_factory=list)

    def source_of(self, operand: int) -> Value:
        """The stored value that an operand shows."""
        return chain_of(self.operands[operand], self.group)[0]


def build_program(group: Group) -> Program:
    """The program of an ``elementwise``, ``row`` or ``reduce`` group.

    Raises:
        Unframed: the group does not fit one frame, has no elements, or an op has no instruction.
    """
    return _Builder(group).build()


class _Builder:
    def __init__(self, group: Group) -> None:
        if any(d == 0 for d in group.shape):
            raise Unframed("no elements")
        self.group = group
        self.inside = set(group.nodes)
        self.computing = [n for n in group.nodes if not self._is_map(n)]
        operands = self._operands()
        small = group.kind == "elementwise" and prod(group.shape) <= TILE
        frame = build_frame(group, operands, group.outputs, merge=not small)
        self.program = Program(group, frame, choose_loops(frame), operands)
        self.number = {value: n for n, value in enumerate(operands)}
        self.results: dict[Value, Result] = {}
        self.loaded: dict[tuple[int, bool], Result] = {}
        self.constant_numbers: dict[tuple[Any, bytes], int] = {}

    def _is_map(self, node: Node) -> bool:
        return node.op.name in VIEWS or node.op.name == "constant"

    def _member(self, value: Value) -> Value:
        """The computing member that an operand shows, through index maps over members."""
        while isinstance(value, Node) and value in self.inside and value.op.name in VIEWS:
            if self.group.levels[value] == "view":
                return value
            value = value.operands[0]
        return value

    def _operands(self) -> list[Value]:
        found: dict[Value, None] = {}
        for node in self.computing:
            for operand in node.operands:
                value = self._member(operand)
                if not self._is_computed(value) and self._number(value) is None:
                    found[value] = None
        return list(found)

    def _is_computed(self, value: Value) -> bool:
        return isinstance(value, Node) and self.group.levels.get(value, "view") != "view"

    def _number(self, value: Value) -> NDArray[Any] | None:
        """The constant of one element that a value shows, None if it shows something else."""
        source, _ = chain_of(value, self.group)
        if isinstance(source, Node) and source in self.inside and source.op.name == "constant":
            array: NDArray[Any] = source.attrs["value"].array
            return array.reshape(()) if array.size == 1 else None
        return None

    def build(self) -> Program:
        for node in self.computing:
            if node.op.kind is OpKind.REDUCE:
                self._reduce(node)
            else:
                self._apply(node)
        self._store()
        self._set_last()
        return self.program

    # -- steps ------------------------------------------------------------------------------------

    def _apply(self, node: Node) -> None:
        instruction = instruction_of(node)
        if instruction is None:
            raise Unframed(f"no instruction for {node.op.name}")
        span: Span = "row" if self.group.levels[node] == "row" else "full"
        dtype = node.type.dtype
        rounds = dtype.is_half and not instruction.exact
        result = Result(dtype, span, rounds=rounds)
        reads = tuple(self._atom(v) for v in node.operands)
        if self._extreme(node, reads, result):
            return
        self.program.steps.append(Step("apply", reads, result, instruction))
        self.results[node] = result

    def _extreme(self, node: Node, reads: tuple[Atom, ...], result: Result) -> bool:
        """Writes the maximum or minimum with a known number in a cheaper way, if there is one."""
        known = [a for a in reads if a.kind == "constant"]
        name = node.op.scalar
        if name not in ("maximum", "minimum") or not node.type.dtype.is_float:
            return False
        # Tiles of whole rows are contiguous, and so are the registers of a tile.
        registers = [a.result for a in reads if a.result is not None and a.result.span == "full"]
        if len(registers) == 2 and result.span == "full" and self.program.loops.whole_rows:
            return self._plain_extreme(node, reads, result)
        if len(known) != 1:
            return False
        number = self.program.constants[known[0].number]
        if registers and self._filled_extreme(name, number, registers[0], result):
            self.results[node] = result
            return True
        steps = extreme_of_number(name, number, prod(self.program.loops.tile))
        atom = next(a for a in reads if a.kind != "constant")
        for n, (instruction, others) in enumerate(steps, 1):
            made = result if n == len(steps) else Result(result.dtype, result.span)
            further = [Atom("constant", self._constant(o, node.type.dtype)) for o in others]
            self.program.steps.append(Step("apply", (atom, *further), made, instruction))
            atom = Atom("result", result=made)
        if steps:
            self.results[node] = result
        return bool(steps)

    def _filled_extreme(
        self, name: str, number: NDArray[Any], register: Result, result: Result
    ) -> bool:
        """The same of a register and an array full of the number, where that is right."""
        loops = self.program.loops
        known = all(isinstance(n, int) for n in loops.tile)
        if not known or not loops.whole_rows or result.span != "full":
            return False
        found = extreme_of_filled(name, number, loops.tile)
        if found is None:
            return False
        instruction, filled = found
        self.program.constants.append(filled)
        other = Atom("constant", len(self.program.constants) - 1)
        reads = (Atom("result", result=register), other)
        self.program.steps.append(Step("apply", reads, result, instruction))
        return True

    def _plain_extreme(self, node: Node, reads: tuple[Atom, ...], result: Result) -> bool:
        """The same of two registers, where signed zeros need no second look."""
        signs = [never_minus_zero(self._member(v)) for v in node.operands]
        found = plain_extreme(node.op.scalar, *signs)
        if found is None:
            return False
        instruction, exchanged = found
        ordered = reads[::-1] if exchanged else reads
        self.program.steps.append(Step("apply", ordered, result, instruction))
        self.results[node] = result
        return True

    def _reduce(self, node: Node) -> None:
        dtype = node.type.dtype
        rounds = dtype.is_half and node.op.name in ("sum", "prod")
        result = Result(dtype, "row", rounds=rounds)
        atom = self._atom(node.operands[0], whole=True)
        self.program.steps.append(Step("reduce", (atom,), result, reduction=node.op.name))
        self.results[node] = result

    def _atom(self, value: Value, *, whole: bool = False) -> Atom:
        """What a step reads; ``whole`` wants it spread over all elements, contiguous in a tile."""
        number = self._number(value)
        member = self._member(value)
        if number is not None:
            atom = Atom("constant", self._constant(number, value.type.dtype))
        elif member in self.results:
            atom = Atom("result", result=self.results[member])
        else:
            atom = self._operand_atom(member, whole)
        if whole and not self._is_whole(atom):
            return self._load(atom, value.type.dtype)
        return atom

    def _is_whole(self, atom: Atom) -> bool:
        if atom.kind == "result":
            return atom.result is not None and atom.result.span == "full"
        if atom.kind == "constant":
            return False
        operand = self.program.frame.operands[atom.number]
        itemsize = self.program.operands[atom.number].type.dtype.itemsize
        return self.program.loops.whole_rows and operand.is_dense(self.program.frame, itemsize)

    def _operand_atom(self, value: Value, whole: bool) -> Atom:
        number = self.number[value]
        operand = self.program.frame.operands[number]
        dtype = value.type.dtype
        # Backwards strides take other paths in NumPy's loops, with other bits on some processors.
        if not dtype.is_half and not operand.reversed:
            return Atom("operand", number)
        frame = self.program.frame
        over_rows = any(frame.reduced) and operand.extents == frame.rows
        span: Span = "row" if over_rows and not whole else "full"
        key = (number, span == "full")
        if key not in self.loaded:
            result = Result(dtype, span)
            self.program.steps.append(Step("load", (Atom("operand", number),), result))
            self.loaded[key] = result
        return Atom("result", result=self.loaded[key])

    def _load(self, atom: Atom, dtype: DType) -> Atom:
        result = Result(dtype, "full")
        self.program.steps.append(Step("load", (atom,), result))
        return Atom("result", result=result)

    def _constant(self, number: NDArray[Any], dtype: DType) -> int:
        array = number.astype(register_dtype(dtype))
        key = (array.dtype, array.tobytes())
        if key not in self.constant_numbers:
            self.constant_numbers[key] = len(self.program.constants)
            self.program.constants.append(array)
        return self.constant_numbers[key]

    # -- outputs ----------------------------------------------------------------------------------

    def _store(self) -> None:
        taken: set[int] = set()
        for n, value in enumerate(self.group.outputs):
            source = self.group.source(value)
            result = self.results[self._member(source)]
            span = "row" if self.group.levels[source] == "row" else "full"  # type: ignore[index]
            direct = not result.dtype.is_half and result.span == span and id(result) not in taken
            self.program.placed.append(result if direct else None)
            if direct:
                taken.add(id(result))
            else:
                self.program.steps.append(Step("store", (Atom("result", result=result),), output=n))

    def _set_last(self) -> None:
        read_by_others: set[int] = set()
        for n, step in enumerate(self.program.steps):
            for atom in step.reads:
                if atom.result is not None:
                    atom.result.last = n
                    if step.kind != "store":
                        read_by_others.add(id(atom.result))
        for step in self.program.steps:
            # A store rounds by itself; so only what others read is rounded before.
            if step.result is not None and id(step.result) not in read_by_others:
                step.result.rounds = False
