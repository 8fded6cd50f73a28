"""Large angles: the rest of any angle by π/2, with as many digits of 2/π as it takes.

After Payne and Hanek (1983). An angle is m 2^e with a whole m of 53 bits. Of 2/π those 192 bits
are taken that follow the bits whose products with m 2^e are multiples of 4; their product with m,
of which 128 bits are kept, is the angle in quarter turns without whole turns, exact to 2^-126,
while no float64 comes closer to a multiple of π/2 than 2^-62. It is computed with integers, for one
angle at a time, by a function of its own that runs only where an angle of the vector is large, and
that LLVM is told not to improve, which would take longer than all the rest.
"""

from __future__ import annotations

from typing import Final

from realta_llvm.functions.numbers import Number, select
from realta_llvm.lanes import Lanes
from realta_llvm.text import Value, float_text

__all__ = ["TWO_OVER_PI", "reduced_large"]

_WORDS: Final = 20
TWO_OVER_PI: Final = int(
    "A2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A424D"
    "D2E006492EEA09D1921CFE1DEB1CB129A73EE88235F52EBB4484E99C7026B45F7E413991D639"
    "835339F49C845F8BBDF9283B1FF897FFDE05980FEF2F118B5A0A6D1F6D367ECF27CB09B74F46"
    "3F669E5FEA2D7527BAC7EBE5F17B3D0739F78A5292EA6BFB5FB11F8D5D0856033046FC7B6BAB",
    16,
)
"""The first 1216 bits of 2/π."""
_NAME: Final = "rt_large_angle"

_SCALAR: Final = """\
@rt_two_over_pi = private constant [{count} x i64] [{words}]
define private {{ double, double, i64 }} @rt_large_angle(double %x) noinline optnone cold {{
  %bits = bitcast double %x to i64
  %shifted = lshr i64 %bits, 52
  %biased = and i64 %shifted, 2047
  ; m 2^(biased - 1075); the window begins at bit biased - 1076 of 2/pi, after 64 zeros
  %low = and i64 %bits, 4503599627370495
  %m = or i64 %low, 4503599627370496
  %at = add i64 %biased, -1013
  %word = lshr i64 %at, 6
  %offset = and i64 %at, 63
  %at0 = getelementptr i64, ptr @rt_two_over_pi, i64 %word
  %at1 = getelementptr i64, ptr %at0, i64 1
  %at2 = getelementptr i64, ptr %at0, i64 2
  %at3 = getelementptr i64, ptr %at0, i64 3
  %w0 = load i64, ptr %at0
  %w1 = load i64, ptr %at1
  %w2 = load i64, ptr %at2
  %w3 = load i64, ptr %at3
  %a0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %offset)
  %a1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %offset)
  %a2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %offset)
  ; the upper 128 of the 192 bits of m times the window, without what exceeds them
  %wide = zext i64 %m to i128
  %b1 = zext i64 %a1 to i128
  %b2 = zext i64 %a2 to i128
  %p2 = mul i128 %b2, %wide
  %carried = lshr i128 %p2, 64
  %p1 = mul i128 %b1, %wide
  %sum = add i128 %p1, %carried
  %bottom = trunc i128 %sum to i64
  %upper = lshr i128 %sum, 64
  %over = trunc i128 %upper to i64
  %p0 = mul i64 %a0, %m
  %top = add i64 %p0, %over
  ; to the nearest quarter turn; the rest as a signed fraction of one
  %raised = add i64 %top, 2305843009213693952
  %quarter = lshr i64 %raised, 62
  %high0 = call i64 @llvm.fshl.i64(i64 %top, i64 %bottom, i64 2)
  %low0 = shl i64 %bottom, 2
  ; its magnitude, but for one in the last of 128 bits
  %sign = ashr i64 %high0, 63
  %high1 = xor i64 %high0, %sign
  %low1 = xor i64 %low0, %sign
  ; 62 and 63 bits as floats that are exact, or make up for each other's rounding
  %high = lshr i64 %high1, 1
  %low2 = call i64 @llvm.fshl.i64(i64 %high1, i64 %low1, i64 63)
  %lower = lshr i64 %low2, 1
  %first = sitofp i64 %high to double
  %back = fptosi double %first to i64
  %missing = sub i64 %high, %back
  %second = sitofp i64 %missing to double
  %third = sitofp i64 %lower to double
  %tail = call double @llvm.fma.f64(double %third, double {step}, double %second)
  %fraction = fmul double %first, {step}
  %after = fmul double %tail, {step}
  ; times pi/2
  %product = fmul double %fraction, {first}
  %minus = fneg double %product
  %lost = call double @llvm.fma.f64(double %fraction, double {first}, double %minus)
  %more = call double @llvm.fma.f64(double %fraction, double {second}, double %lost)
  %all = call double @llvm.fma.f64(double %after, double {first}, double %more)
  ; sign of the rest, then of the angle
  %below = icmp slt i64 %bits, 0
  %negative = icmp slt i64 %sign, 0
  %flip = xor i1 %below, %negative
  %opposite = fneg double %all
  %r = select i1 %flip, double %minus, double %product
  %l = select i1 %flip, double %opposite, double %all
  %turned = sub i64 0, %quarter
  %q = select i1 %below, i64 %turned, i64 %quarter
  ; of infinities nothing is left
  %special = icmp eq i64 %biased, 2047
  %rr = select i1 %special, double 0x7FF8000000000000, double %r
  %f0 = insertvalue {{ double, double, i64 }} poison, double %rr, 0
  %f1 = insertvalue {{ double, double, i64 }} %f0, double %l, 1
  %f2 = insertvalue {{ double, double, i64 }} %f1, i64 %q, 2
  ret {{ double, double, i64 }} %f2
}}"""


def _words() -> list[int]:
    """64 zeros and the bits of 2/π, by 64."""
    mask = (1 << 64) - 1
    return [(TWO_OVER_PI >> (64 * (_WORDS - 2 - at))) & mask if at >= 0 else 0
            for at in range(-1, _WORDS - 1)]  # fmt: skip


def _scalar_text() -> str:
    """The function for one angle, with its table."""
    words = ", ".join(f"i64 {word - (word >> 63 << 64)}" for word in _words())
    return _SCALAR.format(
        count=_WORDS,
        words=words,
        step=float_text(2.0**-63, 64),
        first=float_text(float.fromhex("0x1.921fb54442d18p+0"), 64),
        second=float_text(float.fromhex("0x1.1a62633145c07p-54"), 64),
    )


_VECTOR: Final = """\
define private {result} @{name}({real} %x) noinline optnone cold {{
entry:
  %given = alloca {real}
  %rests = alloca {real}
  %afters = alloca {real}
  %quarters = alloca {whole}
  store {real} %x, ptr %given
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %place = getelementptr {element}, ptr %given, i64 %i
  %number = load {element}, ptr %place
  %wide = {widen} {element} %number to double
  %found = call {{ double, double, i64 }} @rt_large_angle(double %wide)
  %rest = extractvalue {{ double, double, i64 }} %found, 0
  %after = extractvalue {{ double, double, i64 }} %found, 1
  %quarter = extractvalue {{ double, double, i64 }} %found, 2
  %near = {narrow} double %rest to {element}
  %low = {narrow} double %after to {element}
  %count = {whole_narrow} i64 %quarter to i{bits}
  %place1 = getelementptr {element}, ptr %rests, i64 %i
  %place2 = getelementptr {element}, ptr %afters, i64 %i
  %place3 = getelementptr i{bits}, ptr %quarters, i64 %i
  store {element} %near, ptr %place1
  store {element} %low, ptr %place2
  store i{bits} %count, ptr %place3
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {width}
  br i1 %more, label %next, label %done
done:
  %r = load {real}, ptr %rests
  %l = load {real}, ptr %afters
  %q = load {whole}, ptr %quarters
  %f0 = insertvalue {result} poison, {real} %r, 0
  %f1 = insertvalue {result} %f0, {real} %l, 1
  %f2 = insertvalue {result} %f1, {whole} %q, 2
  ret {result} %f2
}}"""


def _vector_function(lanes: Lanes) -> tuple[str, str]:
    """The function for the angles of a vector, one after the other: its name and result type."""
    module, long = lanes.body.module, lanes.bits == 64
    result = f"{{ {lanes.float_type}, {lanes.float_type}, {lanes.int_type} }}"
    name = f"{_NAME}s_{lanes.width}x{lanes.bits}"
    if _NAME not in module.functions:
        module.declare("llvm.fshl.i64", "i64", ["i64"] * 3)
        module.declare("llvm.fma.f64", "double", ["double"] * 3)
        module.functions[_NAME] = _scalar_text()
    if name not in module.functions:
        module.functions[name] = _VECTOR.format(
            name=name, result=result, real=lanes.float_type, whole=lanes.int_type,
            element=lanes.element, bits=lanes.bits, width=lanes.width,
            widen="bitcast" if long else "fpext", narrow="bitcast" if long else "fptrunc",
            whole_narrow="bitcast" if long else "trunc",
        )  # fmt: skip
    return name, result


def reduced_large(
    x: Number, large: Number, rest: Number, after: Number, quarter: Number
) -> tuple[Number, Number, Number]:
    """An angle's rest, what that lacks, and its quarter turns: those given, unless it is large.

    Args:
        x: the angles.
        large: which of them are large: all are above 2^-50 or so, none is NaN.
        rest: within π/4, of those that are not.
        after: of those likewise.
        quarter: of those likewise.
    """
    lanes, body = x.lanes, x.lanes.body
    name, result = _vector_function(lanes)
    given = (rest, after, quarter)

    def packed(parts: tuple[Number, ...]) -> Value:
        found = Value("poison", result)
        for at, part in enumerate(parts):
            value = part.value
            text = f"insertvalue {result} {found.text}, {value.type} {value.text}, {at}"
            found = body.value(text, result)
        return found

    def unpacked(value: Value) -> tuple[Number, ...]:
        return tuple(
            Number(lanes, body.value(f"extractvalue {result} {value.text}, {at}", part.value.type))
            for at, part in enumerate(given)
        )

    def slow() -> Value:
        angles = select(large, x, 2.0**20)
        call = f"call {result} @{name}({lanes.float_type} {angles.value.text})"
        found = unpacked(body.value(call, result))
        return packed(tuple(select(large, new, old) for new, old in zip(found, given, strict=True)))

    parts = unpacked(lanes.when_any(large.value, slow, packed(given)))
    return parts[0], parts[1], parts[2]
