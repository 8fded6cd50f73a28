"""The machine: widths, fingerprints, code for processors that are not here."""

import llvmlite.binding as llvm
import pytest
from realta.backend import ArgumentError
from realta.codegen import CPU_PROFILE, Kernel, lower
from realta.fusion import plan
from realta.graph import Builder
from realta.types import float32, tensor_type
from realta_llvm import machine as machine_module
from realta_llvm.machine import Machine, host_width, this_machine
from realta_llvm.render import Renderer


def kernels():
    """A kernel of each template that reads and writes vectors."""
    builder = Builder()
    x = builder.input(tensor_type(float32, (40, 33)))
    y = builder.exp(builder.mul(x, x))
    graph = builder.finish(
        y, builder.sum(y, axes=(1,)), builder.max(x, axes=(0,)), builder.permute(x, axes=(1, 0))
    )
    found = []
    large = Builder()
    long = large.input(tensor_type(float32, (3 << 20,)))
    groups = [*plan(graph).groups, *plan(large.finish(large.neg(long))).groups]
    for number, group in enumerate(groups):
        for launch in lower(group, CPU_PROFILE).launches:
            k = launch.kernel
            name = f"{k.name}_{number}_{len(found)}"
            found.append(Kernel(name, k.buffers, k.groups, k.lanes, k.body, k.notes))
    return found


def test_the_width_is_the_processors_unless_told(monkeypatch):
    monkeypatch.delenv("REALTA_LLVM_WIDTH", raising=False)
    assert host_width() in (4, 8, 16)
    monkeypatch.setenv("REALTA_LLVM_WIDTH", "4")
    assert host_width() == 4


def test_a_width_that_there_is_not_is_named(monkeypatch):
    monkeypatch.setenv("REALTA_LLVM_WIDTH", "7")
    with pytest.raises(ArgumentError) as caught:
        host_width()
    assert str(caught.value) == (
        "REALTA_LLVM_WIDTH is 4, 8 or 16, got '7'\n"
        "  where: environment variable REALTA_LLVM_WIDTH\n"
        "  fix: unset it for the widest vectors of this processor"
    )


def test_fingerprints_tell_processors_apart():
    here = this_machine().fingerprint
    assert "LLVM" in here
    assert Machine(cpu="x86-64", features="").fingerprint != here


@pytest.mark.parametrize("width", [4, 8, 16])
def test_vectors_have_the_width(width):
    text = Renderer(width).module(kernels())
    assert f"<{width} x float>" in text
    wider = {8: "<16 x float>", 4: "<8 x float>"}.get(width)
    assert wider is None or wider not in text


def test_kernels_compile_for_arm_with_neon():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = Machine("aarch64-unknown-linux-gnu", "neoverse-n1", "+neon")
    source = Renderer(4).module(kernels())
    assert machine.compile(source)[:4] == b"\x7fELF"
    assembly = machine.assembly(source)
    assert "fmul\tv" in assembly
    assert ".4s" in assembly


def test_what_a_processor_lacks_is_told(monkeypatch):
    monkeypatch.setattr(machine_module, "host_features", lambda: {"sse2": True, "f16c": False})
    assert not machine_module.converts_halves()
    monkeypatch.setattr(machine_module, "host_features", lambda: {"neon": True})
    assert machine_module.converts_halves()


def test_avx512_is_used_where_it_is():
    machine = Machine("x86_64-unknown-linux-gnu", "skylake-avx512", "")
    assembly = machine.assembly(Renderer(16).module(kernels()))
    assert "%zmm" in assembly
