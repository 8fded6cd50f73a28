import json

import pytest
from realta.runtime import (
    add_compile_wrapper,
    add_execute_wrapper,
    execute_wrappers,
    profile,
    program_for,
    remove_wrapper,
)


def test_a_profile_has_every_run_with_kernels_and_bytes(bytes_device, graph_of, vector):
    device, _ = bytes_device()
    graph = graph_of(lambda b, x: b.neg(b.exp(x)), device.name)
    with profile() as found:
        program_for(graph).run([vector(1, 2, 3)])
        program_for(graph).run([device.upload(vector(1, 2, 3))])
    program_for(graph).run([vector(1, 2, 3)])
    assert [run.device for run in found.runs] == ["bytes:0", "bytes:0"]
    assert [kernel.name for kernel in found.runs[0].kernels] == ["exp", "neg"]
    assert (found.runs[1].bytes_in, found.runs[1].bytes_out) == (12, 12)
    assert (found.kernels, found.compiles) == (4, 1)
    assert 0 < found.runs[0].seconds <= found.seconds
    assert json.loads(json.dumps(found.to_dict()))["kernels"] == 4
    assert "2 run(s), 4 kernel(s), 1 compiled" in str(found)
    assert "bytes:0  test: exp, neg  (12 B in, 12 B out)" in str(found)


def test_a_profile_that_an_exception_ends_uninstalls_itself(bytes_device):
    with pytest.raises(ZeroDivisionError), profile():
        raise ZeroDivisionError
    assert execute_wrappers == []


def test_a_profile_waits_for_work_in_flight(bytes_device, graph_of, vector):
    device, session = bytes_device(features=["async"])
    with profile():
        program_for(graph_of(lambda b, x: b.neg(x), device.name)).run([vector(1, 2, 3)])
    assert session.queue == []


def test_wrappers_nest_and_see_the_event(bytes_device, graph_of, vector):
    device, _ = bytes_device()
    seen = []

    def wrapper(name):
        def wrap(event, call):
            seen.append((name, "in", event.device))
            result = call()
            seen.append((name, "out", event.device))
            return result

        return wrap

    inner, outer, compiling = wrapper("inner"), wrapper("outer"), wrapper("compile")
    add_execute_wrapper(inner)
    add_execute_wrapper(outer)
    add_compile_wrapper(compiling)
    try:
        graph = graph_of(lambda b, x: b.neg(x), device.name)
        (output,) = program_for(graph).run([vector(1, 2, 3)])
    finally:
        for installed in (inner, outer, compiling):
            remove_wrapper(installed)
    assert output.numpy().tolist() == [-1, -2, -3]
    assert [(name, side) for name, side, _ in seen] == [
        ("compile", "in"), ("compile", "out"),
        ("outer", "in"), ("inner", "in"), ("inner", "out"), ("outer", "out"),
    ]  # fmt: skip
    program_for(graph).run([vector(1, 2, 3)])
    assert len(seen) == 6


class Clock:
    """What a session with a clock has; each reading is one kernel."""

    def __init__(self):
        self.running = False
        self.readings = 0

    def start_timing(self):
        assert not self.running
        self.running = True

    def stop_timing(self):
        assert self.running
        self.running = False
        self.readings += 1
        return [(f"kernel{self.readings}", 0.5)]


def test_times_come_from_devices_with_a_clock(bytes_device):
    _, session = bytes_device()
    clock = Clock()
    session.start_timing, session.stop_timing = clock.start_timing, clock.stop_timing
    with profile() as outer:
        with profile() as inner:
            pass
    assert not clock.running
    assert [time.kernel for time in inner.kernel_times] == ["kernel1"]
    assert [time.kernel for time in outer.kernel_times] == ["kernel1", "kernel2"]
    assert outer.kernel_times[0] == ("bytes:0", "kernel1", 0.5)
    assert json.loads(json.dumps(outer.to_dict()))["kernel_times"][1]["seconds"] == 0.5
    assert "500.000 ms  bytes:0  kernel1 x 1, on the device" in str(inner)
