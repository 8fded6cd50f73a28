"""Sanitizers of the compiler, out of process, find planted bugs and nothing in right kernels."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from realta_cuda_emulator import EmulatorError, sanitizers
from realta_cuda_emulator.replay import recorded, replay
from realta_cuda_emulator.sanitizers import PASSES, launch_file, watch

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="the emulator needs g++")

KERNELS = Path(__file__).parent / "kernels"


def source(name, *changes):
    text = (KERNELS / f"{name}.cu").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def buffer(array):
    return "b", array.tobytes()


def value(number):
    return "s", np.int32(number).tobytes()


X = np.random.default_rng(5).integers(-9, 9, (2, 300)).astype(np.float32)
TREE = launch_file((2,), (128,), [buffer(np.zeros(2, np.float32)), buffer(X), value(300)])
NO_BARRIER = ("        __syncthreads();\n", "")
FEW_BARRIERS = ("        __syncthreads();\n", "        if (half > 32) __syncthreads();\n")
ZEROS = buffer(np.zeros(64, np.float32))
ONE_BLOCK = launch_file((1,), (64,), [ZEROS, ZEROS])
BOTH = launch_file((3,), (64,), [buffer(np.zeros(1, np.int32))])
SHIFTED = launch_file((1,), (64,), [ZEROS, ZEROS, value(1)])
FOUR = launch_file((1,), (64,), [ZEROS, buffer(np.zeros(272, np.float32))])


@pytest.fixture(autouse=True)
def built(started):
    """The runners are there."""


@pytest.mark.parametrize("name", PASSES)
def test_a_right_kernel_is_clean(name):
    found = watch(source("tree"), "tree", TREE, PASSES[name])
    assert found.clean, found.report
    at = found.launch.index(b"\n") + 1 + 9
    assert np.array_equal(np.frombuffer(found.launch[at : at + 8], np.float32), X.sum(1))


@pytest.mark.parametrize("name", PASSES)
def test_atomics_are_clean(name):
    found = watch(source("counts", ("ADD", "atomicAdd(out, 1)")), "counts", BOTH, PASSES[name])
    assert found.clean, found.report


@pytest.mark.parametrize(
    ("text", "kernel", "launch", "name", "says"),
    [
        (source("tree", NO_BARRIER), "tree", TREE, "thread", "data race"),
        (source("tree", FEW_BARRIERS), "tree", TREE, "thread", "data race"),
        (source("counts", ("ADD", "*out += 1")), "counts", BOTH, "thread between blocks",
         "data race"),
        (source("indexed"), "indexed", SHIFTED, "address", "index 64 out of bounds"),
        (source("vectors", ("OFFSET", "1")), "vectors", FOUR, "address", "misaligned address"),
        (source("add_one", ("out[threadIdx.x]", "out[threadIdx.x + 1]")), "add_one", ONE_BLOCK,
         "address", "heap-buffer-overflow"),
        (source("counts", ("ADD", "*out = 1 << (*out + 40)")), "counts", BOTH, "address",
         "shift exponent 40 is too large"),
        (source("counts", ("ADD", "*out = (int)(1e10f + *out)")), "counts", BOTH, "address",
         "outside the range of representable values"),
    ],
    ids=["barrier", "warp", "blocks", "shared", "vector", "global", "shift", "conversion"],
)  # fmt: skip
def test_a_planted_bug_is_reported_with_its_line(text, kernel, launch, name, says):
    found = watch(text, kernel, launch, PASSES[name])
    assert not found.clean
    assert says in found.report
    assert "kernel.cu:" in found.report


def test_the_scheduler_is_as_strict_in_a_runner():
    text = source("tree", ("        __syncthreads();\n", "        if (t < 64) __syncthreads();\n"))
    found = watch(text, "tree", TREE, PASSES["address"])
    assert not found.clean
    assert "is not reached by all threads" in found.report


def test_a_launch_that_does_not_fit_is_refused():
    with pytest.raises(EmulatorError, match="does not fit"):
        watch(source("tree"), "tree", ONE_BLOCK, PASSES["address"])


def test_a_runner_that_is_not_built_says_how(monkeypatch, tmp_path):
    monkeypatch.setattr(sanitizers, "runner_program", lambda name: tmp_path / "none")
    with pytest.raises(EmulatorError, match="not built") as caught:
        watch(source("tree"), "tree", TREE, PASSES["address"])
    assert "python -m realta_cuda_emulator build" in caught.value.fix


def test_recorded_launches_are_replayed(machine, monkeypatch, tmp_path):
    from realta_cuda_emulator import standin

    monkeypatch.setenv("REALTA_CUDA_EMULATE_RECORD", str(tmp_path))
    standin._library().realta_emulator_record(str(tmp_path).encode())
    for text, blocks in ((source("counts", ("ADD", "*out += 1")), 2), (source("add_one"), 1)):
        kernel = machine.kernel(text, "counts" if blocks == 2 else "add_one")
        arguments = [machine.upload(np.zeros(64, np.float32)) for _ in range(3 - blocks)]
        machine.launch(kernel, blocks, 64, *arguments)
        machine.launch(kernel, blocks, 64, *arguments)
    standin._library().realta_emulator_record(b"")
    launches = recorded(tmp_path, most=5)
    assert [launch.kernel for launch in launches] == ["add_one", "counts"]
    assert [launch.kernel for launch in recorded(tmp_path, most=1)] == ["add_one"]
    found = [(launch.kernel, name) for launch, name, report in replay(launches) if report]
    assert found == [("counts", "thread between blocks")]
