"""The session on the stand-in driver: memory, copies, launches, CUDA graphs, and what fails."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from realta.backend import DeviceFault, Options, OutOfMemory
from realta.graph import Builder
from realta.types import TensorType

N = 96


def tensor(*shape, dtype="float32"):
    return TensorType(dtype, shape, "cuda:0")


def put(session, array):
    type = tensor(*array.shape, dtype=str(array.dtype))
    handle = session.allocate(array.nbytes)
    session.write(handle, type, array.reshape(-1).view(np.uint8).data)
    return handle


def get(session, handle, like):
    found = np.empty_like(like)
    type = tensor(*like.shape, dtype=str(like.dtype))
    session.read(handle, type, found.reshape(-1).view(np.uint8).data)
    return found


def several_kernels(session, n=N, name="steps"):
    """``sum(x @ x) + max(x)`` of the rows: more than one launch and memory in between."""
    builder = Builder(name)
    x = builder.input(tensor(n, n), "x")
    total = builder.sum(builder.matmul(x, x), axes=(1,))
    graph = builder.finish(builder.add(total, builder.max(x, axes=(1,))))
    from realta.passes import Decompose

    return session.compile(Decompose(lambda node: False).run(graph), Options())


def expected(x):
    return (x.astype(np.float64) @ x).sum(axis=1) + x.max(axis=1)


def drawn(n=N, seed=0):
    return np.random.default_rng(seed).random((n, n), np.float32)


def test_values_are_right_launched_and_replayed(session, emulator):
    executable = several_kernels(session)
    assert len(executable.kernels) > 1
    x = drawn()
    source, target = put(session, x), session.allocate(4 * N)
    replays = []
    for turn in range(4):
        x = drawn(seed=turn)
        session.write(source, tensor(N, N), x.reshape(-1).view(np.uint8).data)
        before = emulator.statistics()["graph_launches"]
        executable.run([source], [target])
        replays.append(emulator.statistics()["graph_launches"] - before)
        found = get(session, target, np.empty(N, np.float32))
        np.testing.assert_allclose(found, expected(x), rtol=1e-5)
    assert replays == [0, 1, 1, 1]


def test_other_addresses_are_another_cuda_graph(session, emulator):
    executable = several_kernels(session)
    arrays = [drawn(seed=n) for n in range(3)]
    handles = [put(session, x) for x in arrays]
    targets = [session.allocate(4 * N) for _ in range(3)]
    for _ in range(3):
        for x, source, target in zip(arrays, handles, targets, strict=True):
            executable.run([source], [target])
            found = get(session, target, np.empty(N, np.float32))
            np.testing.assert_allclose(found, expected(x), rtol=1e-5)


def test_memory_between_kernels_may_grow_between_runs(session):
    small, large = several_kernels(session, 32, "small"), several_kernels(session, 160, "large")
    x, y = drawn(32), drawn(160)
    sources = {small: put(session, x), large: put(session, y)}
    targets = {small: session.allocate(4 * 32), large: session.allocate(4 * 160)}
    for executable in (small, small, small, large, large, small, small, small):
        given = x if executable is small else y
        executable.run([sources[executable]], [targets[executable]])
        found = get(session, targets[executable], np.empty(len(given), np.float32))
        np.testing.assert_allclose(found, expected(given), rtol=1e-5)


def test_streams_that_work_late_change_nothing(session, emulator):
    emulator.configure(streams="lazy")
    executable = several_kernels(session)
    x = drawn()
    source, target = put(session, x), session.allocate(4 * N)
    for _ in range(3):
        executable.run([source], [target])
    np.testing.assert_allclose(
        get(session, target, np.empty(N, np.float32)), expected(x), rtol=1e-5
    )


@pytest.mark.parametrize("nbytes", [0, 1, 4096, (1 << 20) - 1, 5 << 20, (5 << 20) + 3])
def test_bytes_go_through_pinned_pieces_unchanged(session, nbytes):
    given = np.random.default_rng(1).integers(0, 256, nbytes, np.uint8)
    handle = put(session, given)
    given_again = given.copy()
    given[:] = 0  # the bytes were taken when `write` was back
    assert np.array_equal(get(session, handle, given), given_again)


def test_a_copy_on_the_device(session):
    given = np.arange(1000, dtype=np.int32)
    source, target = put(session, given), session.allocate(4000)
    session.copy(source, target, tensor(1000, dtype="int32"))
    assert np.array_equal(get(session, target, given), given)


def test_any_thread_may_call(session):
    executable = several_kernels(session)
    x = drawn()
    source, target = put(session, x), session.allocate(4 * N)
    found = []

    def work():
        executable.run([source], [target])
        found.append(get(session, target, np.empty(N, np.float32)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for values in found:
        np.testing.assert_allclose(values, expected(x), rtol=1e-5)


# -- what fails -----------------------------------------------------------------------------------


def test_out_of_memory_has_numbers_and_passes(session, emulator):
    emulator.configure(memory_limit=64 << 20)
    with pytest.raises(OutOfMemory, match=r"a buffer of 1073741824 bytes cannot be had: .*holds"):
        session.allocate(1 << 30)
    emulator.configure(memory_limit=4 << 30)
    given = np.arange(10, dtype=np.float32)
    assert np.array_equal(get(session, put(session, given), given), given)


def test_a_failed_kernel_poisons_the_context_and_the_error_names_what_ran(session, emulator):
    executable = several_kernels(session)
    x = drawn()
    source, target = put(session, x), session.allocate(4 * N)
    session.wait()
    emulator.configure(streams="lazy", fail_launch=1)

    def run_and_wait():
        executable.run([source], [target])
        session.wait()

    with pytest.raises(DeviceFault) as caught:
        run_and_wait()
    fault = caught.value
    assert executable.kernels[0].name in str(fault)
    assert fault.fatal
    assert "restart the process" in fault.fix
    assert "REALTA_CUDA_BLOCKING=1" in fault.fix
    with pytest.raises(DeviceFault):
        session.wait()


def test_waiting_for_each_kernel_names_the_one(open_session, emulator, monkeypatch):
    monkeypatch.setenv("REALTA_CUDA_BLOCKING", "1")
    session = open_session()
    executable = several_kernels(session)
    source, target = put(session, drawn()), session.allocate(4 * N)
    emulator.configure(fail_launch=2)
    with pytest.raises(DeviceFault, match=rf"^{executable.kernels[1].name} ") as caught:
        executable.run([source], [target])
    assert caught.value.node == executable.kernels[1].nodes[-1]


def test_the_error_of_a_program_has_its_line():
    """In a process of its own, since the device is core's there."""
    program = """
import realta, realta_cuda_emulator
x = realta.ones((64, 64), device="cuda:0")
y = (x + 1.0).numpy()
realta_cuda_emulator.configure(fail_launch=1)
realta.F.exp(x).numpy()  # the line
"""
    environment = {**os.environ, "REALTA_CUDA_EMULATE": "1", "REALTA_CUDA_BLOCKING": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
        env=environment, check=False,
    )  # fmt: skip
    assert "DeviceFault: exp_0" in done.stderr
    assert "exp(f32[64,64]@cuda:0) at <string>:6" in done.stderr
