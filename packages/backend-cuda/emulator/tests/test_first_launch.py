"""cuda.core runs unchanged over the stand-in driver."""

import numpy as np
import pytest
import realta_cuda_emulator as emulator

SCALE = """
extern "C" __global__ void __launch_bounds__(256)
scale(float *__restrict__ out, const float *__restrict__ x, float factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = x[i] * factor;
    }
}
"""


def test_a_kernel_runs(machine):
    x = np.arange(1000, dtype=np.float32)
    given, out = machine.upload(x), machine.empty(x.nbytes)
    kernel = machine.kernel(SCALE, "scale")
    machine.launch(kernel, 4, 256, out, given, np.float32(3), np.int32(1000))
    assert np.array_equal(machine.download(out, x), x * np.float32(3))


def test_the_device_is_described(machine):
    assert machine.device.name == "emulated sm_90"
    assert machine.device.arch == "90"
    properties = machine.device.properties
    assert (properties.max_threads_per_block, properties.warp_size) == (1024, 32)


@pytest.mark.parametrize("source", ['extern "C" __global__ void k() { x = 1; }', "int f(;"])
def test_a_kernel_that_does_not_compile_is_told_with_its_log(source):
    with pytest.raises(emulator.EmulatorError) as caught:
        emulator.compile(source)
    if "__global__" in source:
        assert "'x' was not declared" in str(caught.value)
        assert "kernel.cu:1" in caught.value.where
        assert "error" in caught.value.log
    else:
        assert "no kernel" in str(caught.value)
