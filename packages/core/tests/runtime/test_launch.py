import gc

import pytest
from realta.errors import DeviceFault, ExecutionError, IndexBoundsError
from realta.graph import Location
from realta.runtime import Launch, Places, program_for, raise_again


def test_work_that_returns_early_is_done_after_a_wait(bytes_device, graph_of, vector):
    device, session = bytes_device(features=["async"])
    (output,) = program_for(graph_of(lambda b, x: b.neg(x), device.name)).run([vector(1, 2, 3)])
    assert len(session.queue) == 1
    output.wait()
    assert session.queue == []
    assert output.launch is None
    assert output.numpy().tolist() == [-1, -2, -3]


def test_a_fault_found_later_names_the_op_and_its_line_at_every_wait(
    bytes_device, graph_of, vector
):
    device, session = bytes_device(features=["async"])
    session.failing["exp"] = DeviceFault("exp failed", fix="buy another one")
    graph = graph_of(lambda b, x: (b.exp(b.neg(x)), b.neg(x)), device.name)
    for number, node in enumerate(graph.nodes):
        node.where = Location(None, 0, f"model.py:{number + 1}")
    outputs = program_for(graph).run([vector(1, 2, 3)], places=Places(graph.nodes))
    for output in (*outputs, *outputs):
        with pytest.raises(DeviceFault) as caught:
            output.wait()
        assert str(caught.value) == (
            "exp failed\n  where: exp(f32[3]@bytes:0) at model.py:2\n  fix: buy another one"
        )


def test_what_depends_on_a_faulty_launch_fails_and_other_work_does_not(
    bytes_device, graph_of, vector
):
    device, session = bytes_device(features=["async"])
    session.failing["exp"] = DeviceFault("exp failed")
    negated = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    (bad,) = program_for(graph_of(lambda b, x: b.exp(x), device.name)).run([vector(1, 2, 3)])
    (worse,) = negated.run([bad])
    (good,) = negated.run([vector(1, 2, 3)])
    assert good.numpy().tolist() == [-1, -2, -3]
    with pytest.raises(DeviceFault, match="exp failed"):
        worse.numpy()


def test_results_in_flight_can_be_dropped(bytes_device, graph_of, vector):
    device, session = bytes_device(features=["async"])
    program = program_for(graph_of(lambda b, x: b.neg(x), device.name))
    for _ in range(10):
        program.run([vector(1, 2, 3)])
    session.drain()
    gc.collect()
    assert device.pool.stats().blocks == 0


def test_launches_are_settled_ancestors_first_and_without_recursion():
    order = []

    def status(number):
        def read():
            order.append(number)
            return

        return read

    launch = Launch([status(0)])
    for number in range(1, 2000):
        launch = Launch([status(number)], [launch])
    assert launch.settle() is None
    assert order == list(range(2000))
    assert launch.parents == ()


def test_an_error_goes_to_all_descendants_and_no_further():
    error = IndexBoundsError("index 7")
    bad = Launch([lambda: error])
    child = Launch([lambda: None], [bad])
    grandchild = Launch((), [child])
    unrelated = Launch([lambda: None])
    assert grandchild.settle() is error
    assert child.error is error
    assert unrelated.settle() is None


def test_the_first_bad_status_wins_and_statuses_are_read_once():
    reads = []

    def status(name, error=None):
        def read():
            reads.append(name)
            return error

        return read

    error = IndexBoundsError("second")
    launch = Launch([status("a"), status("b", error), status("c")])
    assert launch.settle() is error
    assert launch.settle() is error
    assert reads == ["a", "b"]
    good = Launch([status("d")])
    assert good.settle() is None
    assert good.settle() is None
    assert reads == ["a", "b", "d"]


def test_a_kept_error_is_raised_as_a_copy_with_all_it_carries():
    fault = DeviceFault(
        "lost", where="add", fix="reopen", node=3, kind="lost", detail="d", fatal=True
    )
    copy = raise_again(fault)
    assert copy is not fault
    assert type(copy) is DeviceFault
    assert (copy.node, copy.kind, copy.detail, copy.fatal) == (3, "lost", "d", True)
    assert str(copy) == str(fault)


def test_a_failed_launch_keeps_no_traceback_and_leaves_the_raised_error_its_own():
    with pytest.raises(ExecutionError) as caught:
        raise ExecutionError("broken")
    launch = Launch.failed(caught.value)
    assert caught.value.__traceback__ is not None
    assert launch.error is not None
    assert launch.error.__traceback__ is None
