"""Neighbours: elements that a lane moves at once, with a profile and a dialect that allow it."""

import re

import pytest
from realta import fusion
from realta.codegen.dialects import CUDA, OPENCL
from realta.codegen.lowering import lower
from realta.codegen.profile import GPU_PROFILE
from realta.codegen.rendering import render
from realta.codegen.rules import KERNEL_RULES
from realta.graph import Builder
from realta.types import TensorType

WIDE = GPU_PROFILE.replace(vector_bytes=16)


def kernel_of(dtype, shape, profile=WIDE, dialect=CUDA, start=0):
    """The text of ``-x`` and its schedule."""
    builder = Builder("neighbours")
    x = builder.input(TensorType(dtype, (shape[0] + start, *shape[1:]), "d:0"), "x")
    if start:
        stop = (shape[0] + start, *shape[1:])
        begin = (start, *[0] * (len(shape) - 1))
        x = builder.slice(x, start=begin, stop=stop, step=(1,) * len(shape))
    (group,) = fusion.plan(builder.finish(builder.neg(x)), rules=KERNEL_RULES).groups
    lowered = lower(group, profile)
    return render(lowered.launches[0].kernel, dialect, profile), lowered.schedule


@pytest.mark.parametrize(
    ("dtype", "width"), [("float64", 2), ("float32", 4), ("float16", 4), ("int8", 4)]
)
def test_a_lane_takes_as_many_neighbours_as_one_instruction_moves(dtype, width):
    text, schedule = kernel_of(dtype, (4096,))
    assert schedule == f"4096 elements, 256 lanes of {width}"
    assert text.count("in0[at") == text.count("out0[at") == width
    assert f"lane * {width} + {width - 1};" in text
    assert "(at" not in text.partition("in0[")[2]  # no predicate


def test_the_compiler_is_told_that_buffers_are_aligned():
    text, _ = kernel_of("float32", (4096,))
    assert "in0 = (const float *)__builtin_assume_aligned(in0, 16);" in text
    assert "out0 = (float *)__builtin_assume_aligned(out0, 16);" in text


def test_what_is_left_is_taken_one_by_one():
    text, _ = kernel_of("float32", (4100,))
    whole, rest = re.split(r"\n    }\n    if ", text)
    assert "if (group < 4) {" in whole
    assert "< 4100" not in whole
    assert "< 4100) ?" in rest


@pytest.mark.parametrize(
    ("shape", "start", "schedule"),
    [
        ((64, 2048), 0, "131072 elements, 256 lanes of 4"),
        ((1000,), 0, "1000 elements, 256 lanes of 2"),
        ((500,), 0, "500 elements, 256 lanes"),
    ],
)
def test_short_rows_are_taken_with_fewer_or_none(shape, start, schedule):
    assert kernel_of("float32", shape, start=start)[1] == schedule


def test_halves_are_loaded_before_any_is_converted_and_stored_after_all_are():
    text, _ = kernel_of("float16", (4096,))
    body = text[text.index("__global__") :]
    order = [
        "load" if "= in0[" in line else "widen" if "rt_widen" in line else
        "narrow" if "rt_narrow" in line else "store" if "out0[at" in line else ""
        for line in body.splitlines()
    ]  # fmt: skip
    assert [word for word in order if word] == [
        word for word in ("load", "widen", "narrow", "store") for _ in range(4)
    ]


def test_without_the_promise_of_alignment_nothing_changes():
    text, schedule = kernel_of("float32", (4096,), profile=GPU_PROFILE)
    assert schedule == "4096 elements, 256 lanes"
    assert "assume_aligned" not in text
    assert "assume_aligned" not in kernel_of("float32", (4096,), dialect=OPENCL)[0]


def test_long_inner_loops_are_not_left_to_the_compiler():
    builder = Builder("rows")
    x = builder.input(TensorType("float32", (64, 1024), "d:0"), "x")
    (group,) = fusion.plan(builder.finish(builder.sum(x, axes=(1,))), rules=KERNEL_RULES).groups
    text = render(lower(group, WIDE).launches[0].kernel, CUDA, WIDE)
    assert "#pragma unroll 8" in text
