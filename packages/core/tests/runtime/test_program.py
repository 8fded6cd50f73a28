import gc
import sys
import threading

import numpy as np
import pytest
from realta.errors import (
    ArgumentError,
    CompilationError,
    DeviceFault,
    ExecutionError,
    OutOfMemory,
    RealizationError,
    ShapeError,
    UnsupportedOp,
)
from realta.graph import Builder, Graph, Location, Node
from realta.ops import get_op
from realta.plugins import open_device
from realta.runtime import (
    Options,
    Places,
    compile_program,
    memory_stats,
    program_for,
    run_graph,
    set_fallback_policy,
)
from realta.types import TensorType, float32, tensor_type, uint32


def at(graph: Graph, line: str) -> Graph:
    for number, node in enumerate(graph.nodes):
        node.where = Location(None, 0, f"{line}:{number + 1}")
    return graph


def values(storages):
    return [storage.numpy().tolist() for storage in storages]


def test_a_program_computes(bytes_device, graph_of, vector):
    device, session = bytes_device()
    graph = graph_of(lambda b, x, y: (b.add(x, y), b.mul(x, y)), device.name, 2)
    program = compile_program(graph, device)
    inputs = [device.upload(vector(1, 2, 3)), vector(4, 5, 6)]
    assert values(program.run(inputs)) == [[5, 7, 9], [4, 10, 18]]
    assert values(program.run(inputs)) == [[5, 7, 9], [4, 10, 18]]
    assert len(session.compiled) == 1


def test_launches_are_counted(bytes_device, graph_of, vector):
    device, _ = bytes_device()
    program = compile_program(graph_of(lambda b, x: b.neg(b.neg(b.exp(x))), device.name), device)
    program.run([vector(1, 2, 3)])
    program.run([vector(1, 2, 3)])
    assert device.launches == 2 * program.launches > 0


def test_equal_graphs_share_a_program_and_their_errors_name_their_own_lines(
    bytes_device, graph_of, vector
):
    device, session = bytes_device()
    session.failing["exp"] = DeviceFault("the kernel of exp failed", detail="code 7")
    first = at(graph_of(lambda b, x: b.neg(b.exp(x)), device.name), "first.py")
    second = at(graph_of(lambda b, x: b.neg(b.exp(x)), device.name), "second.py")
    program = program_for(first)
    assert program_for(second) is program
    for graph, file in ((first, "first.py"), (second, "second.py")):
        session.failing["exp"] = DeviceFault("the kernel of exp failed", detail="code 7")
        with pytest.raises(DeviceFault) as caught:
            program.run([vector(1, 2, 3)], places=Places(graph.nodes))
        assert caught.value.where == f"exp(f32[3]@bytes:0) at {file}:1"


def test_any_exception_of_a_launch_becomes_an_execution_error(bytes_device, graph_of, vector):
    device, session = bytes_device()
    session.failing["exp"] = ValueError("no such luck")
    graph = at(graph_of(lambda b, x: b.exp(x), device.name), "model.py")
    with pytest.raises(ExecutionError) as caught:
        program_for(graph).run([vector(1, 2, 3)], places=Places(graph.nodes))
    assert str(caught.value) == (
        "test failed on bytes:0: ValueError: no such luck\n"
        "  where: exp(f32[3]@bytes:0) at model.py:1\n"
        "  fix: tensors this launch was to fill stay unusable; other work is unaffected"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_work_after_a_failed_launch_is_fine_and_nothing_leaks(bytes_device, graph_of, vector):
    device, session = bytes_device()
    good = graph_of(lambda b, x: b.neg(x), device.name)
    bad = graph_of(lambda b, x: b.neg(b.exp(x)), device.name)
    session.failing["exp"] = ValueError("no")
    for _ in range(3):
        with pytest.raises(ExecutionError):
            run_program_on(bad, vector(1, 2, 3))
        assert values(run_program_on(good, vector(1, 2, 3))) == [[-1, -2, -3]]
    session.failing.clear()
    assert run_program_on(bad, vector(0, 0, 0))[0].numpy().tolist() == [-1, -1, -1]
    gc.collect()
    assert device.pool.stats().blocks == 0


def run_program_on(graph, *inputs):
    return program_for(graph).run(inputs)


def test_an_output_may_be_an_input_or_stand_twice(bytes_device, graph_of, vector):
    device, _ = bytes_device()

    def body(b, x):
        y = b.neg(x)
        return x, y, y

    given = device.upload(vector(1, 2, 3))
    outputs = compile_program(graph_of(body, device.name), device).run([given])
    assert values(outputs) == [[1, 2, 3], [-1, -2, -3], [-1, -2, -3]]
    assert outputs[0] is given


def test_inputs_that_are_not_used_are_taken(bytes_device, graph_of, vector):
    device, session = bytes_device()
    graph = graph_of(lambda b, x, y, z: b.sub(z, x), device.name, 3)
    program = compile_program(graph, device)
    assert values(program.run([vector(1, 1, 1), vector(9, 9, 9), vector(3, 3, 3)])) == [[2, 2, 2]]
    assert len(session.compiled[0].inputs) == 3


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ([], "the graph 'test' takes 1 input(s), got 0"),
        (
            [np.zeros(4, np.float32)],
            (
                "input number 0 of the graph 'test' is f32[3]@bytes:0, "
                "got an array of float32 and shape (4,)"
            ),
        ),
        (
            [np.zeros(3, np.int32)],
            (
                "input number 0 of the graph 'test' is f32[3]@bytes:0, "
                "got an array of int32 and shape (3,)"
            ),
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(bytes_device, graph_of, inputs, text):
    device, _ = bytes_device()
    program = compile_program(graph_of(lambda b, x: b.neg(x), device.name), device)
    with pytest.raises(ArgumentError) as caught:
        program.run(inputs)
    assert caught.value.what == text
    assert device.launches == 0


def test_a_storage_of_another_type_is_refused_and_one_of_another_device_is_moved(
    bytes_device, graph_of, vector
):
    device, _ = bytes_device()
    other, _ = bytes_device(name="others")
    program = compile_program(graph_of(lambda b, x: b.neg(x), device.name), device)
    with pytest.raises(ArgumentError, match=r"got f32\[2\]@bytes:0"):
        program.run([device.upload(vector(1, 2))])
    assert values(program.run([other.upload(vector(1, 2, 3))])) == [[-1, -2, -3]]


def test_a_poisoned_input_raises_its_error_before_anything_runs(bytes_device, graph_of, vector):
    device, session = bytes_device(features=["async"])
    session.failing["exp"] = DeviceFault("exp failed")
    (bad,) = run_program_on(graph_of(lambda b, x: b.exp(x), device.name), vector(1, 2, 3))
    with pytest.raises(DeviceFault):
        bad.wait()
    launches = device.launches
    with pytest.raises(DeviceFault, match="exp failed"):
        run_program_on(graph_of(lambda b, x: b.neg(x), device.name), bad)
    assert device.launches == launches


# -- memory ---------------------------------------------------------------------------------------


def test_an_allocation_that_does_not_fit_can_be_tried_again(bytes_device, graph_of, vector):
    device, _ = bytes_device()
    graph = graph_of(lambda b, x: b.broadcast(x, shape=(1000, 3)), device.name)
    program = program_for(graph)
    device.pool.limit = 1000
    with pytest.raises(OutOfMemory, match=r"requested 11\.7 KiB"):
        program.run([vector(1, 2, 3)])
    device.pool.limit = None
    assert program.run([vector(1, 2, 3)])[0].numpy().shape == (1000, 3)


def test_temporaries_that_do_not_fit_are_tried_once_more_after_a_trim(
    bytes_device, graph_of, vector
):
    device, session = bytes_device()
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    device.pool.acquire(4096)
    session.failing["neg"] = MemoryError()
    trims = []
    trim = device.pool.trim

    class Once:
        def __init__(self):
            self.first = True

    state = Once()

    def counted():
        trims.append(trim())
        if state.first:
            state.first = False
            session.failing.clear()
        return trims[-1]

    session_pool = device.pool
    session_pool.trim = counted
    assert values(program.run([vector(1, 2, 3)])) == [[-1, -2, -3]]
    assert trims == [4096]
    state.first = False
    session.failing["neg"] = MemoryError()
    with pytest.raises(OutOfMemory, match="out of memory on bytes:0"):
        program.run([vector(1, 2, 3)])


def test_twenty_thousand_runs_leave_objects_and_bytes_flat(tiny_device, graph_of, vector):
    program = program_for(graph_of(lambda b, x, y: b.add(x, b.mul(x, y)), tiny_device.name, 2))
    x = tiny_device.upload(vector(1, 2, 3))
    scalar = vector(1, 1, 1)

    def run(times):
        for _ in range(times):
            program.run([x, scalar])

    run(100)
    gc.collect()
    before = (sys.getallocatedblocks(), memory_stats("tiny:0")["tiny:0"].live)
    run(20_000)
    gc.collect()
    after = (sys.getallocatedblocks(), memory_stats("tiny:0")["tiny:0"].live)
    assert abs(after[0] - before[0]) < 200
    assert after[1] == before[1]


def test_a_cached_program_holds_nothing_of_the_graph_it_was_compiled_from(
    bytes_device, graph_of, vector
):
    device, _ = bytes_device()
    storage = device.upload(vector(1, 2, 3))
    graph = graph_of(lambda b, x: b.neg(x), device.name)
    graph.inputs[0].payload = storage
    (output,) = run_graph(graph)
    graph.nodes[-1].payload = output
    del graph, storage, output
    gc.collect()
    assert device.pool.stats().blocks == 0


# -- donation -------------------------------------------------------------------------------------


def store(b, x, v):
    return b.update_slice(x, v, start=(0,), stop=(1,), step=(1,))


def store_graph(device):
    b = Builder("store")
    x = b.input(tensor_type(float32, (3,), device))
    v = b.input(tensor_type(float32, (1,), device))
    return b.finish(store(b, store(b, x, v), v))


def test_a_store_into_a_donated_input_reuses_its_buffer(bytes_device, vector):
    device, session = bytes_device(features=["donation"])
    program = program_for(store_graph(device.name))
    x = device.upload(vector(1, 2, 3))
    handle = x.handle
    (output,) = program.run([x, vector(9)], donated=frozenset({0}))
    assert output.handle is handle
    assert output.numpy().tolist() == [9, 2, 3]
    assert session.donations == [frozenset({0})]
    with pytest.raises(RealizationError, match="donated"):
        x.numpy()


def test_nothing_is_overwritten_without_donation(bytes_device, vector):
    device, session = bytes_device(features=["donation"])
    x = device.upload(vector(1, 2, 3))
    (output,) = program_for(store_graph(device.name)).run([x, vector(9)])
    assert x.numpy().tolist() == [1, 2, 3]
    assert output.numpy().tolist() == [9, 2, 3]
    assert session.donations == [frozenset()]


def test_a_session_without_donation_gets_a_new_buffer_and_the_input_is_given_up(
    bytes_device, vector
):
    device, session = bytes_device()
    x = device.upload(vector(1, 2, 3))
    (output,) = program_for(store_graph(device.name)).run([x, vector(9)], donated=frozenset({0}))
    assert output.numpy().tolist() == [9, 2, 3]
    assert session.donations == [frozenset()]
    with pytest.raises(RealizationError, match="donated"):
        x.numpy()


def test_an_input_passed_twice_is_not_overwritten(bytes_device):
    device, session = bytes_device(features=["donation"])
    b = Builder("store")
    type = tensor_type(float32, (1,), device.name)
    x, v = b.input(type), b.input(type)
    program = program_for(b.finish(store(b, x, b.add(v, v))))
    both = device.upload(np.array([2.0], np.float32))
    (output,) = program.run([both, both], donated=frozenset({0}))
    assert output.numpy().tolist() == [4]
    assert session.donations == [frozenset()]


def test_a_donated_input_stays_donated_when_the_launch_fails(bytes_device, vector):
    device, session = bytes_device(features=["donation"])
    session.failing["update_slice"] = ValueError("no")
    x = device.upload(vector(1, 2, 3))
    with pytest.raises(ExecutionError):
        program_for(store_graph(device.name)).run([x, vector(9)], donated=frozenset({0}))
    with pytest.raises(RealizationError, match="donated"):
        x.numpy()


# -- several devices, fallback, generators --------------------------------------------------------


def test_a_graph_with_transfers_runs_on_both_devices(bytes_device, graph_of, vector):
    first, first_session = bytes_device()
    second, second_session = bytes_device(name="others")

    def body(b, x):
        there = b.transfer(b.neg(x), device=second.name)
        back = b.transfer(b.exp(there), device=first.name)
        return b.add(back, x), there

    outputs = run_program_on(graph_of(body, first.name), vector(0, 0, 0))
    assert values(outputs) == [[1, 1, 1], [0, 0, 0]]
    assert [storage.device.name for storage in outputs] == ["bytes:0", "others:0"]
    assert [len(g.nodes) for g in first_session.compiled] == [1, 1]
    assert [len(g.nodes) for g in second_session.compiled] == [1]
    assert (first.launches, second.launches) == (2, 1)


def test_a_session_never_sees_a_transfer(bytes_device, graph_of, vector):
    device, session = bytes_device()
    graph = graph_of(lambda b, x: b.neg(b.transfer(b.exp(x), device=device.name)), device.name)
    assert values(run_program_on(graph, vector(0, 0, 0))) == [[-1, -1, -1]]
    assert all(node.op.name != "transfer" for g in session.compiled for node in g.nodes)


def test_an_op_that_the_device_lacks_runs_on_the_reference_device(
    bytes_device, graph_of, vector, allow_fallback
):
    device, session = bytes_device(lacks=["exp"])
    graph = graph_of(lambda b, x: b.neg(b.exp(b.neg(x))), device.name)
    program = program_for(graph)
    assert values(program.run([vector(0, 0, 0)])) == [[-1, -1, -1]]
    (fallback,) = program.fallbacks
    assert (fallback.op, fallback.device, fallback.ordinal) == ("exp", device, 1)
    assert fallback.reason == "it does not have exp"
    assert dict(device.fallbacks) == {"exp": 1}
    assert [node.op.name for g in session.compiled for node in g.nodes] == ["neg", "neg"]


def test_a_refused_node_falls_back_with_its_reason(bytes_device, graph_of, vector, allow_fallback):
    device, session = bytes_device()
    session.refused["exp"] = "not on Sundays"
    program = program_for(graph_of(lambda b, x: b.exp(x), device.name))
    assert [f.reason for f in program.fallbacks] == ["not on Sundays"]
    assert values(program.run([vector(0, 0, 0)])) == [[1, 1, 1]]


def test_constants_and_generators_are_provided_without_counting_as_fallback(tiny_device, vector):
    b = Builder("made")
    name = tiny_device.name
    type = tensor_type(float32, (3,), name)
    x = b.input(type)
    state = b.input(tensor_type(uint32, (4,), name))
    three = b.constant(np.array([3, 3, 3]), dtype=type)
    count = b.iota(shape=(3,), axis=0, dtype=float32, device=name)
    bits = b.philox_bits(state, shape=(2,), dtype=uint32, device=name)
    graph = b.finish(b.add(x, b.mul(three, count)), bits, three)
    set_fallback_policy("error")
    try:
        program = program_for(graph)
        first = program.run([vector(1, 1, 1), np.arange(4, dtype=np.uint32)])
        second = program.run([vector(2, 2, 2), np.arange(4, dtype=np.uint32)])
    finally:
        set_fallback_policy(None)
    assert first[0].numpy().tolist() == [1, 4, 7]
    assert second[0].numpy().tolist() == [2, 5, 8]
    assert first[1].numpy().tolist() == second[1].numpy().tolist()
    assert first[1].device is tiny_device
    assert first[2].numpy().tolist() == [3, 3, 3]
    assert program.fallbacks == ()


def test_a_barrier_that_nobody_would_cross_costs_nothing(tiny_device, graph_of, vector):
    set_fallback_policy("error")
    try:
        program = program_for(graph_of(lambda b, x: b.neg(b.barrier(b.neg(x))), "tiny:0"))
    finally:
        set_fallback_policy(None)
    assert values(program.run([vector(1, 2, 3)])) == [[1, 2, 3]]
    assert [kernel.name for kernel in program.kernels] == ["neg", "neg"]


def test_a_composite_is_expanded_unless_it_is_claimed(bytes_device, graph_of, vector):
    device, session = bytes_device()
    run_program_on(graph_of(lambda b, x: b.relu(x), device.name), vector(-1, 0, 1))
    assert "relu" not in {node.op.name for node in session.compiled[0].nodes}
    device.programs.clear()
    claimed = {"relu": get_op("relu").dtypes}
    session.capabilities = type(session.capabilities)(
        storage=session.capabilities.storage, ops=session.capabilities.ops, composites=claimed
    )
    run_program_on(graph_of(lambda b, x: b.relu(x), device.name), vector(-1, 0, 1))
    assert [node.op.name for node in session.compiled[1].nodes] == ["relu"]


def test_a_backend_that_fails_to_compile_is_blamed(bytes_device, graph_of):
    device, session = bytes_device()
    session.compile = lambda graph, options: 1 / 0
    with pytest.raises(CompilationError) as caught:
        compile_program(graph_of(lambda b, x: b.neg(x), device.name), device)
    assert str(caught.value) == (
        "bytes:0 failed to compile 'test': ZeroDivisionError: division by zero\n"
        "  where: 1 op(s)\n"
        "  fix: this is a fault of the backend; report it with the graph's text"
    )


def test_a_refusal_to_compile_passes_unchanged(bytes_device, graph_of):
    device, session = bytes_device()
    refusal = UnsupportedOp("not this one")

    def refuse(graph, options):
        raise refusal

    session.compile = refuse
    with pytest.raises(UnsupportedOp) as caught:
        compile_program(graph_of(lambda b, x: b.neg(x), device.name), device)
    assert caught.value is refusal


def test_a_symbolic_extent_is_refused(bytes_device):
    device, _ = bytes_device()
    b = Builder("symbolic")
    x = b.input(TensorType("float32", ("batch",), device.name))
    with pytest.raises(ShapeError, match="symbolic"):
        compile_program(b.finish(b.neg(x)), device)


def test_threads_that_miss_the_same_program_compile_it_once(bytes_device, graph_of, vector):
    device, session = bytes_device()
    barrier = threading.Barrier(8)
    found = []

    def work():
        graph = graph_of(lambda b, x: b.neg(b.exp(x)), device.name)
        barrier.wait()
        program = program_for(graph)
        found.append((program, values(program.run([vector(0, 0, 0)]))))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(program) for program, _ in found}) == 1
    assert all(result == [[-1, -1, -1]] for _, result in found)
    assert len(session.compiled) == 1


def test_an_executable_that_is_not_reentrant_runs_in_one_thread_at_a_time(
    bytes_device, graph_of, vector
):
    device, session = bytes_device()
    compiled = session.compile
    inside = []
    overlaps = []

    def compile_guarded(graph, options):
        executable = compiled(graph, options)
        executable.reentrant = False
        run = executable.run

        def watched(*args, **kwargs):
            overlaps.append(bool(inside))
            inside.append(1)
            threading.Event().wait(0.005)
            run(*args, **kwargs)
            inside.pop()

        executable.run = watched
        return executable

    session.compile = compile_guarded
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    threads = [threading.Thread(target=lambda: program.run([vector(1, 2, 3)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [False] * 4


def test_numerics_take_part_in_the_key(bytes_device, graph_of):
    device, _ = bytes_device()
    graph = graph_of(lambda b, x: b.neg(x), device.name)
    exact, fast = program_for(graph), program_for(graph, Options(numerics="fast"))
    assert exact is not fast
    assert program_for(graph) is exact


def test_a_fatal_fault_loses_the_device_and_opening_it_again_helps(bytes_device, graph_of, vector):
    device, session = bytes_device()
    session.failing["exp"] = DeviceFault("the driver is gone", fatal=True, kind="lost")
    program = program_for(graph_of(lambda b, x: b.exp(x), device.name))
    with pytest.raises(DeviceFault):
        program.run([vector(0, 0, 0)])
    session.failing.clear()
    with pytest.raises(DeviceFault, match="driver is gone"):
        program.run([vector(0, 0, 0)])
    fresh = open_device("bytes:0")
    assert fresh is not device
    again = program_for(graph_of(lambda b, x: b.exp(x), device.name))
    assert values(again.run([vector(0, 0, 0)])) == [[1, 1, 1]]


# -- direct calls ---------------------------------------------------------------------------------


def with_direct(session):
    compiled = session.compile

    def compile_direct(graph, options):
        executable = compiled(graph, options)

        def direct(*handles):
            made = [type(handles[0])(t.nbytes) for t in (v.type for v in graph.outputs)]
            executable.compute(handles, made)
            return made[0] if len(made) == 1 else tuple(made)

        executable.direct = direct
        return executable

    session.compile = compile_direct


def test_a_small_result_is_made_by_the_executable_itself(bytes_device, graph_of, vector):
    device, session = bytes_device()
    with_direct(session)
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    assert program.direct is not None
    given = device.upload(vector(1, 2, 3))
    blocks = device.pool.stats().blocks
    (output,) = program.run([given])
    assert output.numpy().tolist() == [-1, -2, -3]
    assert output.block is None
    assert device.pool.stats().blocks == blocks
    assert device.launches == 1


def test_a_large_result_comes_from_the_pool(bytes_device, graph_of):
    device, session = bytes_device()
    with_direct(session)
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name, shape=(1 << 15,)))
    assert program.direct is None
    (output,) = program.run([np.ones(1 << 15, np.float32)])
    assert output.block is not None


def test_several_small_results_are_made_directly_too(bytes_device, graph_of, vector):
    device, session = bytes_device()
    with_direct(session)
    program = program_for(graph_of(lambda b, x: (b.neg(x), b.exp(x)), device.name))
    outputs = program.run([device.upload(vector(0, 0, 0))])
    assert values(outputs) == [[0, 0, 0], [1, 1, 1]]
    assert [output.block for output in outputs] == [None, None]


def test_a_direct_call_that_fails_is_an_execution_error_with_its_line(
    bytes_device, graph_of, vector
):
    device, session = bytes_device()
    with_direct(session)
    session.failing["exp"] = ValueError("no")
    graph = at(graph_of(lambda b, x: b.exp(x), device.name), "model.py")
    with pytest.raises(ExecutionError, match="ValueError: no") as caught:
        program_for(graph).run([device.upload(vector(1, 2, 3))], places=Places(graph.nodes))
    assert caught.value.where.endswith("at model.py:1")


def test_arrays_are_adopted_where_the_session_can(tiny_device, graph_of, vector):
    program = program_for(graph_of(lambda b, x, y: b.add(x, y), tiny_device.name, 2))
    before = tiny_device.pool.stats().allocations
    program.run([vector(1, 2, 3), vector(1, 2, 3)])
    assert tiny_device.pool.stats().allocations == before + 1


def test_members_are_ops_of_the_calling_graph(tiny_device, graph_of):
    graph = graph_of(lambda b, x, y: b.add(b.mul(x, y), b.neg(y)), tiny_device.name, 2)
    members = program_for(graph).members()
    names = [[graph.nodes[n].op.name for n in ordinals] for _, _, ordinals in members]
    assert names == [["mul"], ["neg"], ["add"]]
    assert {device for device, _, _ in members} == {"tiny:0"}


def test_a_long_chain_runs_in_linear_time_at_the_default_recursion_limit(tiny_device, vector):
    length = 20_000
    b = Builder("chain")
    x = b.input(tensor_type(float32, (3,), "tiny:0"))
    value: Node | object = x
    for _ in range(length):
        value = b.add(value, x)
    graph = b.finish(value)
    assert values(run_program_on(graph, vector(1, 2, 3))) == [
        [length + 1, 2 * (length + 1), 3 * (length + 1)]
    ]


def test_an_array_that_is_written_to_later_changes_no_result(tiny_device, bytes_device, graph_of):
    def same(b, x):
        return x, b.reshape(x, shape=(3, 1))

    set_fallback_policy("allow")
    try:
        for device in (tiny_device, bytes_device()[0], open_device("reference:0")):
            array = np.zeros(3, np.float32)
            outputs = run_program_on(graph_of(same, device.name), array)
            array[:] = 1
            assert [output.numpy().sum() for output in outputs] == [0, 0]
    finally:
        set_fallback_policy(None)


def test_a_direct_call_copies_the_array_that_its_result_may_view(bytes_device, graph_of):
    device, session = bytes_device()

    def adopt(array):
        handle = session.allocate(0)
        handle.data = array.reshape(-1).view(np.uint8)
        return handle

    session.adopt = adopt
    compiled = session.compile

    def compile_direct(graph, options):
        executable = compiled(graph, options)
        executable.direct = lambda handle: handle
        return executable

    session.compile = compile_direct
    program = program_for(graph_of(lambda b, x: b.reshape(x, shape=(3, 1)), device.name))
    array = np.zeros(3, np.float32)
    (output,) = program.run([array])
    array[:] = 1
    assert output.numpy().sum() == 0


def test_a_direct_call_on_a_lost_device_raises(bytes_device, graph_of, vector):
    device, session = bytes_device()
    with_direct(session)
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    given = device.upload(vector(1, 2, 3))
    device.lost = DeviceFault("the driver is gone", fatal=True)
    with pytest.raises(DeviceFault, match="driver is gone"):
        program.run([given])
    assert device.launches == 0


def test_results_of_a_step_go_when_the_last_step_has_read_them(bytes_device, graph_of):
    first, _ = bytes_device()
    second, _ = bytes_device(name="others")

    def there_and_back(b, x):
        for _ in range(10):
            x = b.transfer(b.neg(b.transfer(b.neg(x), device=second.name)), device=first.name)
        return x

    program = program_for(graph_of(there_and_back, first.name, shape=(1 << 18,)))
    given = first.upload(np.ones(1 << 18, np.float32))
    first.pool.reset_peak()
    program.run([given])
    assert first.pool.stats().peak <= 3 * given.nbytes
    assert second.pool.stats().peak <= 2 * given.nbytes
