"""Instructions: scalar instructions of the kernel IR as LLVM instructions on numbers and vectors.

What has no LLVM instruction is one of core's helpers (`realta.codegen.preamble_trace`), which are
written in the instructions here, or one of this package's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from realta.backend import UnsupportedOp
from realta.codegen.ir import Apply
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.render_helpers import find_helper
from realta.types import DType, bfloat16, bool_, float16, float32, float64

from realta_llvm.code import Code, Coder, element_type
from realta_llvm.functions import FUNCTIONS
from realta_llvm.inlining import call_function
from realta_llvm.machine import converts_halves
from realta_llvm.text import Value

__all__ = ["Helpers", "apply", "loaded", "stored"]

Helpers = Callable[..., Code]
"""Writes a helper of core: called with it and its operands."""
_FLOAT: Final = {
    "equal": "oeq", "not_equal": "une", "less": "olt", "less_equal": "ole", "greater": "ogt",
    "greater_equal": "oge",
}  # fmt: skip
_INTEGER: Final = {
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le", "greater": "gt",
    "greater_equal": "ge",
}  # fmt: skip
_ARITHMETIC: Final = {
    "add": ("fadd", "add"), "sub": ("fsub", "sub"), "mul": ("fmul", "mul"), "div": ("fdiv", ""),
}  # fmt: skip
_BITS: Final = {
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "logical_and": "and",
    "logical_or": "or",
}  # fmt: skip
_SIGNED: Final = {
    "raw_div": ("sdiv", "udiv"), "raw_mod": ("srem", "urem"), "raw_shift_left": ("shl", "shl"),
    "raw_shift_right": ("ashr", "lshr"),
}  # fmt: skip
_INTRINSICS: Final = {
    "abs": "fabs", "fabs": "fabs", "ceil": "ceil", "copysign": "copysign", "floor": "floor",
    "fma": "fma", "maximum": "maximum", "minimum": "minimum", "rint": "roundeven",
    "round": "roundeven", "sqrt": "sqrt", "trunc": "trunc",
}  # fmt: skip
"""Instructions on floats that LLVM has, exact all of them."""
_HARDWARE: Final[dict[DType, str]] = {float16: "half"} if converts_halves() else {}
"""Narrow floats that the processor converts, if it can at all."""


def apply(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    """A scalar instruction of written operands.

    Raises:
        UnsupportedOp: there is no such instruction.
    """
    name = expr.op.removeprefix("c.").removeprefix("each.")
    x, own = given[0], _OWN.get(name)
    if own is not None:
        return own(at, helpers, expr, given)
    if name in _FLOAT:
        return _compare(at, name, given)
    if name in _BITS and x.dtype is bool_:
        return at.each(partial(_binary, at, _BITS[name]), bool_, *at.masks(*given))
    if name in _BITS:
        return at.each(partial(_binary, at, _BITS[name]), x.dtype, *given)
    if name in _ARITHMETIC and x.dtype is not bool_:
        op = _ARITHMETIC[name][not x.dtype.is_float]
        return at.each(partial(_binary, at, op), x.dtype, *given)
    if name in _SIGNED:
        op = _SIGNED[name][x.dtype.kind != "int"]
        return at.each(partial(_binary, at, op), x.dtype, *given)
    if x.dtype.is_float and name in _INTRINSICS:
        return at.each(partial(at.write.intrinsic, _INTRINSICS[name]), x.dtype, *given)
    if x.dtype.is_float and name in FUNCTIONS:
        return call_function(at, name, given)
    if name == "abs" and x.dtype.kind == "uint":
        return x
    helper = find_helper(name, tuple([o.dtype for o in given]), expr.dtype, expr.target)
    if helper is None:
        raise UnsupportedOp(
            f"the instruction {expr.op} of {x.dtype} cannot be written as LLVM IR",
            fix="lower the op to instructions of the kernel IR",
        )
    return helpers(helper, *given)


def _binary(at: Coder, op: str, x: Value, y: Value) -> Value:
    return at.body.value(f"{op} {x.type} {x.text}, {y.text}", x.type)


def _cast_each(at: Coder, op: str, dtype: DType, x: Code) -> Code:
    element = element_type(dtype)

    def write(part: Value) -> Value:
        type = _retyped(part.type, element)
        if type == part.type:
            return part
        return at.body.value(f"{op} {part.type} {part.text} to {type}", type)

    return at.each(write, dtype, x)


def _retyped(type: str, element: str) -> str:
    head, space, _ = type.rpartition(" ")
    return f"{head} {element}>" if space else element


def _compare(at: Coder, name: str, given: Sequence[Code]) -> Code:
    x = given[0]
    if x.dtype is bool_:
        given = at.masks(*given)
        predicate = _INTEGER[name]
        # A mask that holds is -1, which is less than 0.
        predicate = predicate if name in ("equal", "not_equal") else f"u{predicate}"
    elif x.dtype.is_float:
        predicate = _FLOAT[name]
    else:
        sign = "" if name in ("equal", "not_equal") else "s" if x.dtype.kind == "int" else "u"
        predicate = sign + _INTEGER[name]
    return at.each(partial(at.write.compare, predicate), bool_, *given)


def _select(at: Coder, _helpers: Helpers, _expr: Apply, given: Sequence[Code]) -> Code:
    return at.select(given[0], given[1], given[2])


def _convert(at: Coder, _helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    """Converted as C converts numbers; to bool, whether it is not zero."""
    x, dtype = given[0], expr.dtype
    if x.dtype is dtype:
        return x
    if dtype is bool_:
        return _compare(at, "not_equal", (x, at.constant(0, x.dtype)))
    if x.dtype is bool_:
        if dtype.is_integer:
            return at.ones(x, dtype)
        one, zero = at.constant(1.0, dtype), at.constant(0.0, dtype)
        return at.select(x, one, zero)
    if x.dtype.is_float and dtype.is_float:
        return _cast_each(at, "fpext" if dtype is float64 else "fptrunc", dtype, x)
    if x.dtype.is_float:
        return _cast_each(at, "fptosi" if dtype.kind == "int" else "fptoui", dtype, x)
    if dtype.is_float:
        return _cast_each(at, "sitofp" if x.dtype.kind == "int" else "uitofp", dtype, x)
    if dtype.bits <= x.dtype.bits:
        return _cast_each(at, "trunc", dtype, x)
    return _cast_each(at, "sext" if x.dtype.kind == "int" else "zext", dtype, x)


def _cast(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    x, target = given[0], expr.target
    if target is not None and target.is_half and x.dtype is not bool_:
        if x.dtype is float32:
            return _rounded(at, helpers, x, target)
        helper = find_helper("rounded_from", (x.dtype,), float32, target)
        return helpers(helper, x)
    if x.dtype.is_float and expr.dtype.is_integer:
        return _saturated(at, expr.dtype, x)
    return _convert(at, helpers, expr, given)


def _saturated(at: Coder, dtype: DType, x: Code) -> Code:
    """The whole part of a float, at most what the integer holds; 0 for NaN."""
    element = element_type(dtype)
    op = "fptosi" if dtype.kind == "int" else "fptoui"

    def write(part: Value) -> Value:
        type = _retyped(part.type, element)
        return at.body.call(f"llvm.{op}.sat.{_mangled(type)}.{_mangled(part.type)}", type, [part])

    return at.each(write, dtype, x)


def _mangled(type: str) -> str:
    head, space, element = type.rpartition(" ")
    short = {"float": "f32", "double": "f64"}.get(element.rstrip(">"), element.rstrip(">"))
    return f"v{head[1:].partition(' ')[0]}{short}" if space else short


def _round_to(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    assert expr.target is not None  # noqa: S101 (the verifier saw to it)
    return _rounded(at, helpers, given[0], expr.target)


def _rounded(at: Coder, helpers: Helpers, x: Code, target: DType) -> Code:
    return loaded(at, helpers, stored(at, helpers, x, target), target)


def _narrow(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    assert expr.target is not None  # noqa: S101 (the helper that calls it names one)
    return stored(at, helpers, given[0], expr.target)


def _widened(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    assert expr.target is not None  # noqa: S101 (the helper that calls it names one)
    return loaded(at, helpers, given[0], expr.target)


def _bitcast(at: Coder, helpers: Helpers, expr: Apply, given: Sequence[Code]) -> Code:
    x, target = given[0], expr.target
    if target is not None and target.is_half:
        if x.dtype is float32 and expr.dtype.is_integer:
            return _cast_each(at, "bitcast", expr.dtype, stored(at, helpers, x, target))
        return loaded(at, helpers, _cast_each(at, "bitcast", bits_type(target), x), target)
    return _cast_each(at, "bitcast", expr.dtype, x)


def _negative(at: Coder, _helpers: Helpers, _expr: Apply, given: Sequence[Code]) -> Code:
    x = given[0]
    if x.dtype.is_float:
        return at.each(at.write.neg, x.dtype, x)
    return at.each(partial(_binary, at, "sub"), x.dtype, at.constant(0, x.dtype), x)


def _inverted(at: Coder, _helpers: Helpers, _expr: Apply, given: Sequence[Code]) -> Code:
    return at.each(at.write.bit_not, given[0].dtype, given[0])


def _any(at: Coder, _helpers: Helpers, _expr: Apply, given: Sequence[Code]) -> Code:
    found, *rest = [at.write.any(part) for part in given[0].parts]
    for flag in rest:
        found = at.body.value(f"or i1 {found.text}, {flag.text}", "i1")
    return Code((at.from_flag(found),), bool_)


_OWN: Final[Mapping[str, Callable[[Coder, Helpers, Apply, Sequence[Code]], Code]]] = {
    "select": _select, "cast": _cast, "convert": _convert, "bitcast": _bitcast, "neg": _negative,
    "bitwise_not": _inverted, "logical_not": _inverted, "round_to": _round_to, "any": _any,
    "narrow": _narrow, "widen": _widened,
}  # fmt: skip
"""Instructions that are not written part by part with one LLVM instruction."""


def loaded(at: Coder, helpers: Helpers, bits: Code, dtype: DType) -> Code:
    """What an element in memory is in registers."""
    if dtype is bool_:
        return _compare(at, "not_equal", (bits, at.constant(0, bits.dtype)))
    if not dtype.is_half:
        return bits
    if dtype in _HARDWARE:
        return at.each(partial(_from_half, at, _HARDWARE[dtype]), float32, bits)
    if dtype is bfloat16:
        return at.each(partial(_from_upper_half, at), float32, bits)
    helper = find_helper("widen", (bits.dtype,), float32, dtype)
    return helpers(helper, bits)


def stored(at: Coder, helpers: Helpers, value: Code, dtype: DType) -> Code:
    """What a value in registers is in memory."""
    bits = bits_type(dtype)
    if dtype is bool_:
        return at.ones(value, bits)
    if not dtype.is_half:
        return value
    if dtype in _HARDWARE:
        return at.each(partial(_to_half, at, _HARDWARE[dtype]), bits, value)
    helper = find_helper("narrow", (float32,), bits, dtype)
    return helpers(helper, value)


def _from_half(at: Coder, half: str, bits: Value) -> Value:
    type, wide = _retyped(bits.type, half), _retyped(bits.type, "float")
    narrow = at.body.value(f"bitcast {bits.type} {bits.text} to {type}", type)
    return at.body.value(f"fpext {type} {narrow.text} to {wide}", wide)


def _to_half(at: Coder, half: str, value: Value) -> Value:
    type, bits = _retyped(value.type, half), _retyped(value.type, "i16")
    narrow = at.body.value(f"fptrunc {value.type} {value.text} to {type}", type)
    return at.body.value(f"bitcast {type} {narrow.text} to {bits}", bits)


def _from_upper_half(at: Coder, bits: Value) -> Value:
    write = at.write
    wide = write.resize(bits, 32, signed=False)
    sixteen = at.body.splat(Value("16", "i32"), _width(wide))
    return write.as_float(write.shift_left(wide, sixteen))


def _width(x: Value) -> int:
    return int(x.type[1:].partition(" ")[0]) if x.type.startswith("<") else 1
