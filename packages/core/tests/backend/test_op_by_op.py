import numpy as np
import pytest
from realta.backend import (
    Backend,
    DeviceFault,
    Executable,
    Limits,
    OpByOpBackend,
    Options,
    Session,
    UnsupportedOp,
)
from realta.graph import Builder
from realta.plugins import close_devices, open_device, register_backend, unregister_backend
from realta.runtime import program_for, refusal
from realta.types import bool_, float32, int32, tensor_type


class Vendor:
    """A native value that is no array."""

    def __init__(self, array):
        self.array = np.array(array)


class Native(OpByOpBackend):
    name = "native"
    kernels = {
        "add": lambda node, x, y: Vendor(x.array + y.array),
        "neg": lambda node, x: Vendor(-x.array),
        "top_k": lambda node, x: (
            Vendor(np.sort(x.array)[::-1][: node.attrs["k"]]),
            Vendor(np.argsort(-x.array)[: node.attrs["k"]]),
        ),
    }

    def from_host(self, array):
        return Vendor(array)

    def to_host(self, value, type):
        return value.array


class Plain(OpByOpBackend):
    name = "plain"
    kernels = {
        "add": lambda node, x, y: x + y,
        "permute": lambda node, x: x.transpose(node.attrs["axes"]),
        "reshape": lambda node, x: x.reshape(node.attrs["shape"]),
        "exp": lambda node, x: np.exp(x),
    }
    dtypes = frozenset({float32, int32})
    limits = Limits(rank=2)


@pytest.fixture
def opened():
    names = []

    def register(backend):
        names.append(backend.name)
        close_devices(backend.name)
        register_backend(backend)
        return open_device(f"{backend.name}:0")

    yield register
    for name in names:
        close_devices(name)
        unregister_backend(name)


def graph_of(body, *types):
    b = Builder("test")
    made = body(b, *[b.input(type) for type in types])
    return b.finish(*(made if isinstance(made, tuple) else (made,)))


def run(graph, *arrays):
    return [storage.numpy() for storage in program_for(graph).run(arrays)]


def test_it_fills_the_contract():
    backend = Plain()
    assert isinstance(backend, Backend)
    (info,) = backend.probe()
    session = backend.open(info)
    assert isinstance(session, Session)
    type = tensor_type(float32, (2,))
    executable = session.compile(graph_of(lambda b, x: b.exp(x), type), Options())
    assert isinstance(executable, Executable)
    assert (info.index, info.kind) == (0, "host")


def test_capabilities_follow_from_kernels_and_dtypes():
    capabilities = Plain().open(Plain().probe()[0]).capabilities
    assert set(capabilities.ops) == {"add", "permute", "reshape", "exp"}
    assert capabilities.ops["add"] == {float32, int32}
    assert capabilities.ops["exp"] == {float32}
    assert capabilities.storage == {float32, int32}
    assert dict(capabilities.composites) == {}
    native = Native().open(Native().probe()[0]).capabilities
    assert bool_ in native.ops["add"]
    assert set(native.composites) == {"top_k"}


def test_values_that_are_no_arrays_go_through_its_own_conversions(opened):
    device = opened(Native())
    type = tensor_type(float32, (3,), device.name)
    graph = graph_of(lambda b, x: (b.neg(b.add(x, x)), *b.top_k(x, k=2, axis=0)), type)
    found = run(graph, np.array([1, 3, 2], np.float32))
    assert [array.tolist() for array in found] == [[-2, -6, -4], [3, 2], [1, 2]]


def test_what_has_too_many_axes_is_refused(opened):
    device = opened(Plain())
    session = device.session
    for shape, refused in (((2, 2), False), ((2, 2, 2), True)):
        node = graph_of(lambda b, x: b.exp(x), tensor_type(float32, shape)).nodes[0]
        assert (refusal(session, node) is not None) is refused


def test_views_may_be_returned_and_come_out_in_order(opened):
    device = opened(Plain())
    type = tensor_type(float32, (2, 3), device.name)
    (found,) = run(
        graph_of(lambda b, x: b.permute(x, axes=(1, 0)), type),
        np.arange(6, dtype=np.float32).reshape(2, 3),
    )
    assert found.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_writing_to_an_input_later_does_not_change_a_result_that_views_it(opened):
    device = opened(Plain())
    type = tensor_type(float32, (2, 3), device.name)
    program = program_for(graph_of(lambda b, x: b.permute(x, axes=(1, 0)), type))
    given = device.upload(np.zeros((2, 3), np.float32))
    (output,) = program.run([given])
    device.session.write(given.handle, given.type, memoryview(np.ones(6, np.float32)).cast("B"))
    assert given.numpy().sum() == 6
    assert output.numpy().sum() == 0


def test_written_bytes_may_be_reused_by_the_caller(opened):
    device = opened(Plain())
    array = np.zeros(3, np.float32)
    storage = device.upload(array)
    array[:] = 1
    assert storage.numpy().tolist() == [0, 0, 0]


class Faulty(OpByOpBackend):
    name = "faulty"
    kernels = {
        "add": lambda node, x, y: x + y,
        "exp": lambda node, x: 1 / 0,
        "neg": lambda node, x: (-x).astype(np.float64),
        "abs": lambda node, x: abs(x)[:2],
        "sqrt": lambda node, x: (x, x),
    }


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (
            "exp",
            (
                "the faulty kernel of exp raised ZeroDivisionError: division by zero\n"
                "  where: exp(f32[3]@faulty:0)\n"
                "  fix: tensors this launch was to fill stay unusable; other work is unaffected"
            ),
        ),
        (
            "neg",
            (
                "the faulty kernel of neg returned float64[3] where the graph has f32[3]@faulty:0\n"
                "  where: neg(f32[3]@faulty:0)\n"
                "  fix: this is a fault of the backend; report it"
            ),
        ),
        (
            "abs",
            (
                "the faulty kernel of abs returned float32[2] where the graph has f32[3]@faulty:0\n"
                "  where: abs(f32[3]@faulty:0)\n"
                "  fix: this is a fault of the backend; report it"
            ),
        ),
        (
            "sqrt",
            (
                "the faulty kernel of sqrt returned 2 result(s) where the op has 1\n"
                "  where: sqrt(f32[3]@faulty:0)\n"
                "  fix: this is a fault of the backend; report it"
            ),
        ),
    ],
)
def test_a_kernel_that_goes_wrong_in_the_middle_names_the_op(opened, op, text):
    device = opened(Faulty())
    type = tensor_type(float32, (3,), device.name)
    graph = graph_of(lambda b, x: b.add(getattr(b, op)(b.add(x, x)), x), type)
    with pytest.raises(DeviceFault) as caught:
        run(graph, np.ones(3, np.float32))
    assert str(caught.value) == text
    good = graph_of(lambda b, x: b.add(x, x), type)
    assert run(good, np.ones(3, np.float32))[0].tolist() == [2, 2, 2]


def test_what_a_backend_that_is_not_numpy_holds_is_checked_when_read(opened):
    class Wrong(Native):
        name = "wrong"
        kernels = {"neg": lambda node, x: Vendor(x.array.astype(np.float64))}

    device = opened(Wrong())
    graph = graph_of(lambda b, x: b.neg(x), tensor_type(float32, (3,), device.name))
    with pytest.raises(DeviceFault, match=r"wrong holds float64\[3\] where the graph has f32\[3\]"):
        run(graph, np.ones(3, np.float32))


def test_a_missing_kernel_is_named_when_compiling():
    session = Plain().open(Plain().probe()[0])
    graph = graph_of(lambda b, x: b.neg(x), tensor_type(float32, (3,)))
    with pytest.raises(UnsupportedOp) as caught:
        session.compile(graph, Options())
    assert str(caught.value) == (
        "plain has no kernel for neg\n  where: neg(f32[3])\n  fix: add it to the backend's kernels"
    )


def test_one_kernel_is_reported_per_op(opened):
    device = opened(Plain())
    type = tensor_type(float32, (3,), device.name)
    program = program_for(graph_of(lambda b, x: b.exp(b.add(x, x)), type))
    assert [(k.name, k.nodes, k.bytes_read, k.bytes_written) for k in program.kernels] == [
        ("add", (0,), 24, 12),
        ("exp", (1,), 12, 12),
    ]


def test_intermediate_values_go_as_soon_as_nobody_needs_them(opened):
    alive = []

    class Counting(OpByOpBackend):
        name = "counting"
        kernels = {"neg": lambda node, x: track(x)}

    class Tracked(np.ndarray):
        def __del__(self):
            alive.pop()

    def track(x):
        made = (-np.asarray(x)).view(Tracked)
        alive.append(1)
        most.append(len(alive))
        return made

    most = []
    device = opened(Counting())

    def chain(b, x):
        for _ in range(10):
            x = b.neg(x)
        return x

    session = device.session
    type = tensor_type(float32, (3,), device.name)
    graph = graph_of(chain, type)
    executable = session.compile(graph, Options())
    given, result = device.upload(np.ones(3, np.float32)), session.allocate(12)
    executable.run([given.handle], [result])
    assert len(most) == 10
    assert max(most) == 2
