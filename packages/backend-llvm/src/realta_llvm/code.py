"""Code: values of a kernel as LLVM values: a number, or the lanes of a group in parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from realta.types import DType, bool_, float32, float64

from realta_llvm.lanes import Lanes
from realta_llvm.text import Body, Value, float_text, lane_bits, vector

__all__ = ["Code", "Coder", "element_type"]

_FLOATS: Final = {float32: "float", float64: "double"}


def element_type(dtype: DType) -> str:
    """The LLVM type of a value of a compute type; masks of bools are 32 bits wide unless known."""
    if dtype is bool_:
        return "i32"
    return _FLOATS.get(dtype) or f"i{dtype.bits}"


class Code(NamedTuple):
    """A value of a kernel.

    Args:
        parts: a number that is the same in all lanes; or vectors, each of some neighbours.
        dtype: its compute type. A bool is a mask, see `realta_llvm.lanes`.
        wide: whether the parts are vectors of lanes.
    """

    parts: tuple[Value, ...]
    dtype: DType
    wide: bool = False

    @property
    def number(self) -> Value:
        """The number that it is in all lanes."""
        (only,) = self.parts
        return only


class Coder:
    """Writes values of kernels part by part.

    Args:
        body: where they are written.
        lanes: number of lanes of a group.
        width: lanes of a part; at most `lanes`.
    """

    def __init__(self, body: Body, lanes: int, width: int) -> None:
        self.body = body
        self.lanes = lanes
        self.width = min(width, lanes)
        self.count = lanes // self.width
        self.wide_lanes = {bits: Lanes(body, bits, self.width) for bits in (32, 64)}
        self.number_lanes = {bits: Lanes(body, bits, 1) for bits in (32, 64)}
        self.write = self.wide_lanes[32]
        """For instructions whose types the operands tell."""

    def lanes_for(self, dtype: DType, wide: bool) -> Lanes:
        """What writes values of a float type."""
        return (self.wide_lanes if wide else self.number_lanes)[dtype.bits]

    def constant(self, value: bool | float, dtype: DType) -> Code:
        """A known number."""
        if dtype is bool_:
            text = "-1" if value else "0"
        elif dtype.is_float:
            text = float_text(float(value), dtype.bits)
        else:
            half = 1 << (dtype.bits - 1)
            text = str((int(value) + half) % (2 * half) - half)
        return Code((Value(text, element_type(dtype)),), dtype)

    def each(self, write: Callable[..., Value], dtype: DType, *given: Code) -> Code:
        """An instruction on numbers, or on each part of values."""
        if not any(code.wide for code in given):
            return Code((write(*[code.parts[0] for code in given]),), dtype)
        parts = zip(*[self.widen(code).parts for code in given], strict=True)
        return Code(tuple([write(*part) for part in parts]), dtype, True)

    def widen(self, code: Code) -> Code:
        """A value in all lanes."""
        if code.wide:
            return code
        part = self.body.splat(code.parts[0], self.width)
        return Code((part,) * self.count, code.dtype, True)

    def number(self, code: Code) -> Code:
        """A value that is the same in all lanes, as a number."""
        if not code.wide:
            return code
        return Code((self.extract(code.parts[0], 0),), code.dtype)

    def extract(self, x: Value, lane: int) -> Value:
        """One lane of a vector; a number itself."""
        if not x.type.startswith("<"):
            return x
        element = x.type.rpartition(" ")[2][:-1]
        return self.body.value(f"extractelement {x.type} {x.text}, i32 {lane}", element)

    def lane(self, code: Code, lane: int) -> Value:
        """A value in one lane."""
        if not code.wide:
            return code.parts[0]
        return self.extract(code.parts[lane // self.width], lane % self.width)

    def shuffle(self, x: Value, y: Value | None, lanes: Sequence[int]) -> Value:
        """Lanes of one or two vectors of one type; -1 for any."""
        element = x.type.rpartition(" ")[2][:-1]
        type = f"<{len(lanes)} x {element}>"
        numbers = ", ".join("i32 poison" if n < 0 else f"i32 {n}" for n in lanes)
        other = "poison" if y is None else y.text
        return self.body.value(
            f"shufflevector {x.type} {x.text}, {x.type} {other}, <{len(lanes)} x i32> <{numbers}>",
            type,
        )

    def together(self, parts: Sequence[Value]) -> Value:
        """Vectors of one type one behind the other, their number a power of two."""
        found = list(parts)
        while len(found) > 1:
            width = int(found[0].type[1:].partition(" ")[0])
            found = [
                self.shuffle(x, y, range(2 * width))
                for x, y in zip(found[::2], found[1::2], strict=True)
            ]
        return found[0]

    def apart(self, x: Value) -> tuple[Value, ...]:
        """All lanes of a group as parts."""
        if self.count == 1:
            return (x,)
        return tuple(
            self.shuffle(x, None, range(n * self.width, (n + 1) * self.width))
            for n in range(self.count)
        )

    # -- masks ------------------------------------------------------------------------------------

    def masks(self, *codes: Code) -> list[Code]:
        """Masks in the largest of their widths."""
        bits = max([lane_bits(code.parts[0].type) for code in codes])
        return [self.resized(code, bits) for code in codes]

    def resized(self, mask: Code, bits: int) -> Code:
        """A mask of another width."""
        parts = tuple([self._resized(part, bits) for part in mask.parts])
        return Code(parts, bool_, mask.wide)

    def _resized(self, part: Value, bits: int) -> Value:
        if part.text in ("-1", "0"):
            return Value(part.text, f"i{bits}")
        return self.write.resize(part, bits)

    def flags(self, mask: Code) -> list[Value]:
        """The i1 lanes of a mask, or one i1."""
        return [self.write.flag(part) for part in mask.parts]

    def select(self, condition: Code, x: Code, y: Code) -> Code:
        """X where a condition holds, else y."""
        if x.dtype is bool_:
            x, y = self.masks(x, y)
        if condition.wide:
            condition = self.resized(condition, lane_bits(x.parts[0].type))
            return self.each(self.write.select, x.dtype, condition, x, y)
        flag = self.write.flag(condition.number)
        return self.each(lambda a, b: self._chosen(flag, a, b), x.dtype, x, y)

    def _chosen(self, flag: Value, x: Value, y: Value) -> Value:
        return self.body.value(
            f"select i1 {flag.text}, {x.type} {x.text}, {y.type} {y.text}", x.type
        )

    def from_flag(self, flag: Value, bits: int = 32) -> Value:
        """A mask of i1 lanes."""
        width = int(flag.type[1:].partition(" ")[0]) if flag.type.startswith("<") else 1
        type = vector(f"i{bits}", width)
        mask = self.body.value(f"sext {flag.type} {flag.text} to {type}", type)
        self.body.flags[mask] = flag
        return mask

    def ones(self, mask: Code, dtype: DType) -> Code:
        """A mask as integers of a type: 1 where it holds, else 0."""
        type = element_type(dtype)

        def write(part: Value) -> Value:
            flag = self.write.flag(part)
            width = flag.type.replace("i1", type)
            return self.body.value(f"zext {flag.type} {flag.text} to {width}", width)

        return self.each(write, dtype, mask)
