"""Plain C: the dialect, C11 for a compiler of the host such as gcc or clang.

A kernel is a function that runs a range of groups, so that threads can share the groups out.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.dialect import CDialect
from realta.types import DTYPES, float32, float64

__all__ = ["C"]

_NARROW: Final = {"bool": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t"}
_FLOATS: Final = {"f32": "float", "f64": "double", "f8e4m3fn": "uint8_t", "f8e5m2": "uint8_t"}
_TYPES: Final = {dtype: f"{dtype.name}_t" for dtype in DTYPES} | {
    dtype: name for dtype in DTYPES for short, name in (_NARROW | _FLOATS).items()
    if dtype.short == short
}  # fmt: skip
_BASICS: Final = """\
#include <math.h>
#include <stdint.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

static inline float as_float(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline uint32_t as_uint(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
static inline double as_double(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline uint64_t as_ulong(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
"""

C: Final = CDialect(
    name="c",
    types=_TYPES,
    long_suffix="LL",
    realizations=frozenset({"loop"}),
    kernel="void {name}({parameters})",
    parameter="{const}{type} *restrict {name}",
    parameters_after=("const int64_t first_group", "const int64_t last_group"),
    enter=(
        "for ({index} group = ({index})first_group; group < ({index})last_group; ++group) {{",
    ),
    leave=("}}",),
    arrays={
        "group": "_Alignas(64) {type} {name}[{size}];",
        "lane": "_Alignas(64) {type} {name}[{size}];",
    },
    float_bits={
        float32: ("as_float", "as_uint"), float64: ("as_double", "as_ulong"),
    },
    math="{name}{f}",
    basics=_BASICS,
    unroll="#pragma GCC unroll 16",
    options=("-std=c11", "-ffp-contract=off", "-fno-fast-math", "-fwrapv"),
)  # fmt: skip
"""C11."""
