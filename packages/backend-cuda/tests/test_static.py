"""The static tier: what NVRTC makes of kernels, and that what is wrong is noticed."""

import os

import pytest
from realta.codegen import Buffer, Kernel
from realta.codegen.dialects import CUDA
from realta.types import float32, float64
from realta_cuda.compiler import compile_cubin

from tools import cuda_static
from tools.cuda_static import Found, Resources, complaints, inspect, opcodes, resources
from tools.kernel_patterns import PATTERNS

NEEDS_NVDISASM = pytest.mark.skipif(
    cuda_static.disassembler() is None and os.environ.get("CI") != "true",
    reason="nvidia-cuda-nvdisasm is not installed",
)
SPILLS = """extern "C" __global__ void __launch_bounds__(1024, 2)
spills(float *o, const float *a, int n)
{
    float v[96];
    for (int i = 0; i < 96; i++) v[i] = a[i * n + threadIdx.x];
    for (int k = 0; k < n; k++) for (int i = 0; i < 96; i++) v[i] = v[i] * v[(i * 7 + 3) % 96] + k;
    float s = 0;
    for (int i = 0; i < 96; i++) s += v[i];
    o[threadIdx.x] = s;
}
"""


def found(dtype=float32, ops=("add",), lanes=256):
    return Found(Kernel("k", (Buffer("x", dtype, 1),), 1, lanes, ()), ops, "core")


@NEEDS_NVDISASM
@pytest.mark.parametrize("arch", ["sm_75", "sm_100"])
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_patterns_have_the_instructions_they_are_for(pattern, arch):
    assert cuda_static.inspect_pattern(pattern, arch) == []


@pytest.mark.parametrize("arch", cuda_static.ARCHITECTURES)
def test_some_kernels_of_the_suite_on_each_architecture(arch, suite):
    turn = cuda_static.ARCHITECTURES.index(arch)
    assert inspect(suite[turn::4], arch) == []


@pytest.fixture(scope="module")
def suite():
    kernels = cuda_static.suite_kernels(1, levels=("core", "indexing"))
    assert len(kernels) > 50
    return kernels


def test_a_kernel_that_spills_is_noticed():
    log = compile_cubin(SPILLS, "sm_90", CUDA.options, verbose=True).log
    taken = resources(log)["spills"]
    assert taken.spilled > 0
    assert taken.stack > 0
    (spilled, local) = complaints(found(), taken)
    assert "are spilled" in spilled
    assert "of local memory, 0 allowed" in local


@NEEDS_NVDISASM
def test_machine_code_is_read():
    cubin = compile_cubin(SPILLS, "sm_90", CUDA.options).cubin
    present = opcodes(cubin)
    assert any(code.startswith("STL") for code in present)
    assert not any(code.startswith("LDG.E.128") for code in present)


def test_too_many_registers_and_too_much_shared_memory_are_noticed():
    assert complaints(found(lanes=1024), Resources(65, 0, 0, 0)) == [
        "65 registers for 1024 threads"
    ]
    assert complaints(found(), Resources(32, 0, 0, 60000)) == ["60000 bytes of shared memory"]
    assert complaints(found(), None) == ["ptxas says nothing of it"]


def test_only_float64_trigonometry_may_have_a_stack():
    taken = Resources(32, 40, 0, 0)
    assert complaints(found(float64, ("sin",)), taken) == []
    assert complaints(found(float32, ("sin",)), taken)
    assert complaints(found(float64, ("exp",)), taken)
