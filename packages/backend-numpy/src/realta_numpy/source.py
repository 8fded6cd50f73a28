"""Source: a program as Python text, NumPy calls that write into tiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from types import CodeType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.graph import Node
from realta.types import TensorType

from realta_numpy import memory
from realta_numpy.allocation import Allocation, Register, allocate
from realta_numpy.frame import Operand, chain_of
from realta_numpy.movement import moved
from realta_numpy.program import Atom, Program, Result, Step
from realta_numpy.reduction import reduce_tile
from realta_numpy.registers import round_half
from realta_numpy.scratch import share_tiles, thread_scratch

__all__ = ["Source", "write_source"]

_INDENT: Final = "    "
_ALIGN: Final = memory.ALIGNMENT


_NUMBERS: Final = re.compile(
    r"(?<!\w)\((?:-?\d+, ?)+(?:-?\d+)?,?\)"  # a tuple, not the arguments of a call
    r"|(?<![\w.])\d+(?![\w.])"
)


@lru_cache(maxsize=1024)
def compiled(text: str) -> CodeType:
    """Compiled text without numbers, which kernels of one structure share for all extents."""
    return compile(text, "<realta_numpy kernel>", "exec")


@dataclass(slots=True)
class Source:
    """Python text and what it refers to.

    Args:
        text: defines ``kernel(*handles)``: inputs, then outputs.
        names: global names of the text.
        scratch_bytes: scratch memory of one thread.
    """

    text: str
    names: dict[str, Any]
    scratch_bytes: int

    def compile(self) -> Callable[..., None]:
        """The function."""
        names = dict(self.names)
        numbers: dict[str, str] = {}

        def name(found: re.Match[str]) -> str:
            # Not one for equal numbers: for other extents they may differ.
            numbers[f"n{len(numbers)}"] = found[0]
            return f"n{len(numbers) - 1}"

        exec(compiled(_NUMBERS.sub(name, self.text)), names)
        names.update({key: ast.literal_eval(text) for key, text in numbers.items()})
        return names["kernel"]  # type: ignore[no-any-return]


@dataclass(slots=True)
class _Writer:
    program: Program
    lend_outputs: bool
    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    scratch_bytes: int = 0

    def write(self, name: str) -> Source:
        program = self.program
        inputs = list(program.group.inputs)
        self.names.update(
            ndarray=np.ndarray, copyto=np.copyto, reduce_tile=reduce_tile, round_half=round_half,
            thread_scratch=thread_scratch, share_tiles=share_tiles,
        )  # fmt: skip
        handles = [f"h{n}" for n in range(len(inputs))]
        handles += [f"o{n}" for n in range(len(program.group.outputs))]
        self.add(0, f"def kernel({', '.join(handles)}):  # {name}")
        self._arrays(inputs)
        cut = bool(program.loops.loops)
        tiles = self._outputs(cut)
        allocation = allocate(program, tiles, lend_outputs=self.lend_outputs)
        if cut:
            self._loop(allocation, tiles)
        else:
            self._registers(1, allocation, [str(n) for n in program.frame.extents])
            self._body(1, allocation, tiles)
        return Source("\n".join(self.lines) + "\n", self.names, self.scratch_bytes)

    def add(self, depth: int, line: str) -> None:
        self.lines.append(_INDENT * depth + line)

    # -- whole arrays -----------------------------------------------------------------------------

    def _arrays(self, inputs: list[Any]) -> None:
        frame, program = self.program.frame, self.program
        for n, (value, operand) in enumerate(zip(program.operands, frame.operands, strict=True)):
            source, chain = chain_of(value, program.group)
            handle = f"h{inputs.index(source)}"
            dtype = self._dtype(value.type.dtype.numpy)
            if operand.copied:
                self.names[f"show{n}"] = _shower(source.type.static_shape, source, chain)
                handle = f"show{n}({handle})"
            self.add(1, f"v{n} = {self._array(operand, value.type, dtype, handle)}")

    def _outputs(self, cut: bool) -> list[str]:
        frame, group = self.program.frame, self.program.group
        for n, (value, operand) in enumerate(zip(group.outputs, frame.outputs, strict=True)):
            dtype = self._dtype(value.type.dtype.numpy)
            self.add(1, f"w{n} = {self._array(operand, value.type, dtype, f'o{n}')}")
        return [f"{'b' if cut else 'w'}{n}" for n in range(len(group.outputs))]

    def _array(self, operand: Operand, type: TensorType, dtype: str, handle: str) -> str:
        made = f"ndarray({operand.extents}, {dtype}, {handle}, {operand.offset}, {operand.strides})"
        frame = self.program.frame
        plain = operand.extents == type.shape and operand.is_dense(frame, type.dtype.itemsize)
        if not plain or operand.offset or operand.copied or self.program.loops.loops:
            return made
        # Small kernels mostly get arrays of the very shape; a check costs less than a view.
        fits = f"{handle}.dtype is {dtype} and {handle}.shape == {operand.extents}"
        return f"{handle} if {fits} else {made}"

    def _dtype(self, dtype: np.dtype[Any]) -> str:
        name = dtype.name if dtype.name != "bool" else "bool_"
        self.names[name] = dtype
        return name

    # -- tiles ------------------------------------------------------------------------------------

    def _loop(self, allocation: Allocation, tiles: list[str]) -> None:
        loops = self.program.loops.loops
        self.add(1, "def tiles(first, last):")
        self.add(2, "size = -1")
        self.add(2, "for k in range(first, last):")
        rest = "k"
        for n, loop in reversed(list(enumerate(loops))):
            place = rest if n == 0 else f"{rest} % {loop.count}"
            self.add(3, f"i{n} = {_times(place, loop.step)}")
            rest = f"{rest} // {loop.count}" if rest == "k" else f"({rest}) // {loop.count}"
            if n == len(loops) - 1:
                self.add(3, f"j{n} = min(i{n} + {loop.step}, {loop.extent})")
            else:
                self.add(3, f"j{n} = i{n} + 1")
        last = len(loops) - 1
        shape = [str(n) for n in self.program.loops.tile]
        shape[loops[last].axis] = "size"
        self.add(3, f"if j{last} - i{last} != size:")
        self.add(4, f"size = j{last} - i{last}")
        self._registers(4, allocation, shape)
        for n, operand in enumerate(self.program.frame.operands):
            self._slice(f"a{n}", f"v{n}", operand)
        for tile, operand in zip(tiles, self.program.frame.outputs, strict=True):
            self._slice(tile, f"w{tile[1:]}", operand)
        self._body(3, allocation, tiles)
        self.add(1, f"share_tiles(tiles, {self.program.loops.count}, {self._parallel()})")

    def _parallel(self) -> bool:
        weight = sum(_weight(step) for step in self.program.steps)
        return weight * prod(self.program.frame.extents) > _INLINE_NANOSECONDS

    def _slice(self, name: str, array: str, operand: Operand) -> None:
        index = [":"] * len(operand.extents)
        for n, loop in enumerate(self.program.loops.loops):
            if operand.extents[loop.axis] != 1:
                index[loop.axis] = f"i{n}:j{n}"
        while index and index[-1] == ":":
            index.pop()
        self.add(3, f"{name} = {array}[{', '.join(index)}]" if index else f"{name} = {array}")

    def _registers(self, depth: int, allocation: Allocation, shape: list[str]) -> None:
        if not allocation.registers:
            return
        rows = [
            "1" if reduced else n
            for n, reduced in zip(shape, self.program.frame.reduced, strict=True)
        ]
        offset = 0
        lines = []
        for register in allocation.registers:
            extents = rows if register.span == "row" else shape
            dtype = self._dtype(register.dtype)
            lines.append(
                f"{register.name} = ndarray(({', '.join(extents)},), {dtype}, scratch, {offset})"
            )
            offset += -(-self._bytes(register) // _ALIGN) * _ALIGN
        self.scratch_bytes = offset
        self.add(depth, f"scratch = thread_scratch({offset})")
        for line in lines:
            self.add(depth, line)

    def _bytes(self, register: Register) -> int:
        tile = self.program.loops.tile
        reduced = self.program.frame.reduced
        rows = prod(1 if r else n for n, r in zip(tile, reduced, strict=True))
        return (rows if register.span == "row" else prod(tile)) * register.dtype.itemsize

    # -- steps ------------------------------------------------------------------------------------

    def _body(self, depth: int, allocation: Allocation, tiles: list[str]) -> None:
        for step in self.program.steps:
            reads = [self._read(atom, allocation) for atom in step.reads]
            if step.kind == "store":
                self.add(depth, f'copyto({tiles[step.output]}, {reads[0]}, casting="unsafe")')
                continue
            assert step.result is not None  # noqa: S101
            out = allocation.name(step.result)
            self.add(depth, self._call(step, reads, out))
            if step.result.rounds:
                dtype = step.result.dtype
                self.names[f"dtype_{dtype}"] = dtype
                self.add(depth, f"round_half({out}, dtype_{dtype}, {out})")

    def _call(self, step: Step, reads: list[str], out: str) -> str:
        if step.kind == "load":
            return f"copyto({out}, {reads[0]})"
        if step.kind == "reduce":
            before, along, after = self._blocks()
            source = f"{reads[0]}.reshape({before}, {along}, {after})"
            target = f"{out}.reshape({before}, {after})"
            return f'reduce_tile("{step.reduction}", {source}, {target})'
        assert step.instruction is not None  # noqa: S101
        function = f"{step.instruction.name}_"
        self.names[function] = step.instruction.function
        if step.instruction.reuses and step.instruction.function not in _KEYWORD_OUT:
            return f"{function}({', '.join([*reads, out])})"
        return f"{function}({', '.join(reads)}, out={out})"

    def _blocks(self) -> tuple[int, int, int]:
        """The shape around the reduced axes in a tile; -1 for what the last tile has less of."""
        reduced, tile = self.program.frame.reduced, self.program.loops.tile
        first = reduced.index(True) if any(reduced) else len(reduced)
        last = first + sum(reduced)
        loops = self.program.loops.loops
        if loops and loops[-1].axis >= last:
            return prod(tile[:first]), prod(tile[first:last]), -1
        return -1, prod(tile[first:last]), prod(tile[last:])

    def _read(self, atom: Atom, allocation: Allocation) -> str:
        if atom.kind == "constant":
            name = f"c{atom.number}"
            constant = self.names[name] = self.program.constants[atom.number]
            loops = self.program.loops.loops
            if not constant.ndim or not loops:
                return name
            # An array as large as a whole tile; the last tile may be shorter along the cut axis.
            return f"{name}[{':, ' * loops[-1].axis}:size]"
        if atom.kind == "operand":
            return f"{'a' if self.program.loops.loops else 'v'}{atom.number}"
        assert isinstance(atom.result, Result)  # noqa: S101
        return allocation.name(atom.result)


def _times(place: str, step: int) -> str:
    if step == 1:
        return place
    return f"{place} * {step}" if place == "k" else f"({place}) * {step}"


def _shower(
    shape: tuple[int, ...], source: Any, chain: list[Node]
) -> Callable[[Any], NDArray[Any]]:
    """A function that stores what a chain of index maps shows of a handle."""
    dtype = source.type.dtype.numpy

    def show(handle: Any) -> NDArray[Any]:
        array = memory.typed(handle, shape, dtype)
        for node in chain:
            array = moved(node, array)
        return np.ascontiguousarray(array)

    return show


_KEYWORD_OUT: Final = (np.maximum, np.minimum)
"""They deprecate a result by position, which for the others saves a tenth of a small call."""
_INLINE_NANOSECONDS: Final = 150_000
"""Work below this is done before a second thread has woken up."""
_SLOW: Final[Mapping[str, float]] = {
    "exp": 1.3, "log": 3.0, "tanh": 2.7, "sin": 1.7, "cos": 1.7, "log2": 3.0, "pow": 10.0,
    "maximum": 0.4, "minimum": 0.4, "clip": 0.3, "erf": 5.0, "add": 0.15, "sub": 0.15,
    "mul": 0.15, "div": 0.2, "sqrt": 0.4, "neg": 0.15, "abs": 0.15, "sigmoid": 2.2,
}  # fmt: skip


def _weight(step: Step) -> float:
    """Nanoseconds for one element, roughly."""
    if step.kind == "apply" and step.instruction is not None:
        wide = step.result is not None and step.result.register.itemsize == 8
        return _SLOW.get(step.instruction.name, 1.0) * (4 if wide else 1)
    return 0.4


def write_source(program: Program, name: str = "kernel", *, lend_outputs: bool = True) -> Source:
    """Writes a program.

    Args:
        program: the code of one kernel.
        name: named in a comment.
        lend_outputs: whether outputs may hold other results first; not where one is also an input.
    """
    return _Writer(program, lend_outputs).write(name)
