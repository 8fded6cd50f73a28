"""Source: a program as Python text, NumPy calls that write into tiles."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.graph import Node
from realta.passes import bind_type, bound_node
from realta.types import TensorType, compiled_function

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
        expressions: global names whose values depend on named extents, as Python expressions.
        makers: the same as functions of what the names are bound to.
    """

    text: str
    names: dict[str, Any]
    scratch_bytes: Any
    expressions: dict[str, str] = field(default_factory=dict)
    makers: dict[str, Callable[[Mapping[str, int]], Any]] = field(default_factory=dict)

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

    def open(self, names: Mapping[str, Any]) -> Callable[[Mapping[str, int]], Callable[..., None]]:
        """A function of what the names of extents are bound to, which gives the function.

        Args:
            names: has the names in their order.
        """
        function = self.compile()
        code, known = function.__code__, function.__globals__
        evaluate = compiled_function(
            names, f"({''.join([f'{e},' for e in self.expressions.values()])})"
        )
        keys, makers = tuple(self.expressions), tuple(self.makers.items())

        def bound(values: Mapping[str, int]) -> Callable[..., None]:
            found = known.copy()
            found.update(zip(keys, evaluate(**values), strict=True))
            for key, make in makers:
                found[key] = make(values)
            return FunctionType(code, found)

        return bound


@dataclass(slots=True)
class _Writer:
    program: Program
    lend_outputs: bool
    lines: list[str] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    scratch_bytes: Any = 0
    expressions: dict[str, str] = field(default_factory=dict)
    makers: dict[str, Callable[[Mapping[str, int]], Any]] = field(default_factory=dict)

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
            self._registers(1, allocation, list(map(self.number, program.frame.extents)))
            self._body(1, allocation, tiles)
        text = "\n".join(self.lines) + "\n"
        return Source(text, self.names, self.scratch_bytes, self.expressions, self.makers)

    def number(self, value: Any) -> str:
        """A number as text, or the global name of what depends on named extents.

        Args:
            value: a number, an extent, a tuple of such, or an expression in Python.
        """
        if isinstance(value, tuple):
            if all(isinstance(n, int) for n in value):
                return str(value)
            value = f"({''.join([f'{n}, ' for n in value])})"
        elif isinstance(value, int):
            return str(value)
        self.expressions[f"e{len(self.expressions)}"] = str(value)
        return f"e{len(self.expressions) - 1}"

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
                self._show(f"show{n}", source, chain)
                handle = f"show{n}({handle})"
            self.add(1, f"v{n} = {self._array(operand, value.type, dtype, handle)}")

    def _show(self, name: str, source: Any, chain: list[Node]) -> None:
        types = [v.type for v in (source, *chain)]
        if all(type.is_static for type in types):
            self.names[name] = _shower(source.type, chain)
            return

        def make(names: Mapping[str, int]) -> Callable[[Any], NDArray[Any]]:
            nodes = [bound_node(node, node.operands, names) for node in chain]
            return _shower(bind_type(source.type, names), nodes)

        self.makers[name] = make

    def _outputs(self, cut: bool) -> list[str]:
        frame, group = self.program.frame, self.program.group
        for n, (value, operand) in enumerate(zip(group.outputs, frame.outputs, strict=True)):
            dtype = self._dtype(value.type.dtype.numpy)
            self.add(1, f"w{n} = {self._array(operand, value.type, dtype, f'o{n}')}")
        return [f"{'b' if cut else 'w'}{n}" for n in range(len(group.outputs))]

    def _array(self, operand: Operand, type: TensorType, dtype: str, handle: str) -> str:
        extents, strides = self.number(operand.extents), self.number(operand.strides)
        made = f"ndarray({extents}, {dtype}, {handle}, {self.number(operand.offset)}, {strides})"
        frame = self.program.frame
        plain = operand.extents == type.shape and operand.is_dense(frame, type.dtype.itemsize)
        if not plain or operand.offset or operand.copied or self.program.loops.loops:
            return made
        # Small kernels mostly get arrays of the very shape; a check costs less than a view.
        fits = f"{handle}.dtype is {dtype} and {handle}.shape == {extents}"
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
            count, step = self.number(loop.count), self.number(loop.step)
            place = rest if n == 0 else f"{rest} % {count}"
            self.add(3, f"i{n} = {_times(place, step)}")
            rest = f"{rest} // {count}" if rest == "k" else f"({rest}) // {count}"
            if n == len(loops) - 1:
                self.add(3, f"j{n} = min(i{n} + {step}, {self.number(loop.extent)})")
            else:
                self.add(3, f"j{n} = i{n} + 1")
        last = len(loops) - 1
        shape = list(map(self.number, self.program.loops.tile))
        shape[loops[last].axis] = "size"
        self.add(3, f"if j{last} - i{last} != size:")
        self.add(4, f"size = j{last} - i{last}")
        self._registers(4, allocation, shape)
        for n, operand in enumerate(self.program.frame.operands):
            self._slice(f"a{n}", f"v{n}", operand)
        for tile, operand in zip(tiles, self.program.frame.outputs, strict=True):
            self._slice(tile, f"w{tile[1:]}", operand)
        self._body(3, allocation, tiles)
        count = self.number(self.program.loops.count)
        self.add(1, f"share_tiles(tiles, {count}, {self._parallel()})")

    def _parallel(self) -> str:
        weight = sum(_weight(step) for step in self.program.steps)
        size: Any = prod(self.program.frame.extents)
        if isinstance(size, int):
            return str(weight * size > _INLINE_NANOSECONDS)
        return self.number(f"{weight} * ({size}) > {_INLINE_NANOSECONDS}")

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
        offset: Any = 0
        lines = []
        for register in allocation.registers:
            extents = rows if register.span == "row" else shape
            dtype = self._dtype(register.dtype)
            place = f"{dtype}, scratch, {self.number(offset)}"
            lines.append(f"{register.name} = ndarray(({', '.join(extents)},), {place})")
            offset += -(-self._bytes(register) // _ALIGN) * _ALIGN
        self.scratch_bytes = offset
        self.add(depth, f"scratch = thread_scratch({self.number(offset)})")
        for line in lines:
            self.add(depth, line)

    def _bytes(self, register: Register) -> Any:
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

    def _blocks(self) -> tuple[str, str, str]:
        """The shape around the reduced axes in a tile; -1 for what the last tile has less of."""
        reduced, tile = self.program.frame.reduced, self.program.loops.tile
        first = reduced.index(True) if any(reduced) else len(reduced)
        last = first + sum(reduced)
        loops = self.program.loops.loops
        if loops and loops[-1].axis >= last:
            return self.number(prod(tile[:first])), self.number(prod(tile[first:last])), "-1"
        return "-1", self.number(prod(tile[first:last])), self.number(prod(tile[last:]))

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


def _times(place: str, step: str) -> str:
    if step == "1":
        return place
    return f"{place} * {step}" if place == "k" else f"({place}) * {step}"


def _shower(type: TensorType, chain: list[Node]) -> Callable[[Any], NDArray[Any]]:
    """A function that stores what a chain of index maps shows of a handle."""
    shape, dtype = type.static_shape, type.dtype.numpy

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
