import numpy as np
import pytest
from realta.errors import IndexBoundsError
from realta.graph import Builder, Location
from realta.runtime import Places, bounds_error, program_for
from realta.types import float32, int64, tensor_type


def taking(device, *, file="model.py"):
    """Takes elements 0 … 2 of x at indices, and adds one to the result."""
    b = Builder("taking", where=Location(None, 0, f"{file}:12"))
    x = b.input(tensor_type(float32, (3,), device), "x")
    indices = b.input(tensor_type(int64, (2,), device), "i")
    b.check_bounds(indices, extent=3, axis=0)
    return b.finish(b.exp(b.gather(x, indices, axis=0)), b.neg(x))


def run(graph, *indices):
    inputs = [np.zeros(3, np.float32), np.array(indices)]
    return program_for(graph).run(inputs, places=Places(graph.nodes))


TEXT = (
    "index {index} is out of bounds for axis 0 with size 3\n"
    "  where: gather(f32[3]@bytes:0, i64[2]@bytes:0) at model.py:12\n"
    '  fix: use an index from -3 to 2, or choose mode="clip" or "wrap"'
)


@pytest.mark.parametrize("features", [[], ["async"]], ids=["returns done", "returns early"])
@pytest.mark.parametrize("index", [3, -4, 1 << 40, -(1 << 40), 2**62])
def test_an_index_outside_raises_at_the_next_wait_on_any_output(bytes_device, features, index):
    device, _ = bytes_device(features=features)
    outputs = run(taking(device.name), 0, index)
    for output in outputs:
        for _ in range(2):
            with pytest.raises(IndexBoundsError) as caught:
                output.wait()
            assert str(caught.value) == TEXT.format(index=index)


@pytest.mark.parametrize("features", [[], ["async"]], ids=["returns done", "returns early"])
def test_indices_inside_raise_nothing(bytes_device, features):
    device, _ = bytes_device(features=features)
    outputs = run(taking(device.name), -3, 2)
    assert [output.numpy().tolist() for output in outputs] == [[1, 1], [0, 0, 0]]


@pytest.mark.parametrize("features", [[], ["async"]], ids=["returns done", "returns early"])
def test_what_reads_a_poisoned_result_is_poisoned_too(bytes_device, features, graph_of):
    device, _ = bytes_device(features=features)
    graph = taking(device.name)
    taken, _ = run(graph, 0, 7)
    later = graph_of(lambda b, x: b.exp(b.neg(x)), device.name, shape=(2,))

    def use():
        (output,) = program_for(later).run([taken])
        (further,) = program_for(later).run([output])
        return further.numpy()

    with pytest.raises(IndexBoundsError, match="index 7"):
        use()


def test_other_work_is_unaffected(bytes_device, graph_of, vector):
    device, _ = bytes_device(features=["async"])
    run(taking(device.name), 0, 7)
    (output,) = program_for(graph_of(lambda b, x: b.neg(x), device.name)).run([vector(1, 2, 3)])
    assert output.numpy().tolist() == [-1, -2, -3]


def test_the_line_is_that_of_the_calling_graph(bytes_device):
    device, _ = bytes_device(features=["async"])
    first, second = taking(device.name), taking(device.name, file="other.py")
    pending = [run(first, 0, 7)[0], run(second, 0, 8)[0]]
    for output, place in zip(pending, ("model.py:12", "other.py:12"), strict=True):
        with pytest.raises(IndexBoundsError) as caught:
            output.wait()
        assert caught.value.where.endswith(f"at {place}")


def test_launches_in_flight_hold_no_node_of_the_calling_graph(bytes_device):
    device, _ = bytes_device(features=["async"])
    graph = taking(device.name)
    places = Places(graph.nodes)
    inputs = [np.zeros(3, np.float32), np.array([0, 7])]
    outputs = program_for(graph).run(inputs, places=places)
    assert places._nodes is None
    with pytest.raises(IndexBoundsError, match="index 7"):
        outputs[0].wait()


def test_an_empty_axis_is_said_to_be_empty():
    error = bounds_error(0, 0, 1, "gather(f32[2,0], i64[1]) at model.py:3")
    assert str(error) == (
        "index 0 is out of bounds for axis 1 with size 0\n"
        "  where: gather(f32[2,0], i64[1]) at model.py:3\n"
        '  fix: the axis is empty, or choose mode="clip" or "wrap"'
    )
