"""The stand-in driver under cuda.core: streams, events, graphs, memory, limits, failures."""

from pathlib import Path

import numpy as np
import pytest
import realta_cuda_emulator as emulator

KERNELS = Path(__file__).parent / "kernels"
ADD_ONE = (KERNELS / "add_one.cu").read_text(encoding="utf-8")
X = np.arange(64, dtype=np.float32)


@pytest.fixture
def add_one(machine):
    return machine.kernel(ADD_ONE, "add_one")


def nans(machine, stream=None):
    return machine.upload(np.full(64, np.nan, np.float32), stream)


# -- streams and events ----------------------------------------------------------------------------


def test_a_lazy_stream_does_nothing_that_nobody_waits_for(machine, add_one):
    given, out = machine.upload(X), nans(machine)
    machine.stream.sync()
    emulator.configure(streams="lazy")
    found = np.zeros_like(X)
    machine.launch(add_one, 1, 64, out, given)
    machine.ask("cuMemcpyDtoHAsync", found.ctypes.data, int(out.handle), 256,
                machine.stream.handle)  # fmt: skip
    assert not found.any()
    machine.stream.sync()
    assert np.array_equal(found, X + 1)


def test_an_event_waits_for_what_came_before_it_only(machine, add_one):
    emulator.configure(streams="lazy")
    given, first, second = machine.upload(X), nans(machine), nans(machine)
    machine.stream.sync()
    before = emulator.statistics()["launches"]
    machine.launch(add_one, 1, 64, first, given)
    event = machine.stream.record()
    machine.launch(add_one, 1, 64, second, given)
    assert not event.is_done
    event.sync()
    assert emulator.statistics()["launches"] == before + 1
    machine.stream.sync()
    assert emulator.statistics()["launches"] == before + 2


def test_the_legacy_stream_waits_for_blocking_streams_alone(machine, add_one):
    given = machine.upload(X)
    machine.stream.sync()
    emulator.configure(streams="lazy")
    for nonblocking in (False, True):
        options = machine.cc.StreamOptions(nonblocking=nonblocking)
        stream = machine.device.create_stream(options=options)
        out = nans(machine, stream)
        stream.sync()
        machine.launch(add_one, 1, 64, out, given, stream=stream)
        found = np.empty_like(X)
        machine.ask("cuMemcpyDtoH", found.ctypes.data, int(out.handle), 256)
        assert np.array_equal(found, X + 1) == (not nonblocking)
        stream.sync()


def test_events_with_timing_tell_time(machine, add_one):
    given, out = machine.upload(X), nans(machine)
    options = machine.cc.EventOptions(timing_enabled=True)
    start = machine.stream.record(options=options)
    machine.launch(add_one, 1, 64, out, given)
    end = machine.stream.record(options=options)
    end.sync()
    assert end - start > 0


# -- graphs ----------------------------------------------------------------------------------------


def captured(machine, kernel, *launches):
    builder = machine.device.create_graph_builder().begin_building()
    for arguments in launches:
        config = machine.cc.LaunchConfig(grid=1, block=64)
        machine.cc.launch(builder, config, kernel, *arguments)
    return builder.end_building().complete()


@pytest.mark.parametrize("streams", ["eager", "lazy"])
def test_a_captured_graph_runs_when_it_is_launched(machine, add_one, streams):
    given, middle, out = machine.upload(X), nans(machine), nans(machine)
    machine.stream.sync()
    emulator.configure(streams=streams)
    before = emulator.statistics()
    graph = captured(machine, add_one, (middle, given), (out, middle))
    assert emulator.statistics()["launches"] == before["launches"]
    for _ in range(2):
        graph.launch(machine.stream)
    assert np.array_equal(machine.download(out, X), X + 2)
    after = emulator.statistics()
    assert after["launches"] == before["launches"] + 4
    assert after["graph_launches"] == before["graph_launches"] + 2


def test_nothing_may_wait_or_allocate_during_capture(machine):
    stream = machine.device.create_stream()
    mode = machine.driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    machine.ask("cuStreamBeginCapture", stream.handle, mode)
    for name, arguments in (
        ("cuStreamSynchronize", (stream.handle,)),
        ("cuMemAllocAsync", (256, stream.handle)),
        ("cuMemcpyDtoH", (X.ctypes.data, 1, 4)),
    ):
        with pytest.raises(machine.failure, match="CAPTURE_UNSUPPORTED"):
            machine.ask(name, *arguments)
    (graph,) = machine.ask("cuStreamEndCapture", stream.handle)
    machine.ask("cuGraphDestroy", graph)
    stream.sync()


# -- memory ----------------------------------------------------------------------------------------


def test_fresh_memory_is_poisoned(machine):
    assert np.isnan(machine.download(machine.empty(256), X)).all()


def test_memory_runs_out_at_the_limit(machine):
    live = emulator.statistics()["live_bytes"]
    emulator.configure(memory_limit=live + 1000)
    kept = machine.empty(900)
    with pytest.raises(machine.failure, match="CUDA_ERROR_OUT_OF_MEMORY"):
        machine.empty(900)
    kept.close(machine.stream)
    machine.empty(900).close(machine.stream)
    assert emulator.statistics()["live_bytes"] == live


def test_copies_stay_inside_of_allocations(machine):
    buffer = machine.empty(256)
    for size in (257, 1 << 40):
        with pytest.raises(machine.failure, match="CUDA_ERROR_INVALID_VALUE"):
            machine.ask("cuMemcpyHtoDAsync", int(buffer.handle), X.ctypes.data, size,
                        machine.stream.handle)  # fmt: skip


def test_a_copy_from_memory_freed_before_its_turn(machine):
    emulator.configure(streams="lazy")
    buffer, other = machine.upload(X), machine.device.create_stream()
    machine.stream.sync()
    found = np.empty_like(X)
    address = int(buffer.handle)
    machine.ask("cuMemcpyDtoHAsync", found.ctypes.data, address, 256, other.handle)
    buffer.close(machine.stream)
    machine.stream.sync()
    with pytest.raises(machine.failure, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        other.sync()
    assert "a copy uses memory that is freed" in emulator.message()


def test_memory_that_is_freed_twice(machine):
    buffer = machine.empty(256)
    address = int(buffer.handle)
    buffer.close(machine.stream)
    with pytest.raises(machine.failure, match="CUDA_ERROR_INVALID_VALUE"):
        machine.ask("cuMemFreeAsync", address, machine.stream.handle)


def test_pinned_memory(machine):
    pinned = machine.cc.LegacyPinnedMemoryResource().allocate(256)
    assert pinned.is_host_accessible
    out = machine.empty(256)
    out.copy_from(pinned, stream=machine.stream)
    pinned.close()


# -- kernels and launches --------------------------------------------------------------------------


def test_a_kernel_is_described(machine, add_one):
    assert add_one.num_arguments == 2
    assert add_one.attributes.max_threads_per_block == 64
    assert [(info.offset, info.size) for info in add_one.arguments_info] == [(0, 8), (8, 8)]


def test_a_launch_keeps_to_the_limits(machine, add_one):
    given, out = machine.upload(X), nans(machine)
    for grid, block in ((1, 65), ((1, 65536), 64), (1, (1, 1, 65))):
        with pytest.raises(machine.failure, match="CUDA_ERROR_INVALID_VALUE"):
            machine.launch(add_one, grid, block, out, given)
    assert "compiled for at most 64" in emulator.message()


def test_static_shared_memory_has_a_limit(machine):
    source = """extern "C" __global__ void big(float *out) {
        __shared__ float part[12289]; part[threadIdx.x] = 0; __syncthreads(); out[0] = part[0]; }"""
    kernel = machine.kernel(source, "big")
    assert kernel.attributes.shared_size_bytes == 4 * 12289
    with pytest.raises(machine.failure, match="CUDA_ERROR_INVALID_VALUE"):
        machine.launch(kernel, 1, 32, nans(machine))


def test_shared_memory_sized_by_the_launch(machine):
    source = """extern "C" __global__ void turn(float *out, const float *x) {
        extern __shared__ float part[]; part[threadIdx.x] = x[threadIdx.x]; __syncthreads();
        out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x]; }"""
    given, out = machine.upload(X), nans(machine)
    machine.launch(machine.kernel(source, "turn"), 1, 64, out, given, shared=256)
    assert np.array_equal(machine.download(out, X), X[::-1])


def test_blocks_and_threads_along_three_axes(machine):
    source = """extern "C" __global__ void place(int *out) {
        int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        out[block * 24 + thread] = block * 100 + thread; }"""
    kernel = machine.kernel(source, "place")
    wanted = np.add.outer(np.arange(24) * 100, np.arange(24)).astype(np.int32)
    for order in ("forward", "reversed", 9):
        emulator.configure(order=order)
        out = machine.empty(wanted.nbytes)
        machine.launch(kernel, (2, 3, 4), (4, 3, 2), out)
        assert np.array_equal(machine.download(out, wanted), wanted)


def test_code_for_a_gpu_is_refused(machine):
    elf = bytearray(emulator.compile(ADD_ONE))
    elf[18:20] = (190).to_bytes(2, "little")  # the machine number of a cubin
    with pytest.raises(machine.failure, match="CUDA_ERROR_NO_BINARY_FOR_GPU"):
        machine.cc.ObjectCode.from_cubin(bytes(elf)).get_kernel("add_one")
    assert "not compiled for the emulator" in emulator.message()


def test_kernels_of_different_images_have_their_own_code(machine):
    """Images are loaded from files that are gone: none may be taken for another."""
    given = machine.upload(X)
    for number in range(5):
        out = nans(machine)
        kernel = machine.kernel(ADD_ONE.replace("1.0f", f"{number}.0f"), "add_one")
        machine.launch(kernel, 1, 64, out, given)
        assert np.array_equal(machine.download(out, X), X + number)


# -- failures --------------------------------------------------------------------------------------


def test_the_launch_that_is_asked_to_fail_ends_the_context(machine, add_one):
    given, out = machine.upload(X), nans(machine)
    emulator.configure(fail_launch=2)
    machine.launch(add_one, 1, 64, out, given)
    with pytest.raises(machine.failure, match="CUDA_ERROR_LAUNCH_FAILED"):
        machine.launch(add_one, 1, 64, out, given)
    with pytest.raises(machine.failure, match="CUDA_ERROR_LAUNCH_FAILED"):
        machine.stream.sync()
    with pytest.raises(machine.failure, match="CUDA_ERROR_LAUNCH_FAILED"):
        machine.empty(256)
    assert "kernel add_one: this launch was asked to fail" in emulator.message()
    emulator.reset()
    machine.launch(add_one, 1, 64, out, given)
    assert np.array_equal(machine.download(out, X), X + 1)


def test_a_lazy_launch_fails_where_it_is_waited_for(machine, add_one):
    given, out = machine.upload(X), nans(machine)
    machine.stream.sync()
    emulator.configure(streams="lazy", fail_launch=1)
    machine.launch(add_one, 1, 64, out, given)
    with pytest.raises(machine.failure, match="CUDA_ERROR_LAUNCH_FAILED"):
        machine.stream.sync()


def test_what_the_stand_in_lacks_is_named(machine, capfd):
    with pytest.raises(machine.failure, match="CUDA_ERROR_NOT_SUPPORTED"):
        machine.ask("cuMemAllocManaged", 256, 1)
    assert "the stand-in driver has no cuMemAllocManaged" in capfd.readouterr().err
