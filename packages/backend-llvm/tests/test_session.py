"""The session: memory in place, objects on disk, sources that LLVM does not take."""

import gc

import numpy as np
import pytest
import realta
from realta.backend import CompilationError, KernelSignature, OutOfMemory
from realta.codegen.ir import Buffer
from realta.plugins import open_device
from realta.runtime import as_bytes, shared_kernel_cache, writable_bytes
from realta.types import float32, tensor_type
from realta_llvm.launching import Launcher
from realta_llvm.machine import this_machine
from realta_llvm.session import LLVMSession
from realta_llvm.storage import ALIGNMENT

DOUBLE = """\
define void @double(ptr %x, ptr %y) {
  %a = load float, ptr %x, align 4
  %b = fadd float %a, %a
  store float %b, ptr %y, align 4
  ret void
}
"""
SIGNATURE = KernelSignature(
    "double", (Buffer("x", float32, 1), Buffer("y", float32, 1, role="output")), 1, 1, 0
)


def handle_of(session, array):
    handle = session.allocate(array.nbytes)
    session.write(handle, tensor_type(float32, array.shape), as_bytes(array))
    return handle


@pytest.mark.parametrize("nbytes", [0, 1, 100, 5 << 20])
def test_blocks_are_aligned(session, nbytes):
    assert session.allocate(nbytes).address % ALIGNMENT == 0


def test_what_is_written_is_read_and_seen(session):
    type = tensor_type(float32, (5,))
    x = np.arange(5, dtype=np.float32)
    handle = handle_of(session, x)
    found = np.empty(5, np.float32)
    session.read(handle, type, writable_bytes(found))
    assert (found == x).all()
    assert bytes(session.view(handle, type)) == x.tobytes()
    other = session.allocate(20)
    session.copy(handle, other, type)
    assert bytes(session.view(other, type)) == x.tobytes()


def test_a_part_is_the_same_memory(session):
    handle = handle_of(session, np.arange(64, dtype=np.float32))
    part = session.slice(handle, 128, 16)
    assert part.address == handle.address + 128
    shown = session.view(part, tensor_type(float32, (4,)))
    assert np.frombuffer(shown, np.float32).tolist() == [32.0, 33.0, 34.0, 35.0]


def test_arrays_are_adopted_where_they_lie(session):
    x = np.zeros(33, np.float32)[1:]
    assert session.adopt(x).address == x.__array_interface__["data"][0]
    x.flags.writeable = False
    assert session.adopt(x) is not None
    assert session.adopt(np.zeros((4, 4), np.float32).T) is None
    assert session.adopt(np.frombuffer(b"x" * 21, np.uint8)[1:].view(np.float32)) is None


def test_too_much_memory_is_an_error_with_the_number(session):
    with pytest.raises(OutOfMemory, match="1152921504606846976"):
        session.allocate(1 << 60)


def test_a_module_is_built_and_called(session):
    module = session.build(DOUBLE, [SIGNATURE])
    x, y = handle_of(session, np.array([3.0], np.float32)), session.allocate(4)
    session.prepare(module, SIGNATURE)(x, y)
    assert y.array[:4].view(np.float32)[0] == 6.0
    session.launch(module, "double", (1, 1, 1), (1, 1, 1), [y, x], 0)
    assert x.array[:4].view(np.float32)[0] == 12.0


def test_a_prepared_kernel_keeps_its_module(session):
    call = session.prepare(session.build(DOUBLE, [SIGNATURE]), SIGNATURE)
    session.close()
    gc.collect()
    x, y = handle_of(session, np.array([3.0], np.float32)), session.allocate(4)
    call(x, y)
    assert y.array[:4].view(np.float32)[0] == 6.0


def test_a_source_that_llvm_does_not_take_is_shown(session):
    with pytest.raises(CompilationError) as caught:
        session.build("define void @f() { ret i32 1 }", [])
    assert "ret i32 1" in caught.value.source
    assert "error" in caught.value.log


def test_objects_are_kept_and_loaded(session, monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path))
    session.build(DOUBLE, [SIGNATURE])
    assert shared_kernel_cache().info().entries == 1
    monkeypatch.setattr(type(session.machine), "compile", None)  # it must not be asked again
    other = LLVMSession(this_machine(), session.width)
    x, y = handle_of(other, np.array([3.0], np.float32)), other.allocate(4)
    other.prepare(other.build(DOUBLE, [SIGNATURE]), SIGNATURE)(x, y)
    assert y.array[:4].view(np.float32)[0] == 6.0


def test_an_object_that_cannot_be_loaded_is_built_anew(session, monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path))
    cache = shared_kernel_cache()
    cache.keep(cache.key("llvm", session.fingerprint, DOUBLE), b"no object")
    module = session.build(DOUBLE, [SIGNATURE])
    x, y = handle_of(session, np.array([3.0], np.float32)), session.allocate(4)
    session.prepare(module, SIGNATURE)(x, y)
    assert y.array[:4].view(np.float32)[0] == 6.0


def test_long_kernels_are_shared_and_short_ones_are_not(session):
    module = session.build(DOUBLE, [SIGNATURE])
    large = (Buffer("x", float32, 1 << 20), Buffer("y", float32, 1 << 20, role="output"))
    long = KernelSignature("double", large, 64, 1, 0)
    assert Launcher(module.library, long, 0).call().__name__ == "_shared"
    short = KernelSignature("double", SIGNATURE.buffers, 64, 1, 0)
    assert Launcher(module.library, short, 0).call().__name__ == "_inline"
    assert Launcher(module.library, SIGNATURE, 0).call().__name__ == "_once"


def test_a_function_outlives_all_that_it_came_from(session):
    function = Launcher(session.build(DOUBLE, [SIGNATURE]).library, SIGNATURE, 0).function
    gc.collect()
    x, y = handle_of(session, np.array([3.0], np.float32)), session.allocate(4)
    function(x.address, y.address)
    assert y.array[:4].view(np.float32)[0] == 6.0


def test_bare_calls_outlive_the_cache_of_programs():
    x = realta.Tensor([1.0, 2.0], device="llvm:0")
    assert (x + x).tolist() == (x + x).tolist() == [2.0, 4.0]  # the second call is remembered
    open_device("llvm:0").programs.clear()
    gc.collect()
    others = [x - x, x * x, x / x, x % x]  # their code would lie where that of the sum lay
    assert (x + x).tolist() == [2.0, 4.0]
    assert [t.tolist() for t in others] == [[0.0, 0.0], [1.0, 4.0], [1.0, 1.0], [0.0, 0.0]]
