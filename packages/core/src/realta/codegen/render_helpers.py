"""Which helper function an instruction is, where C has no operator or function for it."""

from __future__ import annotations

from functools import cache, partial

from realta.codegen import preamble_conversions as conversions
from realta.codegen.preamble_floats import FLOATS
from realta.codegen.preamble_integers import INTEGERS
from realta.codegen.preamble_trace import Helper, Trace, V
from realta.codegen.preamble_trigonometry import TRIGONOMETRY
from realta.types import DType, bool_

__all__ = ["find_helper"]

_NAMES = ("x", "y")
_PREDICATES = frozenset({"is_nan", "is_inf", "is_finite", "signbit"})


@cache
def find_helper(
    op: str, operands: tuple[DType, ...], result: DType, target: DType | None
) -> Helper | None:
    """The helper function for an instruction; None if there is none.

    Args:
        op: the instruction.
        operands: types of its operands in registers, or in memory for ``widen``.
        result: type of its result.
        target: the narrow float in it.
    """
    source = operands[0]
    found = _conversion(op, source, result, target)
    if found is not None:
        return found
    parameters = tuple(zip(_NAMES, operands, strict=False))
    if source.is_float and op in TRIGONOMETRY:
        define, doc = TRIGONOMETRY[op]
        return Helper(f"{op}_{source.short}", doc, parameters, source, define)
    if source.is_float and op in FLOATS:
        define, doc, exact = FLOATS[op]
        result = bool_ if op in _PREDICATES else source
        return Helper(f"{op}_{source.short}", doc, parameters, result, define, exact)
    if source.is_integer and op in INTEGERS:
        define, doc = INTEGERS[op]
        return Helper(f"{op}_{source.short}", doc, parameters, source, define)
    return None


def _conversion(op: str, source: DType, result: DType, target: DType | None) -> Helper | None:
    parameters = (("x", source),)
    if op == "float_to_integer":
        to_integer = partial(_bound, conversions.float_to_integer, result)
        name = f"{source.short}_to_{result.short}"
        return Helper(
            name, "the whole part, cut to what fits; 0 for NaN", parameters, result, to_integer
        )
    if target is None or op not in _NARROW:
        return None
    name, doc, function = _NARROW[op]
    words = {"source": source.short, "target": target.short}
    name, doc = name.format(**words), doc.format(**words)
    return Helper(name, doc, parameters, result, partial(_bound, function, target))


def _bound(function: conversions.Conversion, dtype: DType, trace: Trace, x: V) -> V:
    return function(trace, x, dtype)


_NARROW = {
    "narrow": ("narrow_{target}", "the bits of the nearest {target}", conversions.narrowed),
    "widen": ("widen_{target}", "what the bits stand for", conversions.widened),
    "round_to": ("round_{target}", "rounded to {target}", conversions.round_to),
    "rounded_from": (
        "{source}_round_{target}", "rounded once to {target}", conversions.rounded_from,
    ),
}  # fmt: skip
