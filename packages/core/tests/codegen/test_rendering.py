"""Rendered text: what a person reads, and what each language must be given."""

import shutil
import subprocess

import pytest
from realta.codegen import Apply, Const, KernelWriter
from realta.codegen.dialects import CUDA, OPENCL, C
from realta.codegen.ir import Compare, Kernel, Let
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.rendering import render, signature, translation_unit
from realta.graph import Input
from realta.types import TensorType, float16, float32

CUDA_SHIM = """
#include <cmath>
#include <cstring>
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(n)
struct { int x; } threadIdx, blockIdx;
static void __syncthreads() {}
static float __uint_as_float(unsigned b) { float x; memcpy(&x, &b, 4); return x; }
static unsigned __float_as_uint(float x) { unsigned b; memcpy(&b, &x, 4); return b; }
static double __longlong_as_double(long long b) { double x; memcpy(&x, &b, 8); return x; }
static long long __double_as_longlong(double x) { long long b; memcpy(&b, &x, 8); return b; }
template <class T> T __shfl_down_sync(unsigned, T v, int, int) { return v; }
template <class T> T __shfl_sync(unsigned, T v, int, int) { return v; }
"""

HEAD = (
    "void sums(__global const ushort *restrict x0, __global float *restrict roots0, "
    "__global float *restrict total0)"
)


def sums(lanes: int, fold: str = "add") -> Kernel:
    """Each group adds the square roots of 64 elements and keeps them."""
    write = KernelWriter(4, lanes)
    x = write.argument(Input(TensorType(float16, (256,))), "input", "x")
    roots = write.argument(Input(TensorType(float32, (256,))), "output", "roots")
    total = write.argument(Input(TensorType(float32, (4,))), "output", "total")
    acc = write.declare(Const(-0.0, float32))
    with write.loop(64 // lanes, "chunk") as chunk:
        at = write.group * 64 + chunk * lanes + write.lane
        root = write.let(Apply("sqrt", (write.load(x, at),), float32), "root")
        write.store(roots, at, root, streaming=True)
        write.assign(acc, Apply("add", (acc, root), float32))
    (found,) = write.fold([acc], fold, lanes)
    write.store(total, write.group, found, Compare(write.lane, 1))
    return write.build("sums", ["the square roots of 64 elements"])


def body(text: str) -> list[str]:
    """The lines of the last kernel."""
    lines = text.splitlines()
    return lines[max(n for n, line in enumerate(lines) if "sums" in line) :]


def test_vectors():
    text = render(sums(16), OPENCL, CPU_PROFILE)
    assert body(text) == [
        HEAD,
        "{",
        "    const int group = (int)get_group_id(0);",
        "    float16 acc0 = (float16)(-0.0f);",
        "    for (int chunk0 = 0; chunk0 < 4; ++chunk0) {",
        "        const int at0 = group * 64 + chunk0 * 16;",
        "        const float16 x1 = rt_widen_f16x16(vload16(0, x0 + at0));",
        "        const float16 root0 = sqrt(x1);",
        "        rt_stream_f32x16(root0, roots0 + at0);",
        "        acc0 = acc0 + root0;",
        "    }",
        "    const float8 total1_8 = acc0.s01234567 + acc0.s89abcdef;",
        "    const float4 total1_4 = total1_8.s0123 + total1_8.s4567;",
        "    const float2 total1_2 = total1_4.s01 + total1_4.s23;",
        "    const float total1 = total1_2.s0 + total1_2.s1;",
        "    total0[group] = total1;",
        "}",
    ]


def test_work_items():
    text = body(render(sums(32), OPENCL, GPU_PROFILE))
    assert "    __local float fold0_f32[32];" in text
    assert "        if (lane % 32 < half_width) {" in text
    assert text.count("    barrier(CLK_LOCAL_MEM_FENCE);") == 2
    assert text.count("        barrier(CLK_LOCAL_MEM_FENCE);") == 1
    assert "reqd_work_group_size(32, 1, 1)" in render(sums(32), OPENCL, GPU_PROFILE)


def test_loops():
    text = body(render(sums(16), C, LOOP_PROFILE))
    assert text[0].endswith("const int64_t first_group, const int64_t last_group)")
    assert "        float acc0[16];" in text  # it is used by more than one loop over the lanes
    assert "                const float root0 = sqrtf(x1);" in text  # this is not
    assert "                acc0[lane] = acc0[lane] + root0;" in text


def test_shuffles_and_memory_in_cuda():
    narrow = render(sums(32), CUDA, GPU_PROFILE)
    assert "__shfl_down_sync(0xffffffffu, total1_part, 16, 32)" in narrow
    assert "__syncthreads" not in narrow
    assert "__shfl" not in render(sums(64), CUDA, GPU_PROFILE)
    assert "0xffffu" in render(sums(16), CUDA, GPU_PROFILE)


@pytest.mark.parametrize("lanes", [16, 64])
def test_cuda_is_cpp(tmp_path, lanes):
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    kernels = [sums(lanes)]
    for combine in ("mul", "maximum"):
        other = sums(lanes, combine)
        kernels.append(Kernel(combine, other.buffers, other.groups, other.lanes, other.body))
    (tmp_path / "k.cpp").write_text(CUDA_SHIM + translation_unit(kernels, CUDA, GPU_PROFILE))
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused", "k.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_several_kernels_share_their_helpers():
    first = sums(16)
    second = Kernel("other", first.buffers, first.groups, first.lanes, first.body)
    text = translation_unit([first, second], OPENCL, CPU_PROFILE)
    assert text.count("float16 rt_widen_f16x16(") == 1
    assert text.count("__kernel") == 2


def test_notes_only_on_request():
    first = sums(16)
    noted = tuple(
        Let(s.var, s.value, "cast at model.py:3") if isinstance(s, Let) else s
        for s in first.body[1].body
    )
    loop = type(first.body[1])(first.body[1].axis, noted)
    whole = (first.body[0], loop, *first.body[2:])
    kernel = Kernel("sums", first.buffers, 4, 16, whole, first.notes)
    assert kernel == first  # where a value comes from is no part of what is computed
    assert render(kernel, OPENCL, CPU_PROFILE) == render(first, OPENCL, CPU_PROFILE)
    assert "// cast at model.py:3" in render(kernel, OPENCL, CPU_PROFILE, notes=True)


def test_signatures():
    kernel = sums(64)
    assert signature(kernel, GPU_PROFILE).items == 64
    assert signature(kernel, GPU_PROFILE).local_bytes == 64 * 4
    loop = signature(sums(16), LOOP_PROFILE)
    assert (loop.name, loop.groups, loop.items, loop.local_bytes) == ("sums", 4, 1, 0)
    assert [b.name for b in loop.buffers] == ["x0", "roots0", "total0"]
