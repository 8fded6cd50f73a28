"""Small kernels that the tests of the kernel IR share."""

import pytest
from realta.codegen.ir import Apply, Const, Kernel
from realta.codegen.writer import KernelWriter, inside
from realta.graph import Input
from realta.types import TensorType, float32


def value(dtype: str, *shape: int) -> Input:
    return Input(TensorType(dtype, shape))


@pytest.fixture
def column_sums() -> Kernel:
    """Two groups of four lanes sum the 24 and the 13 halves of a vector."""
    write = KernelWriter(2, 4)
    x = write.argument(value("float16", 37), "input", "x")
    y = write.argument(value("float32", 2), "output", "y")
    acc = write.declare(Const(-0.0, float32))
    with write.loop(6, "chunk") as chunk:
        i = (write.group * 6 + chunk) * 4 + write.lane
        term = write.load(x, i, inside(i, 37), Const(0.0, float32))
        write.assign(acc, Apply("add", (acc, term), float32))
    (total,) = write.fold([acc], "add", 4)
    write.store(y, write.group, total, inside(write.lane, 1), streaming=True)
    return write.build("sums", ["each group sums 24 elements"])


def reverse(*, barrier: bool) -> Kernel:
    """Each of three groups turns eight elements around through group memory."""
    write = KernelWriter(3, 8)
    x = write.argument(value("int32", 24), "input", "x")
    y = write.argument(value("int32", 24), "output", "y")
    stage = write.allocate(x.dtype, 8, "group", "stage")
    write.store(stage, write.lane, write.load(x, write.group * 8 + write.lane))
    if barrier:
        write.barrier()
    write.store(y, write.group * 8 + write.lane, write.load(stage, 7 - write.lane))
    return write.build("reverse")


@pytest.fixture
def staged_reverse() -> Kernel:
    return reverse(barrier=True)


@pytest.fixture
def racing_reverse() -> Kernel:
    return reverse(barrier=False)
