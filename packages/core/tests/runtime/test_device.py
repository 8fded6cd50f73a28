import os
import subprocess
import sys

import numpy as np
import pytest
from realta.errors import ArgumentError, DTypeError, OutOfMemory
from realta.graph import Graph, Input
from realta.plugins import open_device
from realta.runtime import (
    DeviceInfo,
    graph_device,
    memory_stats,
    open_devices,
    program_for,
    resolve_device,
    synchronize,
)
from realta.runtime.device import add_pass, memory_limit
from realta.runtime.hooks import extra_passes
from realta.types import float32, tensor_type


def test_the_limit_is_most_of_the_memory_unless_it_is_given(monkeypatch):
    monkeypatch.delenv("REALTA_MEMORY_LIMIT", raising=False)
    assert memory_limit(DeviceInfo(0, "d", memory_bytes=1000)) == 900
    assert memory_limit(DeviceInfo(0, "d")) is None
    monkeypatch.setenv("REALTA_MEMORY_LIMIT", "2GB")
    assert memory_limit(DeviceInfo(0, "d", memory_bytes=1000)) == 2_000_000_000
    monkeypatch.setenv("REALTA_MEMORY_LIMIT", "lots")
    with pytest.raises(ArgumentError, match="'lots' is not a size") as caught:
        memory_limit(DeviceInfo(0, "d"))
    assert caught.value.where == "environment variable REALTA_MEMORY_LIMIT"


def test_an_impossible_upload_fails_with_numbers_and_small_ones_go_on(monkeypatch, bytes_device):
    monkeypatch.setenv("REALTA_MEMORY_LIMIT", "1MB")
    device, _ = bytes_device()
    with pytest.raises(
        OutOfMemory, match=r"requested 4\.0 MiB, live 0 B, pooled 0 B, limit 976\.6 KiB"
    ):
        device.upload(np.zeros(1 << 20, np.float32))
    assert device.upload(np.ones(3, np.float32)).numpy().tolist() == [1, 1, 1]


def test_memory_stats_are_by_device(bytes_device):
    device, _ = bytes_device()
    storage = device.upload(np.zeros(1000, np.float32))
    stats = memory_stats()["bytes:0"]
    assert (stats.live, stats.blocks) == (storage.nbytes, 1)
    assert list(memory_stats("bytes:0")) == ["bytes:0"]


def test_open_devices_are_known_by_name_until_closed(bytes_device):
    device, session = bytes_device()
    assert device in open_devices()
    assert resolve_device("bytes:0") is device
    device.close()
    assert session.closed
    assert device not in open_devices()


def test_uploading_what_has_no_dtype_is_refused(bytes_device):
    device, _ = bytes_device()
    with pytest.raises(DTypeError, match="complex"):
        device.upload(np.zeros(3, np.complex64))


def test_adopting_shares_where_the_session_can(tiny_device, bytes_device):
    array = np.ones(3, np.float32)
    assert np.shares_memory(tiny_device.adopt(array).numpy(), array)
    other, _ = bytes_device()
    assert not np.shares_memory(other.adopt(array).numpy(), array)


def test_synchronize_waits_for_every_device(bytes_device):
    _, session = bytes_device(features=["async"])
    ran = []
    session.queue.append(lambda: ran.append(1))
    synchronize()
    assert ran == [1]


def test_the_device_of_a_graph_is_that_of_its_values(bytes_device):
    device, _ = bytes_device()
    assert graph_device(Graph("g", (), (Input(tensor_type(float32, (), "bytes:0")),))) is device
    nowhere = Input(tensor_type(float32, ()))
    assert graph_device(Graph("g", (nowhere,), (nowhere,))) is open_device("cpu")


def test_a_pass_that_is_added_runs_on_what_is_compiled_later(bytes_device, graph_of, vector):
    device, session = bytes_device()
    graph = graph_of(lambda b, x: b.neg(x), device.name)
    program_for(graph)
    seen = []

    class Watching:
        name = "watching"

        def run(self, graph):
            seen.append(len(graph.nodes))
            return graph

    add_pass(Watching())
    try:
        program_for(graph)
    finally:
        extra_passes.clear()
    assert seen == [1]
    assert len(session.compiled) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_leaves_host_devices_usable_and_names_others(bytes_device):
    host, _ = bytes_device()
    other, _ = bytes_device(name="others", kind="accelerator")
    host.upload(np.ones(3, np.float32))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            good = host.upload(np.ones(3, np.float32)).numpy().tolist() == [1, 1, 1]
            os.write(writing, f"{good} {host.lost} {other.lost}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    text = os.read(reading, 1000).decode()
    os.close(reading)
    assert text == (
        "True None others:0 was in use when this process was forked, so it is unusable here\n"
        '  fix: start worker processes with multiprocessing.get_context("spawn")'
    )
    assert other.lost is None


def test_bare_calls_are_counted_from_when_somebody_asks():
    program = (
        "import realta\n"
        "from realta.plugins import open_device\n"
        "x = realta.Tensor([1.0, 2.0], device='numpy:0')\n"
        "for _ in range(5): x + x\n"
        "device = open_device('numpy:0')\n"
        "before = device.launches\n"
        "for _ in range(5): x + x\n"
        "print(device.launches - before)\n"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "5\n"
