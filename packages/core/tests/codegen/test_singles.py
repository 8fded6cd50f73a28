"""Lowerings of single ops: their kernels verify, and the interpreter gets what the op means."""

import numpy as np
import pytest
from realta.codegen.interpreter import interpret_lowered
from realta.codegen.ir import Allocate, Tree
from realta.codegen.lowering import lower
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.singles import SINGLES
from realta.codegen.verifier import verify_kernel
from realta.codegen.walking import statements
from realta.errors import UnsupportedOp
from realta.fusion import Limits, plan
from realta.graph import Builder, Input, Node
from realta.ops import OpKind, define, get_op, undefine
from realta.ops.tolerances import allowance
from realta.types import (
    COMPUTABLE,
    FLOATS,
    TensorType,
    as_dtype,
    bfloat16,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
    uint32,
    uint64,
)

TINY_PROFILE = GPU_PROFILE.replace(
    name="tiny", lanes=8, tree=Tree(4, 16), chunk=16, scratch_bytes=2048, lane_bytes=64, workers=2
)
# The interpreter runs all groups at once, and turns of loops one by one: groups get little to do.
PROFILES = {
    p.name: p
    for p in (
        CPU_PROFILE.replace(chunk=32),
        GPU_PROFILE,
        LOOP_PROFILE.replace(chunk=64),
        TINY_PROFILE,
    )
}
LIMITS = Limits(arguments=4, parameter_bytes=1024, local_bytes=2048, group_size=16)


@pytest.fixture(params=PROFILES.values(), ids=PROFILES)
def profile(request):
    return request.param


def node_of(name, *arrays, **attrs):
    op = get_op(name)
    operands = tuple(Input(TensorType(as_dtype(a.dtype), a.shape)) for a in arrays)
    return Node(op, operands, op.make_attrs(attrs))


def run(profile, name, *arrays, **attrs):
    """The result of an op by its kernels."""
    node = node_of(name, *arrays, **attrs)
    lowered = SINGLES[name](node, profile, LIMITS)
    for launch in lowered.launches:
        verify_kernel(launch.kernel, profile)
        assert len(launch.arguments) <= LIMITS.arguments
        assert launch.kernel.lanes == profile.lanes
    found = interpret_lowered(lowered, dict(zip(node.operands, arrays, strict=True)))
    return found[node]


def values(dtype, *shape, seed=0):
    """Numbers of a type with many equal ones; floats also with NaN, infinities and zeros."""
    random = np.random.default_rng(seed)
    if dtype.is_float:
        drawn = random.standard_normal(shape).astype(np.float32) * 4
        special = random.choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], shape)
        return np.where(random.random(shape) < 0.2, special, drawn).astype(dtype.numpy)
    if dtype.kind == "bool":
        return random.random(shape) < 0.5
    info = np.iinfo(dtype.numpy)
    drawn = random.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
    return np.where(random.random(shape) < 0.3, dtype.numpy.type(3), drawn)


def same(found, expected):
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    bits = f"u{found.dtype.itemsize}"
    equal = found.view(bits) == np.ascontiguousarray(expected).view(bits)
    if as_dtype(found.dtype).is_float:
        equal |= np.isnan(found.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    assert equal.all()


def test_groups_of_one_op_are_lowered_by_its_name(profile):
    builder = Builder()
    x = builder.input(TensorType(float32, (40,)), "x")
    graph = builder.finish(builder.cumsum(builder.sort(x, axis=0), axis=0))
    groups = plan(graph).groups
    assert [group.kind for group in groups] == ["single", "single"]
    arrays = {x: values(float32, 40)}
    for group in groups:
        arrays |= interpret_lowered(lower(group, profile), arrays)
    ordered = get_op("sort").reference(arrays[x], axis=0, descending=False)
    same(arrays[groups[0].outputs[0]], ordered)


def test_an_op_without_a_kernel_is_refused_by_name():
    builder = Builder()
    x = builder.input(TensorType(float32, (40,)), "x")
    define("test.opaque", rule=lambda x: x, reference=lambda x: x, doc="Nothing.",
           kind=OpKind.OPAQUE)  # fmt: skip
    try:
        (group,) = plan(builder.finish(getattr(builder, "test.opaque")(x))).groups
        with pytest.raises(UnsupportedOp, match=r"no kernel for test\.opaque"):
            lower(group, CPU_PROFILE)
    finally:
        undefine("test.opaque")


# -- philox ---------------------------------------------------------------------------------------

STATE = np.array([3, 0x89ABCDEF, 0xFFFFFFFF, 0x01234567], np.uint32)


@pytest.mark.parametrize("dtype", [uint32, uint64], ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (2,), (5,), (3, 33), (1025,)])
def test_philox(profile, dtype, shape):
    attrs = {"shape": shape, "dtype": dtype, "device": ""}
    same(
        run(profile, "philox_bits", STATE, **attrs), get_op("philox_bits").reference(STATE, **attrs)
    )


def test_blocks_of_philox_beyond_32_bits_take_two_words():
    node = node_of("philox_bits", STATE, shape=(1 << 36,), dtype=uint32, device="")
    lowered = SINGLES["philox_bits"](node, GPU_PROFILE, LIMITS)
    verify_kernel(lowered.launches[0].kernel)


# -- scans ----------------------------------------------------------------------------------------

SHAPES = [((1,), 0), ((33,), 0), ((1100,), 0), ((90, 3), 0), ((2, 65, 3), 1), ((30, 40), 0),
          ((70, 9), 1), ((600, 35), 0), ((9, 1), 1)]  # fmt: skip
DIRECTIONS = [(False, False), (True, False), (False, True), (True, True)]


def agrees(profile, name, x, **attrs):
    same(run(profile, name, x, **attrs), get_op(name).reference(x, **attrs))


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_scans_of_integers(profile, shape, axis):
    x = values(int32, *shape)
    for name, direction in zip(("cumsum", "cumprod", "cummax", "cummin"), DIRECTIONS, strict=True):
        exclusive, reverse = direction
        agrees(profile, name, x, axis=axis, exclusive=exclusive, reverse=reverse)


@pytest.mark.parametrize(("exclusive", "reverse"), DIRECTIONS)
def test_directions_of_scans(profile, exclusive, reverse):
    for shape, axis in (((70,), 0), ((40, 20), 0)):
        for dtype in (int32, uint8):
            x = values(dtype, *shape, seed=7)
            agrees(profile, "cumsum", x, axis=axis, exclusive=exclusive, reverse=reverse)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans_of_floats_are_within_bounds(profile, name, dtype):
    random = np.random.default_rng(1)
    for shape, axis in (((1500,), 0), ((40, 70), 0)):
        x = random.standard_normal(shape) if name == "cumsum" else random.uniform(0.9, 1.1, shape)
        x = x.astype(dtype.numpy)
        attrs = {"axis": axis, "exclusive": False, "reverse": False}
        found = run(profile, name, x, **attrs).astype(np.float64)
        wide = x.astype(np.float64)
        expected = getattr(np, name)(wide.astype(np.longdouble), axis=axis).astype(np.float64)
        allowed = allowance(get_op(name), [wide], attrs, expected, dtype)
        assert (np.abs(found - expected) <= allowed).all()


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16], ids=str)
def test_scans_of_special_values(profile, dtype):
    for shape, axis in (((3, 90), 1), ((40, 40), 0)):
        x = values(dtype, *shape, seed=3)
        rare = np.random.default_rng(5).random(shape) < 0.1
        x = np.where(np.isnan(x.astype(np.float32)) & ~rare, 1, x).astype(dtype.numpy)
        for name, exclusive, reverse in (("cummax", True, False), ("cummin", False, True)):
            agrees(profile, name, x, axis=axis, exclusive=exclusive, reverse=reverse)


def test_negative_zeros_survive_a_running_sum(profile):
    for shape in ((200,), (3, 80)):
        x = np.full(shape, -0.0, np.float32)
        assert np.signbit(run(profile, "cumsum", x, axis=len(shape) - 1)).all()


@pytest.mark.parametrize("extent", [1, 7, 40, 300, 1100])
def test_a_scan_has_the_same_bits_whatever_lies_around_the_line(profile, extent):
    """One line of few, and one of many, along another axis: other schedules, the same order."""
    line = np.random.default_rng(extent).uniform(0.5, 1.9, extent).astype(np.float32)
    crowded = profile.replace(workers=1)
    many = np.repeat(line[:, None], profile.lanes + 3, axis=1)
    for exclusive, reverse in DIRECTIONS if extent < 100 else DIRECTIONS[:2]:
        attrs = {"axis": 0, "exclusive": exclusive, "reverse": reverse}
        alone = run(profile, "cumsum", line, **attrs)
        found = run(crowded, "cumsum", many, **attrs)
        for column in (0, profile.lanes + 2):
            same(found[:, column].copy(), alone)
    assert not _has_group_memory(crowded, "cumsum", many, axis=0)
    if extent > 2 * (profile.tree.block // profile.tree.lanes):
        assert _has_group_memory(profile, "cumsum", line, axis=0)


def _has_group_memory(profile, name, *arrays, **attrs):
    lowered = SINGLES[name](node_of(name, *arrays, **attrs), profile, LIMITS)
    return any(isinstance(s, Allocate) for s in statements(lowered.launches[0].kernel.body))


# -- sorts ----------------------------------------------------------------------------------------

SORTED = [((1,), 0), ((2,), 0), ((31,), 0), ((33,), 0), ((64,), 0), ((260,), 0), ((3, 17), 1),
          ((17, 3), 0), ((2, 70, 3), 1)]  # fmt: skip


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("shape", "axis"), SORTED)
def test_sorts_of_floats(profile, shape, axis, descending):
    x = values(float32, *shape, seed=2)
    for name in ("sort", "argsort"):
        agrees(profile, name, x, axis=axis, descending=descending)


@pytest.mark.parametrize("dtype", sorted(COMPUTABLE, key=str), ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_of_every_type(dtype, descending):
    x = values(dtype, 2, 150)
    attrs = {"axis": 1, "descending": descending}
    for name in ("sort", "argsort"):
        agrees(GPU_PROFILE, name, x, **attrs)


def test_sorted_already_and_all_equal(profile):
    for x in (np.arange(150, dtype=np.int32), np.arange(150, dtype=np.int32)[::-1].copy(),
              np.zeros(150, np.int32), np.full(130, np.nan, np.float32)):  # fmt: skip
        for descending in (False, True):
            attrs = {"axis": 0, "descending": descending}
            same(run(profile, "argsort", x, **attrs), get_op("argsort").reference(x, **attrs))


def test_groups_with_much_to_do(profile):
    """As on a device: a group takes many vectors."""
    busy = profile.replace(chunk=16384)
    x = values(int32, 100, 12)
    agrees(busy, "argsort", x, axis=0, descending=True)
    agrees(busy, "cumsum", x, axis=0, exclusive=False, reverse=True)
    agrees(busy, "check_bounds", x, extent=1 << 31, axis=0)


# -- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [int32, int64], ids=str)
@pytest.mark.parametrize("count", [0, 1, 17, 700])
def test_check_bounds(profile, dtype, count):
    attrs = {"extent": 10, "axis": 3}
    good = np.random.default_rng(0).integers(-10, 10, count).astype(dtype.numpy)
    assert run(profile, "check_bounds", good, **attrs).tolist() == [-1] * 4
    for wrong in (10, -11, np.iinfo(dtype.numpy).max, np.iinfo(dtype.numpy).min):
        for places in ([0], [count - 1], [count // 2, count - 1]):
            if count:
                bad = good.copy()
                bad[places[0]] = wrong
                bad[places[1:]] = 99
                expected = get_op("check_bounds").reference(bad, **attrs)
                assert expected[0] == 0
                same(run(profile, "check_bounds", bad, **attrs), expected)


def test_check_bounds_of_no_and_of_a_large_extent(profile):
    index = np.array([[0, -1], [1 << 40, 5]])
    for extent in (0, 1 << 40, (1 << 40) + 1):
        attrs = {"extent": extent, "axis": 0}
        same(
            run(profile, "check_bounds", index, **attrs),
            get_op("check_bounds").reference(index, **attrs),
        )
