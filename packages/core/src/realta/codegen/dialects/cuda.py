"""CUDA C++: the dialect, for NVRTC without any header (no INFINITY, no fixed-width names)."""

from __future__ import annotations

from typing import Final

from realta.codegen.dialect import CDialect
from realta.types import DTYPES, float32, float64

__all__ = ["CUDA"]

_TYPES: Final = {
    "bool": "unsigned char", "i8": "signed char", "i16": "short", "i32": "int",
    "i64": "long long", "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int",
    "u64": "unsigned long long", "f16": "unsigned short", "bf16": "unsigned short",
    "f32": "float", "f64": "double", "f8e4m3fn": "unsigned char", "f8e5m2": "unsigned char",
}  # fmt: skip

CUDA: Final = CDialect(
    name="cuda",
    types={dtype: _TYPES[dtype.short] for dtype in DTYPES},
    long_suffix="LL",
    realizations=frozenset({"items"}),
    kernel='extern "C" __global__ void __launch_bounds__({items})\n{name}({parameters})',
    parameter="{const}{type} *__restrict__ {name}",
    enter=("const {index} group = ({index})blockIdx.x;",),
    arrays={"group": "__shared__ {type} {name}[{size}];", "lane": "{type} {name}[{size}];"},
    helper="static __device__ __forceinline__",
    lane="threadIdx.x",
    barrier="__syncthreads();",
    float_bits={
        float32: ("__uint_as_float", "__float_as_uint"),
        float64: ("__longlong_as_double", "(unsigned long long)__double_as_longlong"),
    },
    math="{name}{f}",
    aligned="{name} = ({const}{type} *)__builtin_assume_aligned({name}, {nbytes});",
    instructions={
        "widen_f16": 'float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x)); return y;',
        "narrow_f16": 'unsigned short y; '
        'asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x)); return y;',
    },
    instructions_if="__CUDACC_RTC__",
    unroll="#pragma unroll",
    rolled="#pragma unroll 8",
    shuffle_width=32,
    shuffle_down="__shfl_down_sync({mask}, {value}, {distance}, {width})",
    shuffle_first="__shfl_sync({mask}, {value}, 0, {width})",
    options=("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"),
)  # fmt: skip
"""CUDA C++."""
