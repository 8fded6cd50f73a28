"""Attention as one kernel: what it computes, in which order, and what it needs."""

import numpy as np
import pytest
from realta.codegen.interpreter import interpret_lowered
from realta.codegen.ir import Allocate, Tree
from realta.codegen.lowering import fitted
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.singles import SINGLES
from realta.codegen.verifier import verify_kernel
from realta.codegen.walking import statements
from realta.fusion import Limits
from realta.graph import Input, Node
from realta.ops import get_op
from realta.types import TensorType, as_dtype, bfloat16, float16, float32, float64

LIMITS = Limits(arguments=4, parameter_bytes=1024, local_bytes=2048, group_size=16)
PROFILES = {
    "cpu": CPU_PROFILE,
    "gpu": GPU_PROFILE,
    "loop": LOOP_PROFILE,
    "tiny": fitted(GPU_PROFILE, LIMITS),
    "single lanes": GPU_PROFILE.replace(lanes=1, tree=Tree(1, 4), scratch_bytes=256),
}
SHAPES = {
    "rows": ((17, 8), (33, 8), (33, 5)),
    "batches": ((2, 2, 9, 8), (2, 2, 9, 8), (2, 2, 9, 8)),
    "one query": ((2, 1, 4), (2, 65, 4), (2, 65, 4)),
    "long heads": ((3, 40), (40, 40), (40, 37)),
    "no heads": ((2, 4, 0), (2, 7, 0), (2, 7, 3)),
    "no keys": ((2, 4, 3), (2, 0, 3), (2, 0, 3)),
}


@pytest.fixture(params=PROFILES.values(), ids=PROFILES)
def profile(request):
    return request.param


def draw(shapes, dtype=float32, seed=0):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype(dtype.numpy) for shape in shapes]


def run(profile, *arrays, **attrs):
    op = get_op("attention")
    operands = tuple(Input(TensorType(as_dtype(a.dtype), a.shape)) for a in arrays)
    node = Node(op, operands, op.make_attrs({"scale": 0.5, **attrs}))
    lowered = SINGLES["attention"](node, profile, LIMITS)
    (launch,) = lowered.launches
    verify_kernel(launch.kernel, profile)
    assert len(launch.arguments) <= LIMITS.arguments
    return interpret_lowered(lowered, dict(zip(operands, arrays, strict=True)))[node]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=SHAPES)
def test_what_it_computes(profile, shapes, causal):
    arrays = draw(shapes)
    wanted = get_op("attention").reference(*arrays, scale=0.5, causal=causal)
    found = run(profile, *arrays, causal=causal)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)


@pytest.mark.parametrize(("dtype", "bound"), [(float16, 2e-3), (bfloat16, 2e-2), (float64, 1e-14)])
def test_dtypes(profile, dtype, bound):
    arrays = draw(SHAPES["rows"], dtype)
    wanted = get_op("attention").reference(*arrays, scale=0.5, causal=False)
    found = run(profile, *arrays)
    assert found.dtype == dtype.numpy
    np.testing.assert_allclose(
        found.astype(np.float64), wanted.astype(np.float64), rtol=0, atol=bound
    )


def test_the_order_is_that_of_keys_and_heads_alone(profile):
    q, k, v = draw(((3, 19, 8), (3, 37, 8), (3, 37, 21)))
    whole = run(profile, q, k, v)
    part = run(profile, q[1, 7:8], k[1], v[1, :, 18:20])
    assert np.array_equal(whole[1, 7:8, 18:20], part)


def test_one_value_may_be_all_three(profile):
    (x,) = draw(((18, 6),))
    op = get_op("attention")
    given = Input(TensorType(float32, x.shape))
    node = Node(op, (given, given, given), op.make_attrs({"scale": 0.5}))
    lowered = SINGLES["attention"](node, profile, LIMITS)
    assert len(lowered.launches[0].arguments) == 2
    found = interpret_lowered(lowered, {given: x})[node]
    assert np.array_equal(found, run(profile, x, x, x))


def test_great_values_do_not_overflow(profile):
    q, k, _ = draw(((2, 3), (65, 3), (65, 1)))
    v = np.full((65, 1), 3e38, np.float32)
    np.testing.assert_allclose(run(profile, q, k, v), v[:2], rtol=1e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite(profile, bad):
    q, k, v = draw(((3, 4), (35, 4), (35, 2)))
    q[1] = 1
    k[34] = bad
    with np.errstate(all="ignore"):
        wanted = get_op("attention").reference(q, k, v, scale=0.5, causal=False)
        found = run(profile, q, k, v)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)
    k[:] = bad
    with np.errstate(all="ignore"):
        assert np.isnan(run(profile, q, k, v)[1]).all()


def test_group_memory_keeps_to_the_profile(profile):
    op = get_op("attention")
    types = [TensorType(float64, (300, 128))] * 3
    node = Node(op, tuple(map(Input, types)), op.make_attrs({"scale": 1.0}))
    (launch,) = SINGLES["attention"](node, profile, LIMITS).launches
    buffers = [
        s.buffer
        for s in statements(launch.kernel.body)
        if isinstance(s, Allocate) and s.buffer.space == "group"
    ]
    assert 0 < sum(b.size * b.dtype.itemsize for b in buffers) <= profile.scratch_bytes
