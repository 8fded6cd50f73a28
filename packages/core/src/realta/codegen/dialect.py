"""CDialect: how one C-family language spells what the kernel IR says, as data.

A dialect is a page of templates; the renderers and the helper preamble are shared. Templates are
filled with `str.format`; the names that each may use are told with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from realta.codegen.ir import Space, compute_type
from realta.codegen.profile import Realization
from realta.types import DType, bool_, float32, int32

__all__ = ["MATH_NAMES", "CDialect", "VectorSyntax"]

MATH_NAMES: Final = (
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh",
    "erf", "exp", "expm1", "fabs", "floor", "fma", "fmod", "hypot", "log", "log10", "log1p", "log2",
    "pow", "rint", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""The functions that a dialect must have, by the names that C and OpenCL C share."""


@dataclass(frozen=True, slots=True)
class VectorSyntax:
    """How a language spells vectors; ``{type}`` is an element's type and ``{lanes}`` its number.

    Operators and comparisons must work element by element, a comparison giving -1 or 0 in the
    signed integer type of the same width, as they do in OpenCL C.

    Args:
        lanes: the lengths that there are.
        type: the type's name.
        build: a vector of ``{values}``: one for each element, or one for all.
        load: reads ``{lanes}`` neighbours at ``{pointer}``, which is aligned as one element.
        store: writes ``{value}`` there.
        component: the elements ``{numbers}`` (hexadecimal digits) of ``{value}``.
        convert: ``{value}`` converted element by element, as C converts numbers.
        reinterpret: the bits of ``{value}`` as another type of its width.
        select: ``{yes}`` where the sign bit of ``{mask}`` is set, else ``{no}``.
        any: whether the sign bit is set in any element of ``{mask}``.
        streaming: a statement that writes ``{value}`` past the caches to ``{pointer}`` in the
            space ``{space}``, aligned as a whole vector; empty where there is none.
        aligned: whether ``{pointer}`` is aligned to ``{nbytes}`` bytes.
    """

    lanes: frozenset[int]
    type: str
    build: str
    load: str
    store: str
    component: str
    convert: str
    reinterpret: str
    select: str
    any: str
    streaming: str = ""
    aligned: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CDialect:
    """A C-family language. It equals itself only.

    Args:
        name: its name.
        types: names of the types that memory holds, by dtype; those of float16 and narrower floats
            are unsigned integers of their width, that of bool holds 0 and 1.
        long_suffix: suffix of literals of int64.
        realizations: how lanes can be realized.
        kernel: head of a kernel: ``{name} {parameters} {items}`` (work-items of a group).
        parameter: a parameter: ``{const} {type} {name}``.
        parameters_after: parameters that follow the buffers.
        enter: lines that begin a kernel and define the number of the group: ``{index}`` is the
            integer type of indices, ``{groups}`` the number of groups.
        leave: lines that end it.
        lane: the number of the work-item in its group.
        barrier: the statement at which all work-items of a group wait for each other.
        arrays: declaration of an array ``{type} {name} {size}`` by its space.
        spaces: what stands before the type that a pointer into a space points to.
        helper: what stands before the result type of a helper function.
        float_bits: by float type, the functions from unsigned integer bits and to them.
        math: a function of the language's library, by its name in C: ``{name}``, with ``{f}`` for
            the suffix of those of float32.
        own_functions: instructions among ``sin cos tan tanh`` that the preamble computes or mends,
            where libraries let elements of a vector depend on others, or do not reach 1.
        instructions: by the name of a helper function, a body of it with the device's instruction
            for it, which gives the same results.
        instructions_if: what is defined where the device's compiler reads the source, not another.
        basics: text before everything else.
        doubles: text that is needed where float64 is used.
        aligned: a statement after which the compiler takes the buffer ``{name}`` of ``{const}`` and
            ``{type}`` to begin at a multiple of ``{nbytes}`` bytes; needed for ``vector_bytes``.
        unroll: line before a loop that is to be unrolled.
        rolled: line before other innermost loops of many turns, where a compiler unrolls without
            regard to registers.
        shuffle_width: most neighbouring work-items that exchange values without memory; 0 if none.
        shuffle_down: ``{value}`` of the work-item ``{distance}`` further on, in a segment of
            ``{width}``; ``{mask}`` has a bit for each work-item that takes part.
        shuffle_first: ``{value}`` of the first work-item of a segment, likewise.
        vector: its vectors, if it has any.
        options: what its compiler must be told for results to be those of spec 5.
    """

    name: str
    types: Mapping[DType, str]
    long_suffix: str
    realizations: frozenset[Realization]
    kernel: str
    parameter: str
    enter: tuple[str, ...]
    arrays: Mapping[Space, str]
    float_bits: Mapping[DType, tuple[str, str]]
    math: str
    helper: str = "static inline"
    parameters_after: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()
    lane: str = ""
    barrier: str = ""
    spaces: Mapping[Space, str] = field(default_factory=dict)
    own_functions: frozenset[str] = frozenset()
    instructions: Mapping[str, str] = field(default_factory=dict)
    instructions_if: str = ""
    basics: str = ""
    doubles: str = ""
    aligned: str = ""
    unroll: str = ""
    rolled: str = ""
    shuffle_width: int = 0
    shuffle_down: str = ""
    shuffle_first: str = ""
    vector: VectorSyntax | None = None
    options: tuple[str, ...] = ()

    def register(self, dtype: DType, lanes: int = 1) -> str:
        """The type of a value in registers; a bool is an integer or a vector of masks."""
        register = int32 if dtype is bool_ else compute_type(dtype)
        return self.spelled(register, lanes)

    def spelled(self, dtype: DType, lanes: int = 1) -> str:
        """The name of a type that memory holds, or of a vector of such."""
        name = self.types[dtype]
        if lanes == 1 or self.vector is None:
            return name
        return self.vector.type.format(type=name, lanes=lanes)

    def function(self, name: str, dtype: DType) -> str:
        """A function of the language's mathematics library, one of `MATH_NAMES`."""
        return self.math.format(name=name, f="f" if dtype is float32 else "")

    def pointer(self, space: Space, dtype: DType, const: bool) -> str:
        """The type of a pointer into a space."""
        words = (self.spaces.get(space, ""), "const" if const else "", f"{self.types[dtype]} *")
        return " ".join(word for word in words if word)
