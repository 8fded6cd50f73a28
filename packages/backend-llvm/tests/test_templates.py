"""Templates: what kernels of certain shapes look like as LLVM IR."""

import pytest
from realta.codegen import CPU_PROFILE, lower
from realta.fusion import plan
from realta.graph import Builder
from realta.types import float32, float64, tensor_type
from realta_llvm.render import Renderer


def text(build, *shapes, width=8, dtype=float32):
    """The kernels of a graph of one output."""
    builder = Builder()
    inputs = [builder.input(tensor_type(dtype, shape)) for shape in shapes]
    graph = builder.finish(build(builder, *inputs))
    found = []
    for group in plan(graph).groups:
        launches = lower(group, CPU_PROFILE).launches
        found += [Renderer(width).module([launch.kernel]) for launch in launches]
    return "\n".join(found)


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_tiles_are_turned_by_shuffles(width, dtype):
    found = text(lambda b, x: b.permute(b.neg(x), axes=(1, 0)), (64, 64), width=width, dtype=dtype)
    assert "%tile0.turned = alloca" in found
    assert "masked.gather" not in found
    assert "masked.scatter" not in found


def softmax(b, x):
    shape = x.type.shape
    most = b.broadcast(b.reshape(b.max(x, axes=(1,)), shape=(shape[0], 1)), shape=shape)
    raised = b.exp(b.sub(x, most))
    total = b.broadcast(b.reshape(b.sum(raised, axes=(1,)), shape=(shape[0], 1)), shape=shape)
    return b.div(raised, total)


def test_rows_that_are_read_again_are_prefetched():
    assert "call void @llvm.prefetch" in text(softmax, (64, 2048))
    assert "call void @llvm.prefetch" not in text(softmax, (64, 32))
    assert "call void @llvm.prefetch" not in text(lambda b, x: b.neg(x), (64, 2048))


def test_large_results_are_stored_past_the_caches():
    assert "!nontemporal" in text(lambda b, x: b.neg(x), (3 << 20,))
    assert "!nontemporal" not in text(lambda b, x: b.neg(x), (1000,))


def test_nothing_is_contracted_or_fast():
    found = text(lambda b, x, y: b.add(b.mul(x, y), y), (100,), (100,))
    assert "fmul <8 x float>" in found
    assert "fadd <8 x float>" in found
    assert "fma" not in found


def test_one_group_takes_no_range():
    assert "i64 %first" not in text(lambda b, x: b.neg(x), (40,))
    assert "i64 %first" in text(lambda b, x: b.neg(x), (100_000,))


def test_long_functions_are_written_once():
    found = text(lambda b, x, y: b.pow(x, y), (1000,), (1000,))
    assert found.count("define internal <8 x float> @pow_f32x8") == 1
    assert found.count("call <8 x float> @pow_f32x8") > 1
