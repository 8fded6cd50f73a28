"""Images: what is compiled, kept, and refused."""

import shutil
from pathlib import Path

import pytest
import realta_cuda_emulator as emulator
from realta_cuda_emulator import compiling

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="the emulator needs g++")

ADD_ONE = (Path(__file__).parent / "kernels" / "add_one.cu").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("REALTA_CACHE", "on")


@pytest.fixture
def compiled(monkeypatch):
    """The options of each run of the compiler."""
    runs = []

    def counted(unit, flags):
        runs.append(flags)
        return original(unit, flags)

    original = compiling._compiled
    monkeypatch.setattr(compiling, "_compiled", counted)
    return runs


def test_an_image_is_compiled_once(compiled):
    first = emulator.compile(ADD_ONE, ("--fmad=false", "--gpu-architecture=sm_90"))
    second = emulator.compile(ADD_ONE, ("--gpu-architecture=sm_100",))
    assert first == second
    assert first[:4] == b"\x7fELF"
    assert len(compiled) == 1


def test_what_changes_an_image_makes_another(compiled, monkeypatch):
    emulator.compile(ADD_ONE)
    emulator.compile(ADD_ONE + "\n// another")
    emulator.compile(ADD_ONE, ("-DX=1",))
    monkeypatch.setenv("REALTA_CUDA_EMULATE_CHECK", "on")
    emulator.compile(ADD_ONE)
    assert len(compiled) == 4
    assert "-fsanitize=thread" in compiled[3]


def test_nothing_is_kept_where_the_cache_is_off(compiled, monkeypatch):
    monkeypatch.setenv("REALTA_CACHE", "off")
    assert emulator.compile(ADD_ONE) == emulator.compile(ADD_ONE)
    assert len(compiled) == 2


def test_products_and_sums_are_not_contracted():
    """One rounding each, as NVRTC is asked for."""
    assert "-ffp-contract=off" in compiling._FLAGS


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ('extern "C" __global__ void __launch_bounds__(96)\nk(int *x) {}', {"k": 96}),
        ('extern "C" __global__ void k(int *x) {}', {"k": 1024}),
        (('extern "C" __global__ void __launch_bounds__(64, 2) a() {}\n'
         'extern "C" __global__ void b() {}'), {"a": 64, "b": 1024}),
        ("__device__ int f(int x) { return x; }", {}),
    ],
)  # fmt: skip
def test_kernels_are_found(head, names):
    assert compiling.kernel_names(head) == names


@pytest.mark.parametrize("name", ["INFINITY", "int32_t", "printf", "NAN", "size_t"])
def test_names_that_nvrtc_lacks_are_not_there(name):
    source = 'extern "C" __global__ void k(float *x) { (void)sizeof(' + name + "); }"
    with pytest.raises(emulator.KernelCompilationError, match=f"'{name}' was not declared"):
        emulator.compile(source)
