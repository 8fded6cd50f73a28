"""Sessions on real drivers: memory in order with work, arrays in place, builds, faults, times."""

import gc
import threading

import numpy as np
import pytest
from realta.backend import CompilationError, DeviceFault, KernelSignature, OutOfMemory
from realta.runtime import as_bytes, shared_kernel_cache, writable_bytes
from realta.types import float32, tensor_type, uint8
from realta_opencl.memory import ALIGNMENT
from realta_opencl.session import open_session

TWICE = """
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void twice(__global const float *x, __global float *y) {
  const int i = get_group_id(0);
  y[i] = 2.0f * x[i];
}
"""
COUNT = 1000
VECTOR = tensor_type(float32, (COUNT,))
SIGNATURE = KernelSignature("twice", (), COUNT, 1, 0)


def filled(session, array):
    handle = session.allocate(array.nbytes)
    session.write(handle, tensor_type(float32, array.shape), as_bytes(array))
    return handle


def values(session, handle, type=VECTOR):
    out = np.empty(type.static_shape, type.dtype.numpy)
    session.read(handle, type, writable_bytes(out))
    return out


def test_processors_work_in_place(session):
    assert session.host_memory
    assert session.allocate(100).array is not None


def test_what_is_written_is_read(either):
    x = np.arange(COUNT, dtype=np.float32)
    handle = filled(either, x)
    assert (values(either, handle) == x).all()
    copied = either.allocate(VECTOR.nbytes)
    either.copy(handle, copied, VECTOR)
    assert (values(either, copied) == x).all()


def test_a_kernel_computes(either):
    x = np.arange(COUNT, dtype=np.float32)
    source, target = filled(either, x), either.allocate(VECTOR.nbytes)
    module = either.build(TWICE, [SIGNATURE])
    either.launch(module, "twice", (COUNT, 1, 1), (1, 1, 1), (source, target), 0)
    either.flush()
    assert (values(either, target) == 2 * x).all()


def test_arguments_follow_the_handles(either):
    call = either.prepare(either.build(TWICE, [SIGNATURE]), SIGNATURE)
    x = np.arange(COUNT, dtype=np.float32)
    first, second, third = filled(either, x), either.allocate(4000), either.allocate(4000)
    for source, target in ((first, second), (second, third), (first, second), (second, first)):
        call(source, target)
    either.flush()
    assert (values(either, third) == 4 * x).all()
    assert (values(either, first) == 4 * x).all()


@pytest.mark.parametrize("count", [COUNT, 1 << 20])
def test_writes_wait_for_what_reads_the_memory(either, count):
    type = tensor_type(float32, (count,))
    signature = KernelSignature("twice", (), count, 1, 0)
    call = either.prepare(either.build(TWICE, [signature]), signature)
    source, target = either.allocate(type.nbytes), either.allocate(type.nbytes)
    for turn in range(5):
        x = np.full(count, turn, np.float32)
        either.write(source, type, as_bytes(x))
        x[:] = -1  # the bytes may be reused at once
        call(source, target)
        either.flush()
        either.write(source, type, as_bytes(x))
        assert (values(either, target, type) == 2 * turn).all()


def test_slices_are_parts(either):
    arena = either.allocate(4 * ALIGNMENT)
    part = either.slice(arena, 2 * ALIGNMENT, 8)
    two = tensor_type(float32, (2,))
    either.write(part, two, as_bytes(np.array([1.0, 2.0], np.float32)))
    whole = values(either, arena, tensor_type(float32, (4 * ALIGNMENT // 4,)))
    assert whole[2 * ALIGNMENT // 4 :][:2].tolist() == [1.0, 2.0]
    assert values(either, part, two).tolist() == [1.0, 2.0]


def test_empty_tensors_are_legal(either):
    empty = tensor_type(float32, (0, 3))
    handle = either.allocate(0)
    either.write(handle, empty, memoryview(b""))
    either.read(handle, empty, memoryview(bytearray()))
    either.copy(handle, either.allocate(0), empty)
    either.free(handle)


def test_a_view_shows_the_memory_in_place(session, copying):
    x = np.arange(COUNT, dtype=np.float32)
    handle = filled(session, x)
    assert (np.frombuffer(session.view(handle, VECTOR), np.float32) == x).all()
    assert copying.view(filled(copying, x), VECTOR) is None


@pytest.mark.parametrize("offset", [0, 4, 16, 20, 64])
@pytest.mark.parametrize("count", [5, 4096, 100_003])
def test_no_alignment_of_host_memory_is_harmful(session, offset, count):
    raw = np.zeros(4 * count + 512, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNMENT + offset
    array = raw[start : start + 4 * count].view(np.float32)
    array[:] = np.arange(count)
    handle = session.adopt(array)
    if handle is None:
        assert offset
        assert array.nbytes > 4096
        return
    assert handle.array.__array_interface__["data"][0] % ALIGNMENT == 0
    type = tensor_type(float32, (count,))
    signature = KernelSignature("twice", (), count, 1, 0)
    target = session.allocate(type.nbytes)
    session.prepare(session.build(TWICE, [signature]), signature)(handle, target)
    session.flush()
    assert (values(session, target, type) == 2 * array).all()


def test_an_aligned_array_is_used_in_place(session):
    block = session.allocate(8192).array
    array = block.view(np.float32)
    handle = session.adopt(array)
    assert np.shares_memory(handle.array, array)
    assert session.adopt(array[::2]) is None
    assert session.adopt(array[:0]) is None
    assert session.adopt(array.astype(">f4")) is None


def test_memory_that_a_gpu_shares_is_mapped_where_it_is(copying):
    # Both drivers say that they share the processor's memory, as such a GPU does.
    assert copying.maps
    assert not copying.host_memory
    count = 1 << 16
    type = tensor_type(float32, (count,))
    x = np.arange(count, dtype=np.float32)
    source, target = filled(copying, x), copying.allocate(type.nbytes)
    reading = copying.cl.map_flags.READ

    def address(handle):
        with copying.mapped(handle, type.nbytes, reading) as found:
            return found.__array_interface__["data"][0]

    before = address(target)
    module = copying.build(TWICE, [KernelSignature("twice", (), count, 1, 0)])
    copying.launch(module, "twice", (count, 1, 1), (1, 1, 1), (source, target), 0)
    with copying.mapped(target, type.nbytes, reading) as found:
        assert found.__array_interface__["data"][0] == before
        assert (found.view(np.float32) == 2 * x).all()
    assert (values(copying, target, type) == 2 * x).all()
    copying.write(target, type, as_bytes(x[::-1].copy()))
    copying.launch(module, "twice", (count, 1, 1), (1, 1, 1), (target, source), 0)
    assert (values(copying, source, type) == 2 * x[::-1]).all()


def test_what_cannot_be_mapped_is_said(copying):
    handle = copying.allocate(100)
    with pytest.raises(DeviceFault, match="cannot be mapped"):
        with copying.mapped(handle, 1 << 20, copying.cl.map_flags.READ):
            pass


def test_small_read_only_memory_is_copied_and_large_memory_refused(session):
    for size, taken in ((16, True), (1 << 20, False)):
        array = np.arange(size, dtype=np.float32)
        array.flags.writeable = False
        handle = session.adopt(array)
        assert (handle is not None) is taken
        if handle is not None:
            assert not np.shares_memory(handle.array, array)
            assert (values(session, handle, tensor_type(float32, (size,))) == array).all()


def test_a_device_with_its_own_memory_adopts_nothing(copying):
    assert copying.adopt(np.zeros(16, np.float32)) is None


def test_memory_outlives_the_work_that_uses_it(session):
    """Arrays whose handles are dropped while kernels that read them have still to run."""
    count = 1 << 14
    type = tensor_type(float32, (count,))
    signature = KernelSignature("twice", (), count, 1, 0)
    call = session.prepare(session.build(TWICE, [signature]), signature)
    targets = []
    for turn in range(20):
        block = session.allocate(type.nbytes)
        block.array.view(np.float32)[:] = turn
        target = session.allocate(type.nbytes)
        call(block, target)
        session.flush()
        targets.append(target)
        del block
        gc.collect()
    for turn, target in enumerate(targets):
        assert (values(session, target, type) == 2 * turn).all()
    session.wait(None)
    assert session.graveyard.items == []


def test_dead_handles_do_not_pile_up(session):
    call = session.prepare(session.build(TWICE, [SIGNATURE]), SIGNATURE)
    target = session.allocate(VECTOR.nbytes)
    for _ in range(5000):
        session.adopt(np.zeros(2, np.float32))
        session.flush()
    assert len(session.graveyard.items) < 5000
    call(target, session.allocate(VECTOR.nbytes))


def test_a_buffer_larger_than_the_device_takes_is_refused(either):
    with pytest.raises(OutOfMemory, match="larger than the device's largest") as caught:
        either.allocate(either.limits.buffer_bytes + 1)
    assert caught.value.fix


def test_a_source_that_does_not_build_is_shown_with_file_and_log(session):
    source = "__kernel void broken(__global float *x) { x[0] = nowhere; }"
    with pytest.raises(CompilationError) as caught:
        session.build(source, [])
    error = caught.value
    assert "nowhere" in error.log
    assert source in error.source
    assert error.where.endswith(".cl")
    with open(error.where) as file:
        assert file.read() == source
    assert "1 __kernel void broken" in str(error)


def test_a_kernel_that_is_not_in_the_source_is_a_fault(session):
    module = session.build(TWICE, [SIGNATURE])
    with pytest.raises(DeviceFault, match="the kernel thrice cannot be made"):
        session.prepare(module, KernelSignature("thrice", (), 1, 1, 0))


def test_a_launch_that_the_driver_refuses_is_a_fault(session):
    module = session.build(TWICE, [SIGNATURE])
    wrong = KernelSignature("twice", (), 1, 7, 0)  # the source asks for groups of 1
    x = session.allocate(4000)
    with pytest.raises(DeviceFault, match="twice could not be launched") as caught:
        session.prepare(module, wrong)(x, x)
    assert not caught.value.fatal
    session.wait(None)


def test_a_device_that_goes_away_is_lost(session, monkeypatch):
    class Gone:
        def finish(self):
            raise session.cl.RuntimeError("clFinish failed: DEVICE_NOT_AVAILABLE")

        def flush(self):
            pass

    monkeypatch.setattr(session, "queue", Gone())
    session.flush()
    with pytest.raises(DeviceFault) as caught:
        session.wait(None)
    assert (caught.value.fatal, caught.value.kind) == (True, "lost")
    monkeypatch.undo()


def test_a_binary_is_kept_and_loaded(found):
    cache = shared_kernel_cache()
    source = TWICE.replace("2.0f", f"{found.info.index + 3}.0f")
    first = open_session(found.device, found.info.index)
    before = cache.info().entries
    first.build(source, [SIGNATURE])
    assert cache.info().entries == before + 1
    hits = cache.hits
    second = open_session(found.device, found.info.index)
    module = second.build(source, [SIGNATURE])
    assert cache.hits == hits + 1
    x = np.arange(COUNT, dtype=np.float32)
    target = second.allocate(VECTOR.nbytes)
    second.launch(module, "twice", (COUNT, 1, 1), (1, 1, 1), (filled(second, x), target), 0)
    second.flush()
    assert (values(second, target) == (found.info.index + 3) * x).all()


def test_a_binary_that_the_driver_does_not_take_is_built_anew(session):
    cache = shared_kernel_cache()
    source = TWICE.replace("2.0f", "9.0f")
    session.build(source, [SIGNATURE])
    kept = max((cache.directory / "kernels").rglob("*.bin"), key=lambda path: path.stat().st_mtime)
    assert cache.keep(kept.stem, b"no binary of any driver")
    module = session.build(source, [SIGNATURE])
    x = np.ones(COUNT, np.float32)
    target = session.allocate(VECTOR.nbytes)
    session.launch(module, "twice", (COUNT, 1, 1), (1, 1, 1), (filled(session, x), target), 0)
    session.flush()
    assert (values(session, target) == 9).all()
    assert cache.find(kept.stem) != b"no binary of any driver"


@pytest.mark.parametrize("where", ["off", "file"])
def test_without_a_working_cache_sources_are_built(session, monkeypatch, tmp_path, where):
    if where == "off":
        monkeypatch.setenv("REALTA_CACHE", "off")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path / "file"))
    session.build(TWICE.replace("2.0f", "5.0f"), [SIGNATURE])
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_times_of_kernels_come_from_the_device(session):
    call = session.prepare(session.build(TWICE, [SIGNATURE]), SIGNATURE)
    x, y = session.allocate(4000), session.allocate(4000)
    session.start_timing()
    call(x, y)
    call(y, x)
    session.flush()
    times = session.stop_timing()
    assert [name for name, _ in times] == ["twice", "twice"]
    assert all(0 < seconds < 10 for _, seconds in times)
    call(x, y)
    session.flush()
    session.wait(None)


def test_several_threads_wait_for_their_own(session):
    """No thread may take another's waiting for its own."""
    count = 1 << 18
    type = tensor_type(float32, (count,))
    signature = KernelSignature("twice", (), count, 1, 0)
    module = session.build(TWICE, [signature])
    wrong = []

    def work(number):
        call = session.prepare(module, signature)
        source, target = session.allocate(type.nbytes), session.allocate(type.nbytes)
        for turn in range(8):
            session.write(source, type, as_bytes(np.full(count, number + turn, np.float32)))
            with session.lock:
                call(source, target)
                session.flush()
            session.wait(target)
            seen = np.frombuffer(session.view(target, type), np.float32)
            if not (seen == 2 * (number + turn)).all():
                wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(100 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_limits_and_capabilities_are_the_devices(session, found):
    limits = session.capabilities.limits
    assert limits.parameter_bytes == found.device.max_parameter_size
    assert limits.group_size == found.device.max_work_group_size
    assert limits.local_bytes == found.device.local_mem_size
    assert "async" in session.capabilities.features
    assert uint8 in session.capabilities.storage
