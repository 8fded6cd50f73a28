"""Shared by the tests of lowering: graphs computed by their kernels in the interpreter."""

import numpy as np
import pytest
from realta.codegen.interpreter import interpret_lowered
from realta.codegen.lowering import fitted, lower
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.rules import KERNEL_RULES
from realta.codegen.verifier import verify_kernel
from realta.fusion import Limits, plan
from realta.passes import normalize
from realta.passes.evaluate import evaluate_graph

TINY = Limits(arguments=4, parameter_bytes=1024, group_size=16, local_bytes=2048)
DEVICES = {
    "cpu": (CPU_PROFILE, Limits()),
    "gpu": (GPU_PROFILE, Limits()),
    "loop": (LOOP_PROFILE, Limits()),
    "tiny": (GPU_PROFILE, TINY),
    "wide": (GPU_PROFILE.replace(lanes=32, chunk=256, vector_bytes=16), Limits()),
}


def draw(dtype, shape, random):
    """Random values of a type; floats with zeros of both signs among them."""
    if dtype.kind == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.is_integer:
        return random.integers(0 if dtype.kind == "uint" else -40, 40, shape).astype(dtype.numpy)
    values = np.where(random.random(shape) < 0.1, -0.0, random.standard_normal(shape))
    return np.asarray(values).astype(np.float32).astype(dtype.numpy)


class Device:
    """Runs graphs by generated kernels."""

    def __init__(self, profile, limits):
        self.limits = limits
        self.profile = fitted(profile, limits)

    def lowered(self, graph):
        """The groups of a graph with their kernels, which verify and keep to the limits."""
        planned = plan(graph, self.limits, rules=KERNEL_RULES)
        found = [(group, lower(group, self.profile, self.limits)) for group in planned.groups]
        for group, kernels in found:
            for launch in kernels.launches:
                verify_kernel(launch.kernel, self.profile)
                most = self.limits.arguments
                assert most is None or len(launch.arguments) <= max(most, 2 + len(group.inputs))
                assert launch.kernel.lanes == self.profile.lanes
        return planned, found

    def run(self, graph, arrays):
        """The outputs of a graph."""
        planned, found = self.lowered(graph)
        stored = dict(zip(graph.inputs, arrays, strict=True))
        stored |= {node: node.attrs["value"].array for node in planned.constants}
        for group, kernels in found:
            if group.nodes[-1].op.name == "constant":
                stored[group.nodes[-1]] = group.nodes[-1].attrs["value"].array
                continue
            made = interpret_lowered(kernels, {v: stored[v] for v in group.inputs})
            for value in group.outputs:
                empty = np.zeros(value.type.static_shape, value.type.dtype.numpy)
                stored[value] = made.get(value, empty)
        return [stored[v] for v in graph.outputs]


def equal_bits(one, other):
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind not in "fV":
        return one.tobytes() == other.tobytes()
    nan = np.isnan(one)
    return np.array_equal(nan, np.isnan(other)) and one[~nan].tobytes() == other[~nan].tobytes()


@pytest.fixture(params=DEVICES)
def device(request):
    """A device of each profile, and a tiny one."""
    return Device(*DEVICES[request.param])


@pytest.fixture
def check(device):
    """``check(builder, *outputs)``: the kernels compute what the references do.

    Bit for bit, or within `tolerance` where reductions of floats have another order.
    """

    def compare(builder, *outputs, tolerance=None, arrays=None):
        graph = normalize(builder.finish(*outputs), keeps=lambda node: False)
        random = np.random.default_rng(7)
        if arrays is None:
            arrays = [draw(v.type.dtype, v.type.static_shape, random) for v in graph.inputs]
        wanted = evaluate_graph(graph, arrays)
        for found, want in zip(device.run(graph, arrays), wanted, strict=True):
            if tolerance is None:
                assert equal_bits(found, want)
            else:
                assert (found.dtype, found.shape) == (want.dtype, want.shape)
                wide = np.asarray(found, np.float64), np.asarray(want, np.float64)
                assert np.allclose(*wide, rtol=tolerance, atol=tolerance, equal_nan=True)

    return compare


@pytest.fixture
def kernels_of(device):
    """``kernels_of(builder, *outputs)``: the names of the kernels of each group."""

    def names(builder, *outputs):
        graph = normalize(builder.finish(*outputs), keeps=lambda node: False)
        return [
            [launch.kernel.name for launch in kernels.launches]
            for _, kernels in device.lowered(graph)[1]
        ]

    return names


@pytest.fixture(scope="session")
def same_bits():
    """Whether two arrays have the same bits, where all NaNs are equal."""
    return equal_bits


@pytest.fixture(scope="session")
def values_of():
    """``values_of(dtype, shape, random)``: random values."""
    return draw
