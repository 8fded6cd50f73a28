"""Expressions as C text: scalar instructions of numbers and of vectors.

A value is *wide* if it is a vector of lanes, else a number that is the same in all of them. A bool
is 0 or 1 as a number; as a vector it is a mask of int32, -1 where it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from realta.codegen.dialect import CDialect
from realta.codegen.ir import Apply, Const, Expr, Var
from realta.codegen.literals import literal
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.preamble_trace import Helper
from realta.codegen.render_helpers import find_helper
from realta.codegen.walking import expressions
from realta.errors import UnsupportedOp
from realta.types import BY_NAME, DType, bool_, float32, int32

__all__ = ["Code", "Expressions", "Helpers", "NamedExpressions", "bare"]


class Code(NamedTuple):
    """C text of a value; ``text`` can stand beside any operator as it is."""

    text: str
    dtype: DType
    wide: bool = False


class Helpers(Protocol):
    """What gives helper functions: see `realta.codegen.preamble.Preamble`."""

    def call(self, helper: Helper, lanes: int) -> str:
        """The name of a helper function for numbers or vectors, which is then emitted."""


_INFIX: Final[Mapping[str, str]] = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "bitwise_and": "&", "bitwise_or": "|",
    "bitwise_xor": "^", "raw_div": "/", "raw_mod": "%",
}  # fmt: skip
_WRAPPING: Final = frozenset({"add", "sub", "mul"})
_COMPARISONS: Final[Mapping[str, str]] = {
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=",
}  # fmt: skip
_LIBRARY: Final[Mapping[str, str]] = {
    name: name for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos",
        "cosh", "erf", "exp", "expm1", "floor", "hypot", "log", "log10", "log1p", "log2", "pow",
        "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
    )
} | {"round": "rint", "abs": "fabs"}  # fmt: skip
"""Instructions on floats that are a function of the language's library."""
_EXACT: Final = frozenset(
    {"ceil", "copysign", "fabs", "floor", "fma", "fmod", "rint", "sqrt", "trunc"}
)
"""Functions of the library whose results have the same bits for numbers and vectors."""


def bare(text: str) -> str:
    """A text without brackets around all of it."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    if text.find(")") == len(text) - 1:
        return text[1:-1]
    depth = 0
    for number, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[1:-1] if number == len(text) - 1 else text
    return text


class Expressions:
    """Renders expressions.

    Args:
        dialect: the language.
        helpers: gives helper functions.
        lanes: length of wide values; 1 where there are none.
        library_lanes: length of the vectors that functions of the library are called with where
            their bits may depend on it; 1 for numbers.
    """

    def __init__(
        self, dialect: CDialect, helpers: Helpers, lanes: int = 1, library_lanes: int = 1
    ) -> None:
        self.dialect = dialect
        self.helpers = helpers
        self.lanes = lanes
        self.library_lanes = library_lanes

    def code(self, root: Expr) -> Code:
        """An expression as text."""
        done: dict[int, Code] = {}
        if type(root) is Var:
            return self.leaf(root, done)
        # An instruction of names is most of what there is.
        if type(root) is Apply and {*map(type, root.operands)} == {Var}:
            return self.apply(root, [self.leaf(operand, done) for operand in root.operands])
        for expr in expressions((root,)):
            if type(expr) is Apply:
                done[id(expr)] = self.apply(expr, [done[id(o)] for o in expr.operands])
            elif type(expr) is Const:
                text = literal(expr.value, expr.dtype, self.dialect)
                done[id(expr)] = Code(text, expr.dtype)
            else:
                done[id(expr)] = self.leaf(expr, done)
        return done[id(root)]

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        """A name, an element of memory or an index, by how lanes are realized."""
        raise UnsupportedOp(f"{expr!r} has no place here", fix="render it as part of a kernel")

    # -- instructions -----------------------------------------------------------------------------

    def apply(self, expr: Apply, operands: Sequence[Code]) -> Code:
        """A scalar instruction of rendered operands."""
        op, x = expr.op, operands[0]
        if op in _COMPARISONS:
            return self.compare(_COMPARISONS[op], x, operands[1])
        found = _OWN.get(op)
        if found is not None:
            return found(self, expr, operands)
        if op in _INFIX and not (x.dtype is bool_ and op in _WRAPPING):
            return self.infix(op, x, operands[1])
        if op.startswith("c."):
            return self.library(op[2:], operands)
        if op.startswith("each."):
            return self.each(op[5:], x)
        if op in _LIBRARY and x.dtype.is_float and op not in self.dialect.own_functions:
            return self.library(_LIBRARY[op], operands)
        if op == "abs" and x.dtype.kind == "uint":
            return x
        helper = find_helper(op, tuple(o.dtype for o in operands), expr.dtype, expr.target)
        if helper is None:
            raise UnsupportedOp(
                f"the instruction {op} of {x.dtype} has no C text",
                fix="lower the op to instructions of the kernel IR",
            )
        return self.called(helper, operands)

    def infix(self, op: str, x: Code, y: Code) -> Code:
        """An operator between two values; integers wrap."""
        sign, dtype, wide = _INFIX[op], x.dtype, x.wide or y.wide
        if dtype is bool_ and wide:
            x, y = self.widen(x), self.widen(y)
        if op in _WRAPPING and dtype.kind == "int":
            x, y = self.unsigned(x, wide), self.unsigned(y, wide)
            return self.reinterpret(Code(f"({x.text} {sign} {y.text})", x.dtype, wide), dtype)
        if op in _WRAPPING and dtype.kind == "uint" and dtype.itemsize < 4 and not wide:
            x, y = self.unsigned(x, wide), self.unsigned(y, wide)
        elif not (op in ("raw_div", "raw_mod") and dtype.itemsize < 4):
            return Code(f"({x.text} {sign} {y.text})", dtype, wide)
        text = f"({x.text} {sign} {y.text})"
        # C computes narrow numbers as int.
        return Code(text if wide else f"({self.dialect.types[dtype]}){text}", dtype, wide)

    def compare(self, sign: str, x: Code, y: Code) -> Code:
        """A comparison."""
        wide = x.wide or y.wide
        if x.dtype is bool_ and wide:
            x, y = self.widen(x), self.widen(y)
        mask = Code(f"({x.text} {sign} {y.text})", bool_, wide)
        return self.masked(mask, int32, x.dtype) if wide else mask

    def masked(self, mask: Code, dtype: DType, given: DType = int32) -> Code:
        """A vector of masks of one width in that of another type."""
        if dtype.itemsize == given.itemsize:
            return mask
        return mask._replace(text=self.converted(mask.text, BY_NAME[f"int{dtype.bits}"]))

    def library(self, function: str, operands: Sequence[Code]) -> Code:
        """A function of the language's mathematics library."""
        dtype = operands[0].dtype
        name = self.dialect.function(function, dtype)
        return self.spread(lambda _lanes: name, operands, dtype, function in _EXACT)

    def each(self, function: str, x: Code) -> Code:
        """A function of the library for single numbers, of each lane of a name."""
        name = self.dialect.function(function, x.dtype)
        if not x.wide:
            return Code(f"{name}({bare(x.text)})", x.dtype)
        lanes = [f"{name}({self.component(x.text, [n])})" for n in range(self.lanes)]
        return Code(self.build(lanes, x.dtype), x.dtype, True)

    def called(self, helper: Helper, operands: Sequence[Code]) -> Code:
        """A call of a helper function."""
        return self.spread(
            lambda lanes: self.helpers.call(helper, lanes), operands, helper.result, helper.exact
        )

    def spread(
        self,
        name: Callable[[int], str],
        operands: Sequence[Code],
        dtype: DType,
        exact: bool,
    ) -> Code:
        """A call with operands that are all numbers or all vectors.

        What is not exact may have other bits for a number than for the same number in a vector, so
        it is computed as a vector always.
        """
        wide = any(operand.wide for operand in operands)
        vector = wide or (self.library_lanes > 1 and not exact)
        lanes = self.lanes if wide else self.library_lanes if vector else 1
        given = [self.widen(o, lanes) if vector else o for o in operands]
        text = f"{name(lanes)}({', '.join(bare(o.text) for o in given)})"
        if vector and not wide:
            text = self.component(text, [0])
        return Code(text, dtype, wide)

    # -- forms ------------------------------------------------------------------------------------

    def widen(self, value: Code, lanes: int = 0) -> Code:
        """A value as a vector."""
        if value.wide or (lanes or self.lanes) == 1:
            return value
        text = f"-{value.text}" if value.dtype is bool_ else bare(value.text)
        return Code(self.build([text], value.dtype, lanes), value.dtype, True)

    def build(self, values: Sequence[str], dtype: DType, lanes: int = 0) -> str:
        """A vector of texts, one for each element or one for all."""
        assert self.dialect.vector is not None  # noqa: S101 (wide values need one)
        register = int32 if dtype is bool_ else dtype
        return self.dialect.vector.build.format(
            type=self.dialect.types[register], lanes=lanes or self.lanes, values=", ".join(values)
        )

    def component(self, text: str, numbers: Sequence[int]) -> str:
        """Elements of a vector that is a name or a call."""
        assert self.dialect.vector is not None  # noqa: S101 (wide values need one)
        digits = "".join(f"{number:x}" for number in numbers)
        return self.dialect.vector.component.format(value=text, numbers=digits)

    def converted(self, text: str, dtype: DType) -> str:
        """A vector converted as C converts numbers."""
        assert self.dialect.vector is not None  # noqa: S101 (wide values need one)
        return self.dialect.vector.convert.format(
            type=self.dialect.types[dtype], lanes=self.lanes, value=bare(text)
        )

    def unsigned(self, value: Code, wide: bool) -> Code:
        """An integer as an unsigned one that has room for what wraps."""
        bits = value.dtype.bits if wide else max(value.dtype.bits, 32)
        target = BY_NAME[f"uint{bits}"]
        if value.wide:
            return self.reinterpret(value, target)
        if value.dtype is target:
            return value
        return Code(f"({self.dialect.types[target]}){value.text}", target)

    def reinterpret(self, value: Code, dtype: DType) -> Code:
        """The bits of a value as another type; numbers between integers are converted."""
        source, text = value.dtype, bare(value.text)
        if source is dtype:
            return value
        if value.wide:
            assert self.dialect.vector is not None  # noqa: S101 (wide values need one)
            found = self.dialect.vector.reinterpret.format(
                type=self.dialect.types[dtype], lanes=self.lanes, value=text
            )
            return Code(found, dtype, True)
        if source.is_float:
            found = f"{self.dialect.float_bits[source][1]}({text})"
            return self.reinterpret(Code(found, BY_NAME[f"uint{source.bits}"]), dtype)
        if dtype.is_float:
            bits = self.reinterpret(value, BY_NAME[f"uint{dtype.bits}"])
            return Code(f"{self.dialect.float_bits[dtype][0]}({bare(bits.text)})", dtype)
        return Code(f"({self.dialect.types[dtype]}){value.text}", dtype)

    def convert(self, value: Code, dtype: DType) -> Code:
        """A value converted as C converts numbers; to bool, whether it is not zero."""
        if value.dtype is dtype:
            return value
        if dtype is bool_:
            return self.compare(
                "!=", value, Code(literal(0, value.dtype, self.dialect), value.dtype)
            )
        if not value.wide:
            return Code(f"({self.dialect.types[dtype]}){value.text}", dtype)
        text = f"({value.text} & 1)" if value.dtype is bool_ else value.text
        return Code(self.converted(text, dtype), dtype, True)

    def select(self, condition: Code, x: Code, y: Code) -> Code:
        """X where a condition holds, else y."""
        wide = condition.wide or x.wide or y.wide
        if wide:
            x, y = self.widen(x), self.widen(y)
        if not condition.wide:
            return Code(f"({condition.text} ? {x.text} : {y.text})", x.dtype, wide)
        assert self.dialect.vector is not None  # noqa: S101 (wide values need one)
        mask = self.masked(condition, int32 if x.dtype is bool_ else x.dtype)
        text = self.dialect.vector.select.format(
            yes=bare(x.text), no=bare(y.text), mask=bare(mask.text)
        )
        return Code(text, x.dtype, True)

    # -- memory forms -----------------------------------------------------------------------------

    def loaded(self, bits: Code, dtype: DType) -> Code:
        """What an element in memory is in registers."""
        if dtype is bool_:
            return self.convert(bits, bool_)
        if not dtype.is_half:
            return bits
        helper = find_helper("widen", (bits.dtype,), float32, dtype)
        assert helper is not None  # noqa: S101 (there is one for each narrow type)
        return self.called(helper, [bits])

    def stored(self, value: Code, dtype: DType) -> Code:
        """What a value in registers is in memory."""
        bits = bits_type(dtype)
        if dtype is bool_:
            return self.convert(value, bits)
        if not dtype.is_half:
            return value
        helper = find_helper("narrow", (float32,), bits, dtype)
        assert helper is not None  # noqa: S101 (there is one for each narrow type)
        return self.called(helper, [value])


class NamedExpressions(Expressions):
    """Expressions of names whose text is known.

    Attributes:
        names: the text of each name.
    """

    def __init__(
        self, dialect: CDialect, helpers: Helpers, lanes: int = 1, library_lanes: int = 1
    ) -> None:
        super().__init__(dialect, helpers, lanes, library_lanes)
        self.names: dict[str, Code] = {}

    def leaf(self, expr: Expr, done: Mapping[int, Code]) -> Code:
        assert isinstance(expr, Var)  # noqa: S101 (it has no other leaves)
        return self.names[expr.name]


def _select(at: Expressions, _expr: Apply, operands: Sequence[Code]) -> Code:
    return at.select(operands[0], operands[1], operands[2])


def _convert(at: Expressions, expr: Apply, operands: Sequence[Code]) -> Code:
    return at.convert(operands[0], expr.dtype)


def _cast(at: Expressions, expr: Apply, operands: Sequence[Code]) -> Code:
    x, target = operands[0], expr.target
    if target is not None and target.is_half and x.dtype is not bool_:
        op = "round_to" if x.dtype is float32 else "rounded_from"
        helper = find_helper(op, (x.dtype,), float32, target)
    elif x.dtype.is_float and expr.dtype.is_integer:
        helper = find_helper("float_to_integer", (x.dtype,), expr.dtype, None)
    else:
        return at.convert(x, expr.dtype)
    assert helper is not None  # noqa: S101 (there is one for each pair of types)
    return at.called(helper, [x])


def _bitcast(at: Expressions, expr: Apply, operands: Sequence[Code]) -> Code:
    x, target = operands[0], expr.target
    if target is not None and target.is_half:
        if x.dtype is float32 and expr.dtype.is_integer:
            return at.reinterpret(at.stored(x, target), expr.dtype)
        return at.loaded(at.reinterpret(x, bits_type(target)), target)
    return at.reinterpret(x, expr.dtype)


def _negative(at: Expressions, _expr: Apply, operands: Sequence[Code]) -> Code:
    x = operands[0]
    if x.dtype.is_float:
        return Code(f"(-{x.text})", x.dtype, x.wide)
    room = at.unsigned(x, x.wide)
    zero = literal(0, room.dtype, at.dialect)
    return at.reinterpret(Code(f"({zero} - {room.text})", room.dtype, x.wide), x.dtype)


def _inverted(at: Expressions, _expr: Apply, operands: Sequence[Code]) -> Code:
    x = operands[0]
    sign = "!" if x.dtype is bool_ and not x.wide else "~"
    text = f"({sign}{x.text})"
    if x.dtype.is_integer and x.dtype.itemsize < 4 and not x.wide:
        text = f"({at.dialect.types[x.dtype]}){text}"  # C computes narrow numbers as int
    return Code(text, x.dtype, x.wide)


def _shift(at: Expressions, expr: Apply, operands: Sequence[Code]) -> Code:
    x, amount = operands
    dtype, wide = x.dtype, x.wide or amount.wide
    if expr.op == "raw_shift_right":
        text = f"({x.text} >> {amount.text})"
    else:
        room = at.unsigned(x, wide)
        amount = at.unsigned(amount, wide) if dtype.kind == "int" else amount
        found = Code(f"({room.text} << {amount.text})", room.dtype, wide)
        return at.reinterpret(found, dtype)
    if dtype.itemsize < 4 and not wide:
        text = f"({at.dialect.types[dtype]}){text}"
    return Code(text, dtype, wide)


def _any(at: Expressions, _expr: Apply, operands: Sequence[Code]) -> Code:
    x = operands[0]
    if not x.wide:
        return x
    assert at.dialect.vector is not None  # noqa: S101 (wide values need one)
    return Code(at.dialect.vector.any.format(mask=bare(x.text)), bool_)


def _join(sign: str) -> Callable[[Expressions, Apply, Sequence[Code]], Code]:
    op = {"|": "bitwise_or", "&": "bitwise_and"}[sign]

    def rendered(at: Expressions, _expr: Apply, operands: Sequence[Code]) -> Code:
        return at.infix(op, operands[0], operands[1])

    return rendered


_OWN: Final[Mapping[str, Callable[[Expressions, Apply, Sequence[Code]], Code]]] = {
    "select": _select, "cast": _cast, "convert": _convert, "bitcast": _bitcast,
    "neg": _negative, "bitwise_not": _inverted, "logical_not": _inverted,
    "raw_shift_left": _shift, "raw_shift_right": _shift,
    "logical_and": _join("&"), "logical_or": _join("|"), "any": _any,
}  # fmt: skip
"""Instructions that are neither operators nor functions."""
