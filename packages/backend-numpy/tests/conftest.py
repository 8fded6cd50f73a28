"""Shared by the tests of the NumPy backend: sessions, sample values, fused and single runs."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from realta.backend import Options
from realta.graph import Builder, Graph, Node, Region
from realta.ops import OpDef, Sample
from realta.passes import normalize
from realta.runtime import num_threads, set_num_threads
from realta.types import DType, tensor_type
from realta_numpy import loops, program
from realta_numpy.session import NumpySession

SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-40, 300.0, -300.5, 1e30, 7.0)


def sample_values(rng, shape, dtype: DType, domain: str):
    """Values of a dtype from one of the generators that samples name."""
    count = int(np.prod(shape))
    if dtype.kind == "bool":
        return (rng.random(count) < 0.5).reshape(shape)
    if domain == "indices":
        return rng.integers(-5, 5, count).reshape(shape).astype(dtype.numpy)
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        small = rng.integers(-4 if dtype.kind == "int" else 0, 9, count).astype(dtype.numpy)
        wide = rng.integers(info.min, info.max, count, dtype=dtype.numpy, endpoint=True)
        return np.where(rng.random(count) < 0.5, small, wide).reshape(shape)
    values = rng.standard_normal(count) * np.exp(rng.uniform(-3, 3, count))
    if domain == "special":
        values = np.resize(np.array(SPECIAL), count)
    elif domain == "unit":
        values = rng.uniform(-1, 1, count)
    elif domain == "positive":
        values = np.abs(values) + 1e-3
    elif domain == "small":
        values = rng.integers(-3, 4, count) / 2
    elif domain == "nonzero":
        values = np.where(values == 0, 1, values)
    elif domain == "any" and count > 3:
        values[:3] = 0.0, -0.0, np.nan
    with np.errstate(all="ignore"):
        return values.reshape(shape).astype(dtype.numpy)


def same_bits(one, other) -> bool:
    """Equal dtype, shape and bytes, all NaNs alike."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind in "iub":
        return bool(one.tobytes() == other.tobytes())
    missing = np.isnan(one)
    if not np.array_equal(missing, np.isnan(other)):
        return False
    zero = np.zeros((), one.dtype)
    return np.where(missing, zero, one).tobytes() == np.where(missing, zero, other).tobytes()


@dataclass
class Runner:
    """Compiles and runs graphs on one session and checks what every run must keep."""

    session: NumpySession

    def keeps(self, node: Node) -> bool:
        return node.op.name in self.session.capabilities.ops

    def upload(self, array):
        array = np.array(array, order="C")
        handle = self.session.allocate(array.nbytes)
        handle[: array.nbytes] = array.reshape(-1).view(np.uint8)
        return handle

    def array(self, handle, type):
        return np.ndarray(type.static_shape, type.dtype.numpy, handle)

    def compile(self, graph: Graph):
        return self.session.compile(graph, Options())

    def run(self, graph: Graph, arrays, executable=None):
        """The results as arrays; inputs must be untouched, every byte of the outputs written."""
        executable = executable or self.compile(graph)
        handles = [self.upload(a) for a in arrays]
        before = [h.tobytes() for h in handles]
        found = []
        for filler in (0x55, 0xAA):
            outputs = [self.session.allocate(v.type.nbytes) for v in graph.outputs]
            for output in outputs:
                output[:] = filler
            executable.run(handles, outputs)
            assert [h.tobytes() for h in handles] == before, "an input was changed"
            results = zip(outputs, graph.outputs, strict=True)
            found.append([self.array(h, v.type) for h, v in results])
        for one, other in zip(*found, strict=True):
            assert same_bits(one, other), "two runs differ, or not all was written"
        return found[0]

    def call(self, op: OpDef, dtype: DType, sample: Sample):
        """The graph of one sample call and its operands."""
        rng = np.random.default_rng(zlib.crc32(f"{op.name}{dtype}{sample}".encode()))
        shapes = sample.shapes
        domains = (
            sample.domain if isinstance(sample.domain, tuple) else (sample.domain,) * len(shapes)
        )
        fixed = (*sample.dtypes, *(None,) * len(shapes))
        dtypes = [fixed[n] or dtype for n in range(len(shapes))]
        attrs = {k: v(dtype) if callable(v) else v for k, v in sample.attrs.items()}
        triples = zip(shapes, dtypes, domains, strict=True)
        arrays = [sample_values(rng, s, t, d) for s, t, d in triples]
        builder = Builder(op.name)
        inputs = [builder.input(tensor_type(t, s)) for s, t in zip(shapes, dtypes, strict=True)]
        node = builder.add_node(op, tuple(inputs), attrs)
        return builder.finish(*node.outputs), arrays

    def both(self, graph: Graph, arrays, threads_used=(1, 2, 5)):
        """Runs it fused and op by op, with several numbers of threads: all the same bits."""
        graph = normalize(graph, keeps=self.keeps)
        apart = in_region(graph, Region("apart", fuse="never"))
        expected = self.run(apart, arrays)
        count = num_threads()
        executable = self.compile(graph)
        for number in threads_used:
            set_num_threads(number)
            try:
                found = self.run(graph, arrays, executable)
            finally:
                set_num_threads(count)
            for one, other in zip(found, expected, strict=True):
                assert same_bits(one, other), f"{graph}\nfused with {number} threads differs"
        return expected, executable


def in_region(graph: Graph, region: Region) -> Graph:
    """The same graph recorded in a region."""
    made: dict[Any, Any] = {value: value for value in graph.inputs}
    nodes = []
    for node in graph.nodes:
        copied = Node(node.op, tuple(made[v] for v in node.operands), node.attrs, region=region)
        nodes.append(copied)
        made.update(zip(node.outputs, copied.outputs, strict=True))
    return Graph(graph.name, graph.inputs, [made[v] for v in graph.outputs], nodes)


@pytest.fixture
def session():
    opened = NumpySession()
    yield opened
    opened.close()


@pytest.fixture
def runner(session):
    return Runner(session)


@pytest.fixture(params=[None, 24], ids=["one tile", "small tiles"])
def tile(request, monkeypatch):
    """Elements of a tile: as they are, or so few that small tensors take many tiles and loops."""
    if request.param is not None:
        monkeypatch.setattr(loops.choose_loops, "__defaults__", (request.param,))
        monkeypatch.setattr(program, "TILE", 0)  # axes are merged as in large kernels
    return request.param


@pytest.fixture
def values():
    """``values(shape, dtype, domain)`` from a generator with a fixed seed."""
    rng = np.random.default_rng(20261130)

    def make(shape, dtype, domain="any"):
        return sample_values(rng, shape, dtype, domain)

    return make


@pytest.fixture
def equal_bits():
    return same_bits
