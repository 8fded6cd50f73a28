"""KernelSession: what dialect, profile, build and launch become: plans, memory, runs, faults."""

import numpy as np
import pytest
from realta.backend import DeviceFault, Options, UnsupportedOp
from realta.backend.interp import InterpSession
from realta.codegen import CPU_PROFILE, GPU_PROFILE
from realta.fusion import Limits
from realta.graph import Builder
from realta.ops import OpKind, define, undefine
from realta.ops.rules import elementwise
from realta.passes import normalize
from realta.runtime import as_bytes, writable_bytes
from realta.types import FLOATS, float16, float32, float64, int32, tensor_type

OPTIONS = Options()


class Counting(InterpSession):
    """Counts what it is asked for; contractions may be the host's work."""

    def __init__(self, profile=CPU_PROFILE, *, host=False, limits=None):
        self.host_memory = host
        super().__init__(profile, limits or Limits())
        self.live = 0
        self.given = []

    def allocate(self, nbytes):
        self.live += 1
        return super().allocate(nbytes)

    def free(self, handle):
        self.live -= 1

    def prepare(self, module, kernel):
        call = super().prepare(module, kernel)

        def counted(*handles):
            self.given.append(kernel.name)
            call(*handles)

        return counted


def run(session, graph, *arrays):
    """What a graph's outputs are for these inputs."""
    executable = session.compile(graph, OPTIONS)
    try:
        return run_executable(session, executable, graph, *arrays)
    finally:
        executable.close()


def run_executable(session, executable, graph, *arrays):
    handles = []
    for array, value in zip(arrays, graph.inputs, strict=True):
        handle = session.allocate(value.type.nbytes)
        session.write(handle, value.type, as_bytes(array))
        handles.append(handle)
    outputs = [session.allocate(value.type.nbytes) for value in graph.outputs]
    executable.run(handles, outputs)
    session.wait()
    found = []
    for handle, value in zip(outputs, graph.outputs, strict=True):
        array = np.empty(value.type.static_shape, value.type.dtype.numpy)
        session.read(handle, value.type, writable_bytes(array))
        session.free(handle)
        found.append(array)
    for handle in handles:
        session.free(handle)
    return found


@pytest.fixture
def session():
    made = Counting()
    yield made
    made.close()


def chain(count):
    """exp(-x), again and again, with what no kernel crosses in between."""
    builder = Builder()
    x = builder.input(tensor_type(float32, (4, 6)), "x")
    value = builder.exp(builder.neg(x))
    for _ in range(count - 1):
        value = builder.exp(builder.neg(builder.barrier(value)))
    return builder.finish(value)


def chained(x, count):
    for _ in range(count):
        x = np.exp(-x)
    return x


def test_a_chain_of_kernels_uses_two_cells_in_turn(session):
    graph = chain(6)
    x = np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6)
    executable = session.compile(graph, OPTIONS)
    assert len(executable.kernels) == 6
    assert executable.temporary_bytes == 2 * x.nbytes
    (found,) = run_executable(session, executable, graph, x)
    assert np.allclose(found, chained(x, 6), rtol=1e-5)
    assert session.workspace.nbytes < 3 * x.nbytes + 256


def test_kernels_that_do_the_same_are_built_once(session):
    executable = session.compile(chain(4), OPTIONS)
    assert len({kernel.name for kernel in executable.kernels}) == 1
    assert [kernel.nodes for kernel in executable.kernels] == sorted(
        [kernel.nodes for kernel in executable.kernels]
    )


def test_executables_share_what_lives_inside_runs(session):
    graphs = [chain(3), chain(5)]
    executables = [session.compile(graph, OPTIONS) for graph in graphs]
    x = np.linspace(0, 1, 24, dtype=np.float32).reshape(4, 6)
    for _ in range(2):
        for executable, graph, count in zip(executables, graphs, (3, 5), strict=True):
            (found,) = run_executable(session, executable, graph, x)
            assert np.allclose(found, chained(x, count), rtol=1e-5)
    assert session.live == 1, "one arena, and nothing else is kept"


def test_closing_frees_constants(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (3,)))
    y = builder.constant(np.array([1.0, 2.0, 3.0]), tensor_type(float32, (3,)))
    graph = builder.finish(builder.add(x, y))
    executable = session.compile(graph, OPTIONS)
    assert session.live == 1
    executable.close()
    assert session.live == 0


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 0)], ids=str)
def test_outputs_may_be_inputs_constants_and_each_other(session, shape):
    type = tensor_type(float32, shape)
    builder = Builder()
    x = builder.input(type)
    c = builder.constant(np.full(shape, 7.0), type)
    y = builder.add(x, c)
    graph = builder.finish(x, c, y, y, x)
    given = np.full(shape, 2.0, np.float32)
    found = run(session, graph, given)
    for array, value in zip(found, (2, 7, 9, 9, 2), strict=True):
        assert array.shape == shape
        assert (array == value).all()


def joined(*, also_joined=False, twice=False):
    """Two halves joined, and their elements in one row: all that an output differs in."""
    builder = Builder()
    x = builder.input(tensor_type(float32, (3, 2)), "x")
    both = builder.concat(x, builder.neg(x), axis=0)
    row = builder.reshape(both, shape=(12,))
    outputs = [row, *([both] if also_joined else [])]
    return builder.finish(*outputs, *([builder.reshape(both, shape=(2, 6))] if twice else []))


def test_an_output_of_another_shape_is_computed_in_its_place(session):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    expected = np.concatenate([x, -x])
    graph = joined()
    (row,) = run(session, graph, x)
    assert row.tobytes() == expected.tobytes()
    assert not any("reshape" in name for name in session.given)
    assert all("reshape" not in k.name for k in session.compile(graph, OPTIONS).kernels)


@pytest.mark.parametrize(("also_joined", "twice"), [(True, False), (False, True), (True, True)])
def test_outputs_that_share_a_value_have_memory_of_their_own(session, also_joined, twice):
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    expected = np.concatenate([x, -x])
    found = run(session, joined(also_joined=also_joined, twice=twice), x)
    assert len(found) == 1 + also_joined + twice
    assert all(array.tobytes() == expected.tobytes() for array in found)


def test_what_nobody_asks_for_has_no_output(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (6,)), "x")
    builder.cumsum(x, axis=0)
    graph = builder.finish(builder.neg(x))
    array = np.arange(6, dtype=np.float32)
    (found,) = run(session, graph, array)
    assert found.tobytes() == (-array).tobytes()


def test_reports_say_what_moves_and_why(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (4, 6)))
    y = builder.sum(builder.barrier(builder.exp(x)), axes=(1,))
    executable = session.compile(builder.finish(y), OPTIONS)
    first, second = executable.kernels
    assert (first.bytes_read, first.bytes_written) == (96, 96)
    assert (second.bytes_read, second.bytes_written) == (96, 16)
    assert first.reason == ""
    assert "barrier" in second.reason
    assert first.name == "exp_0"


def test_contractions_may_be_the_hosts_work():
    session = Counting(CPU_PROFILE, host=True)
    builder = Builder()
    x = builder.input(tensor_type(float32, (5, 4)))
    y = builder.input(tensor_type(float32, (5, 3)))
    turned = builder.permute(x, axes=(1, 0))
    attrs = {"x_batch": (), "y_batch": (), "x_contract": (1,), "y_contract": (0,)}
    product = builder.dot_general(builder.exp(turned), y, **attrs)
    graph = builder.finish(builder.neg(product))
    executable = session.compile(graph, OPTIONS)
    assert [kernel.host for kernel in executable.kernels] == [False, True, False]
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((5, 4)).astype("f4"), rng.standard_normal((5, 3)).astype("f4")
    (found,) = run_executable(session, executable, graph, a, b)
    assert np.allclose(found, -(np.exp(a.T) @ b), atol=1e-5)


@pytest.mark.parametrize("dtype", [float16, float32, float64, int32], ids=str)
def test_host_contractions_read_through_views(dtype):
    session = Counting(CPU_PROFILE, host=True)
    builder = Builder()
    x = builder.input(tensor_type(dtype, (6, 4)))
    part = builder.slice(x, start=(5, 0), stop=(-1, 4), step=(-2, 1))
    y = builder.reshape(builder.permute(x, axes=(1, 0)), shape=(4, 2, 3))
    attrs = {"x_batch": (), "y_batch": (), "x_contract": (1,), "y_contract": (0,)}
    graph = builder.finish(builder.dot_general(part, y, **attrs))
    a = np.arange(24).reshape(6, 4).astype(dtype.numpy)
    (found,) = run(session, graph, a)
    assert (found == np.tensordot(a[5::-2], a.T.reshape(4, 2, 3), ([1], [0]))).all()


def test_a_device_that_shows_no_memory_has_no_host_contractions():
    class Blind(Counting):
        def view(self, handle, type):
            return None

    session = Blind(CPU_PROFILE, host=True)
    builder = Builder()
    x = builder.input(tensor_type(float32, (4, 4)))
    attrs = {"x_batch": (), "y_batch": (), "x_contract": (1,), "y_contract": (0,)}
    graph = builder.finish(builder.dot_general(x, x, **attrs))
    with pytest.raises(DeviceFault, match="shows no host memory"):
        run(session, graph, np.ones((4, 4), np.float32))


@pytest.mark.parametrize("dtype", [float16, float32], ids=str)
def test_attention_is_a_kernel_unless_contractions_are_the_hosts(dtype):
    builder = Builder()
    inputs = [builder.input(tensor_type(dtype, (2, 18, 5))) for _ in range(3)]
    parts = builder.finish(builder.attention(*inputs, scale=0.5, causal=False))
    arrays = [np.random.default_rng(n).standard_normal((2, 18, 5)).astype("f2") for n in range(3)]
    arrays = [array.astype(dtype.numpy) for array in arrays]
    found = []
    for session, count in ((Counting(), 1), (Counting(host=True), 3)):
        claimed = session.capabilities.composites
        assert (dtype in claimed.get("attention", ())) == (count == 1)
        graph = normalize(parts, keeps=lambda node, claimed=claimed: node.op.name in claimed)
        executable = session.compile(graph, OPTIONS)
        if dtype is float32:
            assert len(executable.kernels) == count
        found += run_executable(session, executable, graph, *arrays)
    np.testing.assert_allclose(*found, rtol=0, atol=1e-6 if dtype is float32 else 2e-3)


def test_a_composite_that_is_not_claimed_is_refused():
    builder = Builder()
    inputs = [builder.input(tensor_type(float32, (4, 5))) for _ in range(3)]
    graph = builder.finish(builder.attention(*inputs, scale=1.0, causal=False))
    with pytest.raises(UnsupportedOp, match="attention"):
        Counting(host=True).compile(graph, OPTIONS)


def test_a_fault_names_the_op(session):
    graph = chain(3)
    executable = session.compile(graph, OPTIONS)
    ordinals = [kernel.nodes for kernel in executable.kernels]

    def fail(*handles):
        raise DeviceFault("no")

    _, pick = executable._calls[1]
    executable._calls[1] = (fail, pick)
    with pytest.raises(DeviceFault) as caught:
        run_executable(session, executable, graph, np.ones((4, 6), np.float32))
    assert caught.value.node == ordinals[1][-1]


def test_no_room_for_what_lives_inside_a_run_launches_nothing(session, monkeypatch):
    graph = chain(3)
    executable = session.compile(graph, OPTIONS)
    x = session.allocate(96)
    y = session.allocate(96)

    def refuse(nbytes):
        raise MemoryError

    monkeypatch.setattr(session, "allocate", refuse)
    with pytest.raises(MemoryError):
        executable.run([x], [y])
    assert session.given == []
    monkeypatch.undo()
    executable.run([x], [y])
    assert len(session.given) == 3


def test_what_is_not_generated_is_refused(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (4,)))
    state = builder.input(tensor_type(float32, (4,)))
    transfer = builder.transfer(x, device="numpy:0")
    with pytest.raises(UnsupportedOp, match="no generated kernels for transfer"):
        session.compile(builder.finish(transfer, state), OPTIONS)


def test_ranks_beyond_the_limits_are_refused():
    session = Counting(limits=Limits(rank=3, buffer_bytes=100))
    builder = Builder()
    deep = builder.input(tensor_type(float32, (1, 1, 1, 1)))
    large = builder.input(tensor_type(float32, (26,)))
    assert "at most 3 axes" in session.supports(builder.neg(deep)).reason
    assert session.supports(builder.neg(large)) is None, "that is for the allocation to say"


def test_a_primitive_that_is_defined_elsewhere_is_not_claimed(session):
    define(
        "test.twice", rule=elementwise, reference=lambda x: 2 * x, doc="Twice.",
        kind=OpKind.ELEMENTWISE, dtypes=FLOATS,
    )  # fmt: skip
    try:
        assert "test.twice" not in session.capabilities.ops
        assert "test.twice" not in set(session.capabilities.ops)
    finally:
        undefine("test.twice")
    assert "add" in session.capabilities.ops
    with pytest.raises(KeyError):
        session.capabilities.ops["transfer"]
    assert len(session.capabilities.ops) > 80


TINY = Limits(rank=32, arguments=4, parameter_bytes=1024, local_bytes=2048, group_size=16)


@pytest.mark.parametrize("profile", [CPU_PROFILE, GPU_PROFILE], ids=lambda p: p.name)
def test_a_tiny_device_gets_split_kernels_and_right_results(profile):
    session = Counting(profile, limits=TINY)
    builder = Builder()
    inputs = [builder.input(tensor_type(float32, (40, 50))) for _ in range(9)]
    total = inputs[0]
    for value in inputs[1:]:
        total = builder.add(total, value)
    mean = builder.sum(total, axes=(1,))
    graph = builder.finish(mean, total)
    executable = session.compile(graph, OPTIONS)
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 9, (40, 50)).astype(np.float32) for _ in inputs]
    rows, whole = run_executable(session, executable, graph, *arrays)
    assert (whole == sum(arrays)).all()
    assert (rows == sum(arrays).sum(1)).all()
    assert len(executable.kernels) > 2


def test_without_elements_nothing_is_launched(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (0, 4)))
    graph = builder.finish(builder.exp(x))
    executable = session.compile(graph, OPTIONS)
    assert executable.kernels == ()
    (found,) = run_executable(session, executable, graph, np.empty((0, 4), np.float32))
    assert found.shape == (0, 4)
