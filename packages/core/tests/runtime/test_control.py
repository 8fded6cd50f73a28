"""Control flow and effects by core's executor, and by sessions that take control flow whole."""

import numpy as np
import pytest
from realta.errors import DeviceFault, ExecutionError
from realta.graph import Builder, Location
from realta.runtime import Places, profile, program_for
from realta.types import bool_, float32, int32, tensor_type

X = np.array([1, 2, 3], np.float32)


def branch(device, body, name="branch", shape=(3,)):
    b = Builder(name)
    x = b.input(tensor_type(float32, shape, device), "x")
    return b.finish(body(b, x))


def chosen(device, then, otherwise, before=None, after=None, shape=(3,)):
    b = Builder("chosen")
    p = b.input(tensor_type(bool_, (), device), "p")
    x = b.input(tensor_type(float32, shape, device), "x")
    value = before(b, x) if before else x
    graphs = {
        "then": branch(device, then, "then", shape),
        "otherwise": branch(device, otherwise, "otherwise", shape),
    }
    found = b.cond(p, value, **graphs)
    return b.finish(after(b, found, value) if after else found)


def looped(device, step, count=4, shape=(3,)):
    """``x`` after ``step(b, i, x)`` for i below ``count``."""
    i_type, x_type = tensor_type(int32, (), device), tensor_type(float32, shape, device)

    def graph(name, body):
        b = Builder(name)
        return b.finish(*body(b, b.input(i_type, "i"), b.input(x_type, "x")))

    def test(b, i, x):
        return (b.less(i, b.constant(np.int32(count), i_type)),)

    def body(b, i, x):
        return b.add(i, b.constant(np.int32(1), i_type)), step(b, i, x)

    b = Builder("looped")
    i, x = b.input(i_type, "i"), b.input(x_type, "x")
    found = b.while_loop(i, x, predicate=graph("test", test), body=graph("body", body), carried=2)
    return b.finish(*found)


def run(graph, *arrays):
    places = Places(graph.nodes)
    found = program_for(graph).run([np.asarray(a) for a in arrays], places=places)
    return [x.copy_to_host() for x in found]


def test_a_session_without_control_flow_gets_the_graphs_inside(bytes_device):
    device, session = bytes_device()
    graph = chosen(device.name, lambda b, x: b.neg(x), lambda b, x: b.sqrt(x))
    np.testing.assert_array_equal(run(graph, True, X)[0], -X)
    np.testing.assert_array_equal(run(graph, False, X)[0], np.sqrt(X))
    assert [g.name for g in session.compiled] == ["then", "otherwise"]
    assert device.launches == 2


def test_a_session_with_control_flow_gets_it_whole_and_in_normal_form(bytes_device):
    device, session = bytes_device(features=("control_flow",))
    graph = chosen(device.name, lambda b, x: b.softmax(x, axis=0), lambda b, x: b.neg(x))
    expected = run(branch(device.name, lambda b, x: b.softmax(x, axis=0)), X)[0]
    session.compiled.clear()
    np.testing.assert_array_equal(run(graph, True, X)[0], expected)
    (compiled,) = session.compiled
    assert [node.op.name for node in compiled.nodes] == ["cond"]
    inner = compiled.nodes[0].attrs["then"].nodes
    assert all(node.op.primitive for node in inner)
    assert run(looped(device.name, lambda b, i, x: b.add(x, x)), np.int32(0), X)[1].tolist() == [
        16,
        32,
        48,
    ]
    assert [node.op.name for node in session.compiled[-1].nodes] == ["while_loop"]


@pytest.mark.parametrize(
    "body",
    [
        lambda b, x: b.print(x) and x,
        lambda b, x: b.check_bounds(b.cast(x, dtype=int32), extent=9, axis=0) and x,
        lambda b, x: b.transfer(b.transfer(x, device="reference:0"), device=x.type.device),
    ],
    ids=["effect", "check", "transfer"],
)
def test_core_runs_control_flow_around_what_only_it_can_do(bytes_device, body, capsys):
    device, session = bytes_device(features=("control_flow",))
    graph = chosen(device.name, body, lambda b, x: b.neg(x))
    np.testing.assert_array_equal(run(graph, True, X)[0], X)
    assert not any(n.op.name == "cond" for g in session.compiled for n in g.nodes)


def test_control_flow_that_a_session_refuses_is_cores(bytes_device):
    device, session = bytes_device(features=("control_flow",))
    session.refused["cond"] = "only on Sundays"
    graph = chosen(device.name, lambda b, x: b.neg(x), lambda b, x: x)
    np.testing.assert_array_equal(run(graph, True, X)[0], -X)
    del session.refused["cond"]
    session.refused["neg"] = "not inside"
    other = chosen(device.name, lambda b, x: b.neg(b.sqrt(x)), lambda b, x: x)
    with pytest.warns(UserWarning, match="neg runs on reference:0"):
        np.testing.assert_array_equal(run(other, True, X)[0], -np.sqrt(X))


def test_work_around_it_runs_before_and_behind(bytes_device):
    device, session = bytes_device()
    graph = chosen(
        device.name,
        lambda b, x: b.add(x, x),
        lambda b, x: x,
        before=lambda b, x: b.neg(x),
        after=lambda b, found, value: b.mul(found, value),
    )
    np.testing.assert_array_equal(run(graph, True, X)[0], 2 * X * X)
    np.testing.assert_array_equal(run(graph, False, X)[0], X * X)
    assert [len(g.nodes) for g in session.compiled] == [1, 1, 1]


def test_it_moves_values_to_where_the_branch_wants_them(bytes_device):
    first, second = bytes_device()[0], bytes_device(name="others")[0]

    def there(b, x):
        return b.transfer(b.neg(b.transfer(x, device=second.name)), device=first.name)

    graph = chosen(first.name, there, lambda b, x: x)
    np.testing.assert_array_equal(run(graph, True, X)[0], -X)
    assert (first.launches, second.launches) == (0, 1)


def test_what_a_step_stores_into_is_donated_to_the_next(bytes_device):
    device, session = bytes_device(features=("donation",))
    size = 4096

    def step(b, i, x):
        row = b.broadcast(b.cast(b.reshape(i, shape=(1,)), dtype=float32), shape=(1,))
        return b.update_slice(x, row, start=(7,), stop=(8,), step=(1,))

    x = np.zeros(size, np.float32)
    found = run(looped(device.name, step, shape=(size,)), np.int32(0), x)[1]
    assert found[7] == 3
    steps = [d for d in session.donations if d]
    assert len(steps) == 3  # the first step must keep what it was given
    assert not x.any()


def test_a_captured_value_is_never_donated(bytes_device):
    device, _ = bytes_device(features=("donation",))
    size = 4096
    i_type = tensor_type(int32, (), device.name)
    x_type = tensor_type(float32, (size,), device.name)

    def graph(name, body):
        b = Builder(name)
        inputs = [b.input(i_type), b.input(x_type), b.input(x_type)]
        return b.finish(*body(b, *inputs))

    def body(b, i, x, k):
        one = b.constant(np.ones(1), tensor_type(float32, (1,), device.name))
        stored = b.update_slice(k, one, start=(0,), stop=(1,), step=(1,))
        return b.add(i, b.constant(np.int32(1), i_type)), b.add(x, stored)

    def test(b, i, x, k):
        return (b.less(i, b.constant(np.int32(3), i_type)),)

    b = Builder("captured")
    i, k = b.input(i_type), b.input(x_type)
    found = b.while_loop(
        i, k, k, predicate=graph("test", test), body=graph("body", body), carried=2
    )
    whole = b.finish(found[1], k)
    result, kept = run(whole, np.int32(0), np.zeros(size, np.float32))
    assert (result[:2].tolist(), kept.any()) == ([3, 0], False)


@pytest.mark.parametrize("features", [(), ("async",)])
def test_a_fault_inside_names_the_op_of_the_calling_graph(bytes_device, features):
    device, session = bytes_device(features=features)
    session.failing["sqrt"] = DeviceFault("the device is on fire")

    def then(b, x):
        b.where = Location(None, 0, "model.py:7")
        return b.sqrt(x)

    graph = chosen(device.name, then, lambda b, x: x)
    with pytest.raises(ExecutionError, match=r"sqrt\(f32\[3\]@bytes:0\) at model\.py:7"):
        run(graph, True, X)
    np.testing.assert_array_equal(run(graph, False, X)[0], X)


def test_programs_of_the_same_structure_name_their_own_lines(bytes_device):
    device, session = bytes_device()

    def located(line):
        def then(b, x):
            b.where = Location(None, 0, f"model.py:{line}")
            return b.sqrt(x)

        return chosen(device.name, then, lambda b, x: x)

    for line in (7, 9):
        session.failing["sqrt"] = DeviceFault("no")
        program = program_for(located(7))
        places = Places(located(line).nodes)
        with pytest.raises(ExecutionError, match=rf"model\.py:{line}"):
            program.run([np.array(True), X], places=places)


def test_kernels_inside_are_reported_and_profiled(bytes_device):
    device, _ = bytes_device()
    graph = chosen(device.name, lambda b, x: b.neg(x), lambda b, x: b.sqrt(x))
    program = program_for(graph)
    assert len(program.kernels) == 2
    assert {ordinals for _, _, ordinals in program.members()} == {(0,)}
    with profile() as profiled:
        run(graph, True, X)
    assert profiled


def test_effects_run_in_order_whatever_the_data_flow(bytes_device, capsys):
    device, _ = bytes_device()
    b = Builder("effects")
    x = b.input(tensor_type(float32, (3,), device.name), "x")
    deep = b.sqrt(b.sqrt(x))
    first = b.print(deep, name="first")
    second = b.print(x, first, name="second")
    b.print(b.neg(x), second, name="third")
    run(b.finish(x), X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["first", "second", "third"]
