"""Single ops on machines: the bits that the interpreter finds, through the kernels rendered."""

import numpy as np
import pytest
from realta.codegen.interpreter import interpret_lowered
from realta.codegen.lowered import Temporary
from realta.codegen.profile import CPU_PROFILE
from realta.codegen.singles import SINGLES
from realta.fusion import Limits
from realta.graph import Input, Node
from realta.ops import get_op
from realta.types import TensorType, as_dtype, uint32, uint64

RANDOM = np.random.default_rng(0)
FLOATS = RANDOM.standard_normal((40, 70)).astype(np.float32)
SPECIAL = np.where(RANDOM.random((3, 90)) < 0.2, [[np.nan], [-0.0], [np.inf]], 1).astype(np.float32)
HALVES = RANDOM.standard_normal((2, 300)).astype(np.float16)
INDICES = RANDOM.integers(-10, 11, (7, 40))
STATE = np.array([3, 0x89ABCDEF, 0xFFFFFFFF, 0x01234567], np.uint32)
CALLS = {
    "sums along": ("cumsum", FLOATS, {"axis": 0}),
    "sums of blocks": ("cumsum", FLOATS.reshape(-1), {"axis": 0, "reverse": True}),
    "products of halves": ("cumprod", HALVES, {"axis": 1, "exclusive": True}),
    "maxima": ("cummax", SPECIAL, {"axis": 1, "exclusive": True}),
    "minima of integers": ("cummin", INDICES, {"axis": 0}),
    "sort": ("sort", SPECIAL, {"axis": 1, "descending": True}),
    "sort of columns": ("sort", FLOATS, {"axis": 0}),
    "order": ("argsort", FLOATS.reshape(-1)[:700], {"axis": 0}),
    "order of bools": ("argsort", FLOATS > 0, {"axis": 1, "descending": True}),
    "order of halves": ("argsort", HALVES, {"axis": 1}),
    "words": ("philox_bits", STATE, {"shape": (1025,), "dtype": uint32}),
    "pairs of words": ("philox_bits", STATE, {"shape": (3, 33), "dtype": uint64}),
    "out of bounds": ("check_bounds", INDICES, {"extent": 10, "axis": 1}),
    "in bounds": ("check_bounds", INDICES.astype(np.int32), {"extent": 11, "axis": 1}),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_single_ops_on_machines(machine, call, assert_same_bits):
    name, array, attrs = call
    x = Input(TensorType(as_dtype(array.dtype), array.shape))
    op = get_op(name)
    node = Node(op, (x,), op.make_attrs(attrs))
    profile = machine.profile
    if profile.realization != CPU_PROFILE.realization:
        profile = profile.replace(chunk=256)
    lowered = SINGLES[name](node, profile, Limits())
    arrays = {x: np.ascontiguousarray(array).reshape(-1)}
    kernels, given = [], []
    for launch in lowered.launches:
        for argument in launch.arguments:
            if argument not in arrays:
                temporary = isinstance(argument, Temporary)
                kind = argument if temporary else argument.type
                arrays[argument] = np.zeros(kind.size, kind.dtype.numpy)
        kernels.append(launch.kernel)
        given.append([arrays[argument] for argument in launch.arguments])
    machine.run(kernels, given)
    expected = interpret_lowered(lowered, {x: array})[node]
    assert_same_bits(arrays[node], expected.reshape(-1), what=name)
