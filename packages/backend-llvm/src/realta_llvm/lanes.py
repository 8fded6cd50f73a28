"""Lanes: writes LLVM IR text for values of one float type in vectors of one width.

Every instruction is exact IEEE arithmetic or integer arithmetic: no fast-math flags, nothing is
contracted, so a function has the same bits for numbers and for vectors of every width. What is to
be fused is written with `fma`.

A truth value is an integer lane that is -1 where it holds, else 0 (a *mask*), as wide as what was
compared; `bit_and`, `bit_or`, `bit_xor` and `bit_not` combine masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from realta_llvm.text import Body, Value, float_text, lane_bits, lane_type, lanes_of, vector

__all__ = ["Lanes"]

_INTRINSIC: Final = {"float": "f32", "double": "f64"}


class Lanes:
    """Writes instructions.

    Args:
        body: where they are written.
        bits: 32 or 64: the width of the float type.
        width: number of lanes; 1 for numbers.

    Attributes:
        float_type: the type of floats.
        int_type: the type of integers and masks of the same width.
    """

    def __init__(self, body: Body, bits: int, width: int) -> None:
        self.body = body
        self.bits = bits
        self.width = width
        self.element = "float" if bits == 32 else "double"
        self.float_type = vector(self.element, width)
        self.int_type = vector(f"i{bits}", width)

    # -- constants --------------------------------------------------------------------------------

    def constant(self, value: float) -> Value:
        """A float that the type holds exactly (a Python float is rounded to the type), in all."""
        return self._splat(float_text(value, self.bits), self.float_type)

    def pattern(self, bits: int) -> Value:
        """The float with these bits, in all lanes."""
        return self.as_float(self.integer(bits))

    def integer(self, value: int) -> Value:
        """An integer of the float's width, given signed or unsigned, in all lanes."""
        half = 1 << (self.bits - 1)
        return self._splat(str((value + half) % (2 * half) - half), self.int_type)

    def _splat(self, text: str, type: str) -> Value:
        return Value(text if self.width == 1 else f"splat ({lane_type(type)} {text})", type)

    # -- float arithmetic, each rounded once ------------------------------------------------------

    def add(self, x: Value, y: Value) -> Value:
        """The sum of two floats."""
        return self._binary("fadd", x, y)

    def sub(self, x: Value, y: Value) -> Value:
        """The difference of two floats."""
        return self._binary("fsub", x, y)

    def mul(self, x: Value, y: Value) -> Value:
        """The product of two floats."""
        return self._binary("fmul", x, y)

    def div(self, x: Value, y: Value) -> Value:
        """The quotient of two floats."""
        return self._binary("fdiv", x, y)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """X * y + z, rounded once."""
        return self.intrinsic("fma", x, y, z)

    def neg(self, x: Value) -> Value:
        """A float with its sign turned."""
        return self.body.value(f"fneg {x.type} {x.text}", x.type)

    def abs(self, x: Value) -> Value:
        """A float without its sign."""
        return self.intrinsic("fabs", x)

    def copysign(self, x: Value, y: Value) -> Value:
        """X with the sign of y."""
        return self.intrinsic("copysign", x, y)

    def sqrt(self, x: Value) -> Value:
        """The square root, rounded once."""
        return self.intrinsic("sqrt", x)

    def floor(self, x: Value) -> Value:
        """The whole number not above x."""
        return self.intrinsic("floor", x)

    def ceil(self, x: Value) -> Value:
        """The whole number not below x."""
        return self.intrinsic("ceil", x)

    def trunc(self, x: Value) -> Value:
        """The whole part of x."""
        return self.intrinsic("trunc", x)

    def round_even(self, x: Value) -> Value:
        """The nearest whole number, the even one of two."""
        return self.intrinsic("roundeven", x)

    def intrinsic(self, name: str, *operands: Value) -> Value:
        """A function of LLVM on floats, as ``fma``."""
        type = operands[0].type
        suffix = _INTRINSIC[lane_type(type)]
        if type.startswith("<"):
            suffix = f"v{lanes_of(type)}{suffix}"
        return self.body.call(f"llvm.{name}.{suffix}", type, operands)

    # -- comparisons and choices ------------------------------------------------------------------

    def compare(self, predicate: str, x: Value, y: Value) -> Value:
        """A comparison as a mask.

        Args:
            predicate: of floats LLVM's ``oeq olt ole ogt oge one ord`` (false for NaN) or ``ueq
                ult ule ugt uge une uno`` (true for NaN); of integers ``eq ne slt sle sgt sge ult
                ule ugt uge``.
            x: floats or integers.
            y: the same.
        """
        op = "icmp" if lane_type(x.type).startswith("i") else "fcmp"
        width = lanes_of(x.type)
        flag = self.body.value(f"{op} {predicate} {x.type} {x.text}, {y.text}", vector("i1", width))
        type = vector(f"i{lane_bits(x.type)}", width)
        mask = self.body.value(f"sext {flag.type} {flag.text} to {type}", type)
        self.body.flags[mask] = flag
        return mask

    def flag(self, mask: Value) -> Value:
        """A mask as i1 lanes."""
        found = self.body.flags.get(mask)
        if found is None:
            type = vector("i1", lanes_of(mask.type))
            zero = "0" if lanes_of(mask.type) == 1 else "zeroinitializer"
            found = self.body.value(f"icmp slt {mask.type} {mask.text}, {zero}", type)
            self.body.flags[mask] = found
        return found

    def select(self, mask: Value, x: Value, y: Value) -> Value:
        """X where a mask holds, else y: floats or integers."""
        mask = self.resize(mask, lane_bits(x.type)) if mask.type.startswith("<") else mask
        flag = self.flag(mask)
        return self.body.value(
            f"select {flag.type} {flag.text}, {x.type} {x.text}, {y.type} {y.text}", x.type
        )

    def when_any(self, mask: Value, then: Callable[[], Value], otherwise: Value) -> Value:
        """What `then` writes if a mask holds in any lane, else another value: a rare path.

        What `then` returns is taken for all lanes, so it selects by the mask itself.
        """
        return self.body.when(self.any(mask), then, otherwise)

    def any(self, mask: Value) -> Value:
        """Whether a mask holds in any lane, as one i1."""
        flag = self.flag(mask)
        width = lanes_of(flag.type)
        if width == 1:
            return flag
        bits = self.body.value(f"bitcast {flag.type} {flag.text} to i{width}", f"i{width}")
        return self.body.value(f"icmp ne i{width} {bits.text}, 0", "i1")

    # -- bits and integers ------------------------------------------------------------------------

    def as_integer(self, x: Value) -> Value:
        """The bits of floats as integers of their width."""
        return self._cast("bitcast", x, vector(f"i{lane_bits(x.type)}", lanes_of(x.type)))

    def as_float(self, x: Value) -> Value:
        """Integers as the floats with these bits."""
        element = "float" if lane_bits(x.type) == 32 else "double"
        return self._cast("bitcast", x, vector(element, lanes_of(x.type)))

    def int_add(self, x: Value, y: Value) -> Value:
        """The sum of two integers, wrapping."""
        return self._binary("add", x, y)

    def int_sub(self, x: Value, y: Value) -> Value:
        """The difference of two integers, wrapping."""
        return self._binary("sub", x, y)

    def int_mul(self, x: Value, y: Value) -> Value:
        """The product of two integers, wrapping."""
        return self._binary("mul", x, y)

    def bit_and(self, x: Value, y: Value) -> Value:
        """The bits set in both."""
        return self._binary("and", x, y)

    def bit_or(self, x: Value, y: Value) -> Value:
        """The bits set in either."""
        return self._binary("or", x, y)

    def bit_xor(self, x: Value, y: Value) -> Value:
        """The bits set in one of them."""
        return self._binary("xor", x, y)

    def bit_not(self, x: Value) -> Value:
        """The bits that are not set."""
        ones = "-1" if lanes_of(x.type) == 1 else f"splat ({lane_type(x.type)} -1)"
        return self._binary("xor", x, Value(ones, x.type))

    def shift_left(self, x: Value, amount: Value) -> Value:
        """Shifted up; the amount is below the width."""
        return self._binary("shl", x, amount)

    def shift_right(self, x: Value, amount: Value) -> Value:
        """Shifted down, zeros following; the amount is below the width."""
        return self._binary("lshr", x, amount)

    def shift_right_signed(self, x: Value, amount: Value) -> Value:
        """Shifted down, copies of the sign following; the amount is below the width."""
        return self._binary("ashr", x, amount)

    def int_min(self, x: Value, y: Value) -> Value:
        """The smaller of two signed integers."""
        return self.select(self.compare("slt", x, y), x, y)

    def int_max(self, x: Value, y: Value) -> Value:
        """The greater of two signed integers."""
        return self.select(self.compare("sgt", x, y), x, y)

    # -- conversions ------------------------------------------------------------------------------

    def to_float(self, x: Value) -> Value:
        """Signed integers as the nearest floats of this type."""
        return self._cast("sitofp", x, vector(self.element, lanes_of(x.type)))

    def to_integer(self, x: Value) -> Value:
        """The whole parts of floats as signed integers of their width, in which they must fit."""
        return self._cast("fptosi", x, vector(f"i{lane_bits(x.type)}", lanes_of(x.type)))

    def resize(self, x: Value, bits: int, *, signed: bool = True) -> Value:
        """Integers (or masks) with another number of bits."""
        type, given = vector(f"i{bits}", lanes_of(x.type)), lane_bits(x.type)
        if bits == given:
            return x
        op = "trunc" if bits < given else "sext" if signed else "zext"
        found = self._cast(op, x, type)
        if x in self.body.flags and op != "zext":
            self.body.flags[found] = self.body.flags[x]
        return found

    def wider(self) -> Lanes:
        """The lanes of float64 beside those of float32."""
        return Lanes(self.body, 64, self.width)

    def extend(self, x: Value) -> Value:
        """Float32 lanes as float64 ones."""
        return self._cast("fpext", x, vector("double", lanes_of(x.type)))

    def shorten(self, x: Value) -> Value:
        """Float64 lanes rounded to float32."""
        return self._cast("fptrunc", x, vector("float", lanes_of(x.type)))

    def lookup(self, table: Sequence[float], index: Value) -> Value:
        """Floats of this type from a table, by integers below its length."""
        name = self.body.table([float_text(value, self.bits) for value in table], self.element)
        width = lanes_of(index.type)
        at = self.resize(index, 64, signed=False)
        if width == 1:
            return self.body.element(name, self.element, at)
        found = Value("poison", vector(self.element, width))
        for n in range(width):
            one = self.body.value(f"extractelement {at.type} {at.text}, i32 {n}", "i64")
            part = self.body.element(name, self.element, one)
            found = self.body.value(
                f"insertelement {found.type} {found.text}, {part.type} {part.text}, i32 {n}",
                found.type,
            )
        return found

    def _binary(self, op: str, x: Value, y: Value) -> Value:
        return self.body.value(f"{op} {x.type} {x.text}, {y.text}", x.type)

    def _cast(self, op: str, x: Value, type: str) -> Value:
        if x.type == type:
            return x
        return self.body.value(f"{op} {x.type} {x.text} to {type}", type)
