"""Bugs that a GPU often lets pass: each kernel is right, and wrong by what a test takes away.

Each test runs the right kernel first, so that what is caught is the bug and not the kernel.
"""

import contextlib
from pathlib import Path

import numpy as np
import pytest
import realta_cuda_emulator as emulator

KERNELS = Path(__file__).parent / "kernels"
TREE, VECTORS, INDEXED, READ_EARLY, COUNTS, ADD_ONE = (
    (KERNELS / f"{name}.cu").read_text(encoding="utf-8")
    for name in ("tree", "vectors", "indexed", "read_early", "counts", "add_one")
)
ORDERS = ("forward", "reversed", 3)


def rows(count, length):
    return np.random.default_rng(5).integers(-9, 9, (count, length)).astype(np.float32)


def sums(machine, source, order="forward"):
    """The sums of rows by a kernel, or what the emulator says about it."""
    x = rows(3, 300)
    given, out = machine.upload(x), machine.upload(np.zeros(3, np.float32))
    kernel = machine.kernel(source, "tree")
    emulator.configure(order=order)
    with contextlib.suppress(machine.failure):
        machine.launch(kernel, 3, 128, out, given, np.int32(300))
        return machine.download(out, np.empty(3, np.float32))
    return emulator.message()


def fails(machine, source, name, grid, block, *arguments):
    """What the emulator says about a launch, which must fail."""
    kernel = machine.kernel(source, name)
    with pytest.raises(machine.failure, match="CUDA_ERROR"):
        machine.launch(kernel, grid, block, *arguments)
    return emulator.message()


def without(source, text, instead="", which=0):
    """A source with one of the places where a text stands changed."""
    parts = source.split(text)
    assert len(parts) > which + 1
    return text.join(parts[: which + 1]) + instead + text.join(parts[which + 1 :])


@pytest.mark.parametrize("order", ORDERS)
def test_the_right_reduction_passes_with_checks(machine, checks, order):
    assert np.array_equal(sums(machine, TREE, order), rows(3, 300).sum(1))


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_barrier_is_a_race(machine, checks, which):
    said = sums(machine, without(TREE, "__syncthreads();", which=which))
    assert "kernel tree, block 0" in said
    assert "the shared array part" in said
    assert "race" in said or "uninitialised" in said
    assert "(line " in said


def test_a_missing_barrier_shows_without_checks(machine):
    """Other orders give other sums."""
    wrong = without(TREE, "__syncthreads();", which=1)
    found = [sums(machine, wrong, order) for order in ORDERS]
    assert not all(np.array_equal(sum, rows(3, 300).sum(1), equal_nan=True) for sum in found)


def test_lanes_of_a_warp_do_not_wait_for_each_other(machine, checks):
    """What was once usual: no barrier where all that is left is one warp."""
    wrong = without(TREE, "__syncthreads();", "if (half > 32) __syncthreads();", which=1)
    said = sums(machine, wrong)
    assert "a race" in said
    right = without(TREE, "__syncthreads();",
                    "if (half > 32) __syncthreads(); else __syncwarp();", which=1)  # fmt: skip
    # Lanes of a warp read what other lanes of it write in the same step.
    right = right.replace(
        "if (t < half) part[t] += part[t + half];",
        "const float other = t < half ? part[t + half] : 0.0f; __syncwarp();"
        "if (t < half) part[t] += other;",
    )
    emulator.reset()
    assert np.array_equal(sums(machine, right), rows(3, 300).sum(1))


@pytest.mark.parametrize("order", ORDERS)
def test_a_barrier_that_some_threads_pass_by(machine, order):
    wrong = without(TREE, "__syncthreads();", "if (t < 64) __syncthreads();", which=1)
    said = sums(machine, wrong, order)
    assert "__syncthreads" in said
    assert "line 13" in said


def test_a_barrier_after_some_threads_returned(machine):
    wrong = without(TREE, "__syncthreads();", "if (t > 99) return; __syncthreads();")
    assert "28 of 128 have returned" in sums(machine, wrong)


def test_a_misaligned_vector(machine):
    x = np.arange(300, dtype=np.float32)
    given, out = machine.upload(x), machine.empty(256)
    machine.launch(machine.kernel(VECTORS.replace("OFFSET", "4"), "vectors"), 1, 64, out, given)
    found = machine.download(out, np.empty(64, np.float32))
    assert np.array_equal(found, x[4:260:4] + x[7:260:4])
    said = fails(machine, VECTORS.replace("OFFSET", "1"), "vectors", 1, 64, out, given)
    assert "misaligned access at line 4" in said
    assert "float4' needs 16 bytes" in said


def test_a_pointer_that_is_less_aligned_than_the_kernel_says(machine):
    claim = "x = (const float *)__builtin_assume_aligned(x, 16);"
    source = ADD_ONE.replace("{\n", "{ " + claim + "\n", 1)
    given, out = machine.upload(np.zeros(65, np.float32)), machine.empty(256)
    machine.launch(machine.kernel(source, "add_one"), 1, 64, out, given)
    said = fails(machine, source, "add_one", 1, 64, out, int(given.handle) + 4)
    assert "line 3 says that" in said
    assert "is aligned to 16 bytes, which it is not" in said


def test_an_index_past_a_shared_array(machine):
    x = np.arange(64, dtype=np.float32)
    given, out = machine.upload(x), machine.empty(256)
    kernel = machine.kernel(INDEXED, "indexed")
    machine.launch(kernel, 1, 64, out, given, np.int32(0))
    assert np.array_equal(machine.download(out, x), x[::-1])
    said = fails(machine, INDEXED, "indexed", 1, 64, out, given, np.int32(1))
    assert (
        "thread 63: an index out of bounds at line 5: 64 in an array of type 'float [64]'" in said
    )


def test_shared_memory_that_nothing_has_written(machine, checks):
    out = machine.empty(256)
    machine.launch(machine.kernel(READ_EARLY, "early"), 1, 64, out, np.int32(64))
    assert machine.download(out, np.empty(64, np.float32)).sum() == 64
    said = fails(machine, READ_EARLY, "early", 1, 64, out, np.int32(63))
    assert "thread 0: uninitialised memory: it reads 4 bytes at byte 252" in said
    assert "the shared array part (line 7)" in said


def test_shared_memory_is_poisoned_without_checks(machine):
    out = machine.empty(256)
    machine.launch(machine.kernel(READ_EARLY, "early"), 1, 64, out, np.int32(63))
    assert np.isnan(machine.download(out, np.empty(64, np.float32))).sum() == 1


def test_blocks_that_race(machine, checks):
    atomic = COUNTS.replace("ADD", "atomicAdd(out, 1)")
    out = machine.upload(np.zeros(1, np.int32))
    machine.launch(machine.kernel(atomic, "counts"), 5, 64, out)
    assert machine.download(out, np.empty(1, np.int32))[0] == 5
    said = fails(machine, COUNTS.replace("ADD", "*out += 1"), "counts", 5, 64, out)
    assert "block 1, thread 0: a race: it reads byte 0 of an allocation of 4 bytes" in said
    assert "which another block of the launch accessed" in said


def test_a_missing_event(machine):
    """Streams of their own do not wait for each other."""
    emulator.configure(streams="lazy")
    x = np.arange(64, dtype=np.float32)
    first, second = machine.device.create_stream(), machine.device.create_stream()
    kernel = machine.kernel(ADD_ONE, "add_one")
    given, middle, out = (machine.upload(x), machine.empty(256), machine.empty(256))
    machine.stream.sync()
    for wait in (True, False):
        machine.ask("cuMemsetD32Async", int(middle.handle), 0xFFFFFFFF, 64, first.handle)
        first.sync()
        machine.launch(kernel, 1, 64, middle, given, stream=first)
        if wait:
            second.wait(first.record())
        machine.launch(kernel, 1, 64, out, middle, stream=second)
        found = machine.download(out, x, second)
        assert np.array_equal(found, x + 2) == wait
        first.sync()


@pytest.mark.parametrize("by", [1, -1])
def test_global_memory_out_of_bounds(machine, checks, by):
    source = ADD_ONE.replace("out[threadIdx.x]", f"out[(int)threadIdx.x + ({by})]")
    given, out = machine.upload(np.zeros(64, np.float32)), machine.empty(256)
    said = fails(machine, source, "add_one", 1, 64, out, given)
    where = "0 bytes past the end of" if by > 0 else "4 bytes before"
    assert f"it writes 4 bytes at {where} an allocation of 256 bytes (line 4)" in said


def test_a_write_past_the_end_shows_without_checks(machine):
    source = ADD_ONE.replace("out[threadIdx.x]", "out[threadIdx.x + 1]")
    given, out = machine.upload(np.zeros(64, np.float32)), machine.empty(256)
    said = fails(machine, source, "add_one", 1, 64, out, given)
    assert "kernel add_one wrote to byte 256 of an allocation of 256 bytes (argument 0)" in said


def test_memory_that_is_freed(machine, checks):
    given, out = machine.upload(np.zeros(64, np.float32)), machine.empty(256)
    address = int(given.handle)
    given.close(machine.stream)
    said = fails(machine, ADD_ONE, "add_one", 1, 64, out, address)
    assert "it reads 4 bytes at byte 0 of a freed allocation of 256 bytes" in said


def test_no_memory_at_all_ends_the_launch_and_not_the_process(machine):
    out = machine.empty(256)
    said = fails(machine, ADD_ONE, "add_one", 1, 64, out, 0)
    assert "no memory" in said or "no address" in said or "null pointer" in said
    emulator.reset()
    assert machine.download(out, np.empty(1, np.float32)).size == 1


def test_an_integer_division_by_zero(machine):
    source = COUNTS.replace("ADD", "out[0] = 7 / out[0]")
    out = machine.upload(np.zeros(1, np.int32))
    assert "divided by zero" in fails(machine, source, "counts", 1, 64, out)
