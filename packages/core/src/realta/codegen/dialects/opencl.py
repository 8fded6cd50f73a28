"""OpenCL C: the dialect, for version 1.2 and later.

What its compilers do on their own is in docs/explain/math-functions.md: contraction is off by a
pragma, and single-precision division and square root are rounded correctly by an option.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.dialect import CDialect, VectorSyntax
from realta.types import DTYPES, DType, float32, float64

__all__ = ["OPENCL"]

_TYPES: Final[dict[str, str]] = {
    "bool": "uchar", "i8": "char", "i16": "short", "i32": "int", "i64": "long", "u8": "uchar",
    "u16": "ushort", "u32": "uint", "u64": "ulong", "f16": "ushort", "bf16": "ushort",
    "f32": "float", "f64": "double", "f8e4m3fn": "uchar", "f8e5m2": "uchar",
}  # fmt: skip


def _types() -> dict[DType, str]:
    return {dtype: _TYPES[dtype.short] for dtype in DTYPES}


OPENCL: Final = CDialect(
    name="opencl",
    types=_types(),
    long_suffix="L",
    realizations=frozenset({"vector", "items", "loop"}),
    kernel="__kernel __attribute__((reqd_work_group_size({items}, 1, 1)))\n"
    "void {name}({parameters})",
    parameter="__global {const}{type} *restrict {name}",
    enter=("const {index} group = ({index})get_group_id(0);",),
    arrays={
        "group": "__local {type} {name}[{size}];",
        "lane": "{type} {name}[{size}];",
    },
    spaces={"global": "__global", "group": "__local", "lane": "__private"},
    lane="get_local_id(0)",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    float_bits={float32: ("as_float", "as_uint"), float64: ("as_double", "as_ulong")},
    math="{name}",
    own_functions=frozenset({"sin", "cos", "tan", "tanh"}),
    basics="#pragma OPENCL FP_CONTRACT OFF\n",
    doubles="#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    unroll="#pragma unroll",
    vector=VectorSyntax(
        lanes=frozenset({2, 4, 8, 16}),
        type="{type}{lanes}",
        build="({type}{lanes})({values})",
        load="vload{lanes}(0, {pointer})",
        store="vstore{lanes}({value}, 0, {pointer})",
        component="{value}.s{numbers}",
        convert="convert_{type}{lanes}({value})",
        reinterpret="as_{type}{lanes}({value})",
        select="(({mask}) ? ({yes}) : ({no}))",
        any="any({mask})",
        streaming="__builtin_nontemporal_store({value}, ({space} {type}{lanes} *)({pointer}))",
        aligned="((ulong)({pointer}) & {mask}) == 0",
    ),
    options=("-cl-fp32-correctly-rounded-divide-sqrt",),
)
"""OpenCL C."""
