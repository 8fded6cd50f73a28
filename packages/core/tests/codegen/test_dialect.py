"""Dialects: what each spells, and that each has all that the renderers ask for."""

import inspect

import pytest
from realta.codegen import dialects
from realta.codegen.dialects import CUDA, OPENCL, C
from realta.codegen.ir import Kernel
from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE
from realta.codegen.rendering import render
from realta.errors import UnsupportedOp
from realta.types import DTYPES, bool_, float16, float32, float64, int64

ALL = [C, CUDA, OPENCL]


@pytest.mark.parametrize("dialect", ALL, ids=lambda d: d.name)
def test_every_type_has_a_name(dialect):
    assert set(dialect.types) == set(DTYPES)
    for dtype in DTYPES:
        assert dialect.spelled(dtype) == dialect.types[dtype]


def test_registers_hold_compute_types():
    assert OPENCL.register(float16, 16) == "float16"
    assert OPENCL.register(bool_, 8) == "int8"
    assert OPENCL.spelled(float16, 4) == "ushort4"
    assert C.register(bool_) == "int32_t"


def test_library_functions():
    assert OPENCL.function("exp", float64) == OPENCL.function("exp", float32) == "exp"
    assert (C.function("exp", float32), C.function("exp", float64)) == ("expf", "exp")


def test_pointers_name_their_space():
    assert OPENCL.pointer("group", int64, True) == "__local const long *"
    assert C.pointer("global", int64, False) == "int64_t *"


@pytest.mark.parametrize("name", ["c", "cuda", "opencl"])
def test_a_dialect_is_a_page(name):
    module = inspect.getmodule(getattr(dialects, name))
    assert len(inspect.getsource(module).splitlines()) <= 80


def test_lanes_that_a_language_cannot_realize():
    kernel = Kernel("k", (), 1, 3, ())
    with pytest.raises(UnsupportedOp, match="cannot realize lanes as 'items'"):
        render(kernel, C, GPU_PROFILE)
    with pytest.raises(UnsupportedOp, match="no vectors of 3 elements"):
        render(kernel, OPENCL, CPU_PROFILE)


def test_contraction_is_off_everywhere():
    assert "FP_CONTRACT OFF" in OPENCL.basics
    assert "-ffp-contract=off" in C.options
    assert "--fmad=false" in CUDA.options
    assert not any("fast" in option and "no-fast" not in option for option in OPENCL.options)


def test_cuda_needs_no_header():
    kernel = Kernel("k", (), 1, 32, ())
    text = render(kernel, CUDA, GPU_PROFILE)
    assert "#include" not in text
    assert "INFINITY" not in text
