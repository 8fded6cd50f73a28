"""Reductions by generated kernels: the canonical tree, bit for bit, in every layout."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from realta.codegen.interpreter import interpret_lowered
from realta.codegen.ir import Tree
from realta.codegen.lowering import lower
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE
from realta.codegen.verifier import verify_kernel
from realta.fusion import Limits, plan
from realta.graph import Builder
from realta.passes import normalize
from realta.types import as_dtype, tensor_type

SMALL_PROFILE = GPU_PROFILE.replace(
    name="small", lanes=16, tree=Tree(4, 16), chunk=64, workers=3, lane_bytes=256
)
PROFILES = {p.name: p for p in (CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE, SMALL_PROFILE)}
UFUNCS = {"sum": np.add, "prod": np.multiply}


def by_the_tree(ufunc, terms, tree):
    """What the docstring of Tree says, for terms of shape (rows, n) in their accumulation type."""
    unit = terms.dtype.type(-0.0 if ufunc is np.add else 1)
    while True:
        rows, count = terms.shape
        blocks = -(-count // tree.block)
        padded = np.full((rows, blocks * tree.block), unit)
        padded[:, :count] = terms
        turns = padded.reshape(rows, blocks, tree.block // tree.lanes, tree.lanes)
        lanes = np.full((rows, blocks, tree.lanes), unit)
        for turn in range(turns.shape[2]):
            lanes = ufunc(lanes, turns[:, :, turn])
        while lanes.shape[2] > 1:
            half = lanes.shape[2] // 2
            lanes = ufunc(lanes[..., :half], lanes[..., half:])
        terms = lanes[..., 0]
        if blocks == 1:
            return terms[:, 0]


def lowered(builder, *outputs, profile, limits=None):
    graph = normalize(builder.finish(*outputs), keeps=lambda node: False)
    groups = plan(graph, limits or Limits()).groups
    return graph, [(g, lower(g, profile, limits or Limits())) for g in groups]


def computed(graph, groups, profile, *arrays):
    stored = dict(zip(graph.inputs, arrays, strict=True))
    for group, found in groups:
        for launch in found.launches:
            verify_kernel(launch.kernel, profile)
        stored |= interpret_lowered(found, {v: stored[v] for v in group.inputs})
    return [stored[v] for v in graph.outputs]


def terms_of(x, axes):
    kept = [n for n in range(x.ndim) if n not in axes]
    rows = prod(x.shape[n] for n in kept)
    return x.transpose([*kept, *axes]).reshape(rows, -1)


def check_sum(profile, x, axes, *, name="sum", order=None):
    """Reduces a transposed view of an array, and compares with the tree over what it shows."""
    builder = Builder("reduction")
    order = order or tuple(range(x.ndim))
    stored = np.ascontiguousarray(x.transpose(np.argsort(order)))
    value = builder.input(tensor_type(as_dtype(x.dtype.name), stored.shape), name="x")
    shown = builder.permute(value, axes=order)
    graph, groups = lowered(builder, getattr(builder, name)(shown, axes=axes), profile=profile)
    (found,) = computed(graph, groups, profile, stored)
    wanted = by_the_tree(UFUNCS[name], terms_of(x, axes), profile.tree)
    assert found.tobytes() == wanted.reshape(found.shape).tobytes()
    return groups


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_every_schedule_has_the_bits_of_the_tree(profile, data):
    rank = data.draw(st.integers(1, 4))
    most = {1: 3000, 2: 150, 3: 30, 4: 9}[rank]
    shape = data.draw(st.lists(st.integers(1, most), min_size=rank, max_size=rank))
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, rank - 1), min_size=1))))
    order = tuple(data.draw(st.permutations(range(rank))))
    name = data.draw(st.sampled_from(["sum", "prod"]))
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    x = random.uniform(0.9, 1.1, shape).astype(data.draw(st.sampled_from(["f4", "f8"])))
    check_sum(profile, x, axes, name=name, order=order)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((10000,), (0,)),
        ((3, 3000), (1,)),
        ((2500, 3), (0,)),
        ((2100, 20), (0,)),
        ((2, 600, 33), (1,)),
        ((70, 6, 50), (0, 2)),
        ((3, 17, 5, 19), (1, 3)),
        ((1000, 3), (1,)),
    ],
)
def test_long_and_short_reductions_have_the_bits_of_the_tree(profile, shape, axes):
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    check_sum(profile, x, axes)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_few_long_rows_take_two_launches(profile):
    x = np.random.default_rng(1).standard_normal(70000).astype(np.float32)
    ((_, found),) = check_sum(profile, x, (0,))
    assert [launch.kernel.name for launch in found.launches] == ["row_blocks", "rows"]
    assert found.launches[0].kernel.groups > 1


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_leading_axes_are_reduced_down_columns(profile):
    x = np.random.default_rng(1).standard_normal((30, 600)).astype(np.float32)
    ((_, found),) = check_sum(profile, x, (0,))
    assert [launch.kernel.name for launch in found.launches] == ["columns"]


def test_halves_accumulate_in_float32_and_round_once():
    x = np.full((3, 5000), 0.1, np.float16)
    builder = Builder("halves")
    value = builder.input(tensor_type(as_dtype("float16"), x.shape), name="x")
    total = builder.sum(value, axes=(1,))
    graph, groups = lowered(builder, total, profile=CPU_PROFILE)
    (found,) = computed(graph, groups, CPU_PROFILE, x)
    wanted = by_the_tree(np.add, x.astype(np.float32), CPU_PROFILE.tree).astype(np.float16)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize(("shape", "axis"), [((3, 1100), 1), ((530, 30), 0), ((4, 5), 1)])
def test_arguments_are_those_of_the_first_extreme(profile, name, shape, axis):
    random = np.random.default_rng(3)
    for dtype in ("float32", "int64", "bool"):
        x = random.integers(0, 2 if dtype == "bool" else 50, shape).astype(dtype)
        if dtype == "float32":
            x[0] = -np.inf if name == "argmax" else np.inf
            x[random.random(shape) < 0.001] = np.nan
        builder = Builder("arguments")
        value = builder.input(tensor_type(as_dtype(dtype), shape), name="x")
        graph, groups = lowered(builder, getattr(builder, name)(value, axis=axis), profile=profile)
        (found,) = computed(graph, groups, profile, x)
        assert np.array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
def test_reductions_over_nothing_give_the_unit_and_what_follows(profile):
    builder = Builder("nothing")
    x = builder.input(tensor_type(as_dtype("float32"), (3, 0)), name="x")
    b = builder.input(tensor_type(as_dtype("bool"), (0, 2)), name="b")
    total, product = builder.sum(x, axes=(1,)), builder.prod(x, axes=(1,))
    outputs = (
        builder.add(total, builder.const(2.0, like=total)), product, builder.neg(x),
        builder.any(b, axes=(0,)), builder.all(b, axes=(0,)),
    )  # fmt: skip
    graph, groups = lowered(builder, *outputs, profile=profile)
    arrays = np.zeros((3, 0), np.float32), np.zeros((0, 2), bool)
    stored = dict(zip(graph.inputs, arrays, strict=True))
    for group, found in groups:
        stored |= interpret_lowered(found, {v: stored[v] for v in group.inputs})
    wanted = ([2.0] * 3, [1.0] * 3, None, [False] * 2, [True] * 2)
    for value, want in zip(graph.outputs, wanted, strict=True):
        if want is not None:
            assert stored[value].tolist() == want
