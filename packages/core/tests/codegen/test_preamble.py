"""The preamble: only what is used, each helper before its callers, for numbers and vectors."""

from realta.codegen.dialects import OPENCL, C
from realta.codegen.preamble import HEADER, Preamble
from realta.codegen.render_helpers import find_helper
from realta.types import bfloat16, float32, float64, int32, uint16


def helper(op, *types, result=None, target=None):
    return find_helper(op, types, result or types[0], target)


def test_nothing_is_emitted_unasked():
    assert "rt_" not in Preamble(OPENCL).text()


def test_the_first_line_is_the_licence():
    assert Preamble(C).text().startswith(HEADER)
    assert HEADER.splitlines()[0] == "// SPDX-License-Identifier: 0BSD"


def test_a_helper_is_emitted_once():
    preamble = Preamble(OPENCL)
    names = {preamble.call(helper("floor_div", int32, int32), 16) for _ in range(3)}
    assert names == {"rt_floor_div_i32x16"}
    assert preamble.text().count("rt_floor_div_i32x16(") == 1


def test_helpers_stand_before_their_callers():
    preamble = Preamble(OPENCL)
    preamble.call(helper("round_to", float32, target=bfloat16), 16)
    text = preamble.text()
    called = text.index("ushort16 rt_narrow_bf16x16(")
    assert called < text.index("float16 rt_round_bf16x16(")


def test_numbers_and_vectors_come_from_one_definition():
    preamble = Preamble(OPENCL)
    preamble.call(helper("maximum", float32, float32), 1)
    preamble.call(helper("maximum", float32, float32), 16)
    text = preamble.text()
    assert "static inline float rt_maximum_f32(float x, float y)" in text
    assert "static inline float16 rt_maximum_f32x16(float16 x, float16 y)" in text
    assert "as_float16(as_uint16(x) & as_uint16(y))" in text


def test_doubles_are_asked_for_only_where_used():
    preamble = Preamble(OPENCL)
    preamble.call(helper("maximum", float32, float32), 1)
    assert "cl_khr_fp64" not in preamble.text()
    preamble.call(helper("maximum", float64, float64), 1)
    assert "cl_khr_fp64" in preamble.text()


def test_single_precision_helpers_are_free_of_doubles():
    preamble = Preamble(OPENCL)
    for op in ("mod", "floor_div", "logaddexp", "nextafter"):
        preamble.call(helper(op, float32, float32), 16)
    preamble.call(helper("sin", float32), 16)
    preamble.call(helper("narrow", float32, result=uint16, target=bfloat16), 16)
    assert "double" not in preamble.text()


def test_unknown_instructions_have_no_helper():
    assert helper("exp", float32) is None
    assert helper("shift_left", float32, float32) is None


def test_comments_say_what_a_helper_computes():
    preamble = Preamble(C)
    preamble.call(helper("narrow", float32, result=uint16, target=bfloat16), 1)
    assert "// the bits of the nearest bf16" in preamble.text()
