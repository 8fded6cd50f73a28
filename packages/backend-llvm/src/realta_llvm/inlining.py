"""Inlining: short functions are written where they are used, long ones once, as LLVM functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from realta_llvm.code import Code, Coder
from realta_llvm.functions import FUNCTIONS
from realta_llvm.lanes import Lanes
from realta_llvm.text import Body, Module, Value

__all__ = ["call_function"]

INLINE_LINES: Final = 80
"""Most lines of a function that is written where it is used."""
_lines: Final[dict[tuple[str, int, int], int]] = {}


def call_function(at: Coder, name: str, given: Sequence[Code]) -> Code:
    """A function of this package of written operands."""
    dtype, wide = given[0].dtype, any(code.wide for code in given)
    lanes = at.lanes_for(dtype, wide)
    return at.each(lambda *parts: _called(lanes, name, parts), dtype, *given)


def _called(lanes: Lanes, name: str, parts: tuple[Value, ...]) -> Value:
    key = (name, lanes.bits, lanes.width)
    if key not in _lines:
        _lines[key] = len(_written(Module(), lanes, name, len(parts)).flat())
    if _lines[key] <= INLINE_LINES:
        return FUNCTIONS[name](lanes, *parts)
    module, type = lanes.body.module, lanes.float_type
    full = f"{name}_f{lanes.bits}" + (f"x{lanes.width}" if lanes.width > 1 else "")
    if full not in module.functions:
        body = _written(module, lanes, name, len(parts))
        parameters = ", ".join(f"{type} %x{n}" for n in range(len(parts)))
        head = f"define internal {type} @{full}({parameters}) nounwind {{"
        module.functions[full] = "\n".join([head, *body.flat(), "}"])
    operands = ", ".join(f"{type} {part.text}" for part in parts)
    return lanes.body.value(f"call {type} @{full}({operands})", type)


def _written(module: Module, lanes: Lanes, name: str, count: int) -> Body:
    body = Body(module)
    body.lines.append("entry:")
    own = Lanes(body, lanes.bits, lanes.width)
    operands = [Value(f"%x{n}", own.float_type) for n in range(count)]
    found = FUNCTIONS[name](own, *operands)
    body.add(f"ret {found.type} {found.text}")
    return body
