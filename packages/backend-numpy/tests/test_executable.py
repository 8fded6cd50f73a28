"""Executables: donation, outputs that are inputs or constants, temporaries, threads, no leaks."""

import gc
import threading
import weakref

import numpy as np
import pytest
from realta.graph import Builder
from realta.passes import normalize
from realta.types import float32, int32, int64, tensor_type

N = 300_000


def _update(shape=(N,)):
    builder = Builder()
    x, v = builder.input(tensor_type(float32, shape)), builder.input(tensor_type(float32, (3,)))
    node = builder.update_slice(x, v, start=(5,), stop=(8,), step=(1,))
    return builder.finish(node)


def _donate(runner, graph, arrays, number=0, output=0):
    """The results with one output written over one input."""
    executable = runner.compile(graph)
    handles = [runner.upload(a) for a in arrays]
    outputs = [runner.session.allocate(v.type.nbytes) for v in graph.outputs]
    outputs[output] = handles[number]
    executable.run(handles, outputs, donated=frozenset({number}))
    return [runner.array(h, v.type) for h, v in zip(outputs, graph.outputs, strict=True)]


def test_a_donated_update_copies_nothing(runner):
    graph = _update()
    executable = runner.compile(graph)
    x, v = np.zeros(N, np.float32), np.array([1, 2, 3], np.float32)
    handles = [runner.upload(x), runner.upload(v)]
    # Bytes that are no numbers of the tensor would be lost by a copy of the tensor's elements.
    executable.run(handles, [handles[0]], donated=frozenset({0}))
    assert runner.array(handles[0], graph.inputs[0].type)[4:9].tolist() == [0, 1, 2, 3, 0]
    (step,) = executable._steps
    assert step.call.in_place(0, 0) is step.call
    assert step.call.in_place(1, 0) is None


@pytest.mark.parametrize("reduce", ["set", "add", "max"])
def test_a_donated_scatter(reduce, runner):
    builder = Builder()
    x, v = builder.input(tensor_type(float32, (4,))), builder.input(tensor_type(float32, (3,)))
    i = builder.input(tensor_type(int64, (3,)))
    graph = builder.finish(builder.scatter(x, i, v, axis=0, reduce=reduce, mode="clip"))
    arrays = [np.ones(4, np.float32), np.array([5, 6, 7], np.float32), np.array([0, 0, 3])]
    expected = runner.run(graph, arrays)
    assert np.array_equal(_donate(runner, graph, arrays)[0], expected[0])


ALIASED = {
    "chain": lambda b, x, y: (b.sub(b.mul(x, y), b.exp(x)),),
    "read again by a second output": lambda b, x, y: (b.mul(x, y), b.add(x, y)),
    "functions that need their operand": lambda b, x, y: (b.erf(b.maximum(x, y)),),
    "rows": lambda b, x, y: (b.softmax(b.add(x, y), axis=1),),
    "transposed": lambda b, x, y: (b.add(b.permute(x, axes=(1, 0)), y),),
    "twice": lambda b, x, y: (b.add(b.permute(x, axes=(1, 0)), x),),
    "stored between": lambda b, x, y: (b.add(b.cumsum(x, axis=0), x),),
    "pass on": lambda b, x, y: (b.neg(x), x),
}


@pytest.mark.parametrize("output", [0, 1])
@pytest.mark.parametrize("name", ALIASED)
def test_any_output_may_be_written_over_a_donated_input(name, output, runner, values, equal_bits):
    builder = Builder()
    x, y = (builder.input(tensor_type(float32, (400, 400))) for _ in range(2))
    results = ALIASED[name](builder, x, y)
    if output >= len(results):
        pytest.skip("it has one result")
    graph = builder.finish(*results)
    graph = normalize(graph, keeps=runner.keeps)
    arrays = [values((400, 400), float32, "small") for _ in range(2)]
    expected = runner.run(graph, arrays)
    for number in (0, 1):
        found = _donate(runner, graph, arrays, number, output)
        for one, other in zip(found, expected, strict=True):
            assert equal_bits(one, other)


def test_a_donated_chain_runs_in_place(runner):
    builder = Builder()
    x, y = (builder.input(tensor_type(float32, (N,))) for _ in range(2))
    graph = builder.finish(builder.sub(builder.mul(x, y), builder.exp(x)))
    call = runner.compile(graph)._steps[0].call
    assert call.in_place(0, 0) is not None
    assert call.in_place(1, 0) is not None


def test_outputs_may_be_inputs_constants_and_each_other(runner):
    builder = Builder()
    x = builder.input(tensor_type(int32, (3,)))
    constant = builder.constant(np.array([7, 8, 9]), dtype=x.type)
    single = builder.constant(np.array(5), dtype=tensor_type(int32, ()))
    doubled = builder.add(x, x)
    graph = builder.finish(x, constant, doubled, doubled, single, x)
    found = [a.tolist() for a in runner.run(graph, [np.array([1, 2, 3], np.int32)])]
    assert found == [[1, 2, 3], [7, 8, 9], [2, 4, 6], [2, 4, 6], 5, [1, 2, 3]]


def _several_kernels():
    builder = Builder()
    x = builder.input(tensor_type(float32, (1000, 100)))
    value = x
    for _ in range(4):
        value = builder.sort(builder.exp(builder.neg(value)), axis=1, descending=False)
    return builder.finish(value)


def test_temporaries_end_with_their_last_reader(runner):
    executable = runner.compile(_several_kernels())
    assert len(executable.kernels) == 8
    # A chain never needs more than the one that is read and the one that is written.
    assert executable.temporary_bytes == 2 * 1000 * 100 * 4


def test_temporaries_are_used_again(runner):
    graph = _several_kernels()
    executable = runner.compile(graph)
    arrays = [np.random.default_rng(0).standard_normal((1000, 100)).astype(np.float32)]
    runner.run(graph, arrays, executable)
    kept = runner.session._temporaries.kept
    assert kept > 0
    for _ in range(5):
        runner.run(graph, arrays, executable)
    assert runner.session._temporaries.kept == kept
    runner.session.close()
    assert runner.session._temporaries.kept == 0


def test_several_threads_run_one_executable(runner):
    graph = _several_kernels()
    executable = runner.compile(graph)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((1000, 100)).astype(np.float32) for _ in range(4)]
    expected = [runner.run(graph, [x], executable)[0] for x in inputs]
    wrong = []

    def work(number):
        for _ in range(5):
            found = runner.run(graph, [inputs[number]], executable)[0]
            if not np.array_equal(found, expected[number]):
                wrong.append(number)

    running = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not wrong


def test_a_run_holds_on_to_nothing(runner):
    graph = _update()
    executable = runner.compile(graph)
    handles = [runner.upload(np.zeros(N, np.float32)), runner.upload(np.zeros(3, np.float32))]
    output = runner.session.allocate(graph.outputs[0].type.nbytes)
    executable.run(handles, [output])
    gone = [weakref.ref(a) for a in (*handles, output)]
    del handles, output
    gc.collect()
    assert [r() for r in gone] == [None] * 3


def test_an_executable_goes_with_its_last_reference(runner):
    executable = runner.compile(_several_kernels())
    gone = weakref.ref(executable)
    executable.close()
    del executable
    gc.collect()
    assert gone() is None


def test_reports_name_members_bytes_and_source(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (1 << 20,)))
    graph = builder.finish(builder.exp(builder.mul(x, x)))
    (kernel,) = runner.compile(graph).kernels
    assert kernel.name == "mul_exp"
    assert kernel.nodes == (0, 1)
    assert (kernel.bytes_read, kernel.bytes_written) == (4 << 20, 4 << 20)
    assert not kernel.host
    assert kernel.source == (
        "def kernel(h0, o0):  # mul_exp\n"
        "    v0 = ndarray((1048576,), float32, h0, 0, (4,))\n"
        "    w0 = ndarray((1048576,), float32, o0, 0, (4,))\n"
        "    def tiles(first, last):\n"
        "        size = -1\n"
        "        for k in range(first, last):\n"
        "            i0 = k * 131072\n"
        "            j0 = min(i0 + 131072, 1048576)\n"
        "            if j0 - i0 != size:\n"
        "                size = j0 - i0\n"
        "            a0 = v0[i0:j0]\n"
        "            b0 = w0[i0:j0]\n"
        "            mul_(a0, a0, b0)\n"
        "            exp_(b0, b0)\n"
        "    share_tiles(tiles, 8, True)\n"
    )


def test_long_chains_compile_and_run(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (5,)))
    value = x
    for _ in range(5000):
        value = builder.add(value, x)
    graph = builder.finish(value)
    executable = runner.compile(graph)
    found = runner.run(graph, [np.ones(5, np.float32)], executable)[0]
    assert found.tolist() == [5001.0] * 5
    assert len(executable.kernels) < 50


def test_reshapes_around_an_op_copy_nothing(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (4, 5)))
    i = builder.input(tensor_type(int64, (3,)))
    row = builder.reshape(x, shape=(20,))
    taken = builder.gather(row, i, axis=0)
    places = builder.reshape(builder.gather(i, i, axis=0), shape=(3, 1))
    graph = builder.finish(builder.reshape(taken, shape=(1, 3)), places, row)
    executable = runner.compile(graph)
    # The two gathers, and the copy of an input that is an output under another shape.
    assert sorted(kernel.name for kernel in executable.kernels) == ["gather", "gather", "reshape"]
    values, index = np.arange(20, dtype=np.float32).reshape(4, 5), np.array([2, 0, 1])
    found = runner.run(graph, [values, index], executable)
    assert [f.tolist() for f in found] == [[[2.0, 0.0, 1.0]], [[1], [2], [0]], list(range(20))]
