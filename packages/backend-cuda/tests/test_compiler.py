"""The compiler: NVRTC without a driver, errors that show everything, images kept on disk."""

from pathlib import Path

import pytest
from realta.backend import CompilationError
from realta.codegen.dialects import CUDA
from realta.runtime import KernelCache
from realta_cuda import compiler
from realta_cuda.compiler import build_image, compile_cubin

SOURCE = 'extern "C" __global__ void k(float *x) { x[threadIdx.x] = 1.0f; }'


@pytest.mark.parametrize("arch", ["sm_75", "sm_120"])
def test_a_cubin_for_an_architecture_that_is_not_here(arch):
    compiled = compile_cubin(SOURCE, arch, CUDA.options)
    assert compiled.cubin[:4] == b"\x7fELF"
    assert int.from_bytes(compiled.cubin[18:20], "little") == 190  # EM_CUDA


def test_what_does_not_compile_is_shown_with_its_log_and_its_file():
    with pytest.raises(CompilationError, match="does not take a generated source") as caught:
        compile_cubin("extern void nonsense(;", "sm_90", CUDA.options)
    error = caught.value
    assert "error:" in error.log
    assert error.source == "extern void nonsense(;"
    assert Path(error.where).read_text() == error.source
    Path(error.where).unlink()


def test_no_header_is_needed_and_none_is_there():
    with pytest.raises(CompilationError, match="does not take") as caught:
        compile_cubin("#include <stdint.h>\n" + SOURCE, "sm_90", CUDA.options)
    Path(caught.value.where).unlink()


def test_an_image_is_compiled_once(tmp_path, monkeypatch):
    cache = KernelCache(tmp_path)
    first = build_image(SOURCE, "sm_90", CUDA.options, cache, ("1",))
    monkeypatch.setattr(compiler, "compile_cubin", None)
    assert build_image(SOURCE, "sm_90", CUDA.options, cache, ("1",)) == first
    with pytest.raises(TypeError):  # another architecture, generator or source is another image
        build_image(SOURCE, "sm_80", CUDA.options, cache, ("1",))
    with pytest.raises(TypeError):
        build_image(SOURCE, "sm_90", CUDA.options, cache, ("2",))


def test_options_keep_every_rounding_step():
    source = 'extern "C" __global__ void k(float *x, float a) { x[0] = x[0] * a + x[1]; }'
    log = compile_cubin(source, "sm_90", CUDA.options, verbose=True).log
    assert "Used" in log
    with pytest.raises(KeyError):
        compile_cubin(source, "sm_90", ("--use_fast_math",))
