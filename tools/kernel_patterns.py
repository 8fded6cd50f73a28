"""Kernel patterns: ten graphs, each of a schedule of its own, for looking at what becomes of them.

The static tier asks of each what its machine code must have, and the docs show their sources.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from realta import fusion
from realta.codegen import DeviceProfile, Kernel, lower
from realta.fusion import Limits
from realta.fusion.rules import Rules
from realta.graph import Builder, Value
from realta.passes import Decompose
from realta.types import TensorType, uint32

__all__ = ["PATTERNS", "Pattern", "kernels_of"]


class Pattern(NamedTuple):
    """A graph that one schedule computes.

    Args:
        name: its name.
        about: what is special about it.
        types: dtypes and shapes of its operands.
        write: writes it.
        wanted: beginnings of opcodes that its code for NVIDIA's GPUs must have.
    """

    name: str
    about: str
    types: tuple[tuple[str, tuple[int, ...]], ...]
    write: Callable[..., Value]
    wanted: tuple[str, ...]


def _activation(b: Builder, x: Value, y: Value) -> Value:
    total: Value = b.add(b.mul(x, y), b.const(0.5, like=x))
    found: Value = b.maximum(total, b.const(0.0, like=x))
    return found


PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "elementwise", "four neighbours to a lane, loaded and stored as 16 bytes",
        (("float32", (4096,)), ("float32", (4096,))), _activation,
        ("LDG.E.128", "STG.E.128"),
    ),
    Pattern(
        "elementwise-half", "converted in registers, loaded and stored as 8 bytes",
        (("float16", (4096,)),), lambda b, x: b.mul(x, x),
        ("LDG.E.64", "STG.E.64"),
    ),
    Pattern(
        "bias", "rows of a matrix with a vector that is the same for all",
        (("float32", (64, 2048)), ("float32", (2048,))),
        lambda b, x, y: b.add(x, b.broadcast(y, shape=(64, 2048))),
        ("LDG.E.128", "STG.E.128"),
    ),
    Pattern(
        "row-sum", "the tree of a row, by exchanging registers",
        (("float32", (64, 2048)),), lambda b, x: b.sum(x, axes=(1,)),
        ("LDG.E", "SHFL", "STG.E"),
    ),
    Pattern(
        "column-sum", "neighbouring lanes sum neighbouring columns",
        (("float32", (2048, 256)),), lambda b, x: b.sum(x, axes=(0,)),
        ("LDG.E", "FADD", "STG.E"),
    ),
    Pattern(
        "softmax", "two reductions of a row and what is made of them, in one kernel",
        (("float32", (64, 512)),), lambda b, x: b.softmax(x, axis=1),
        ("LDG.E", "SHFL", "MUFU.EX2", "STG.E"),
    ),
    Pattern(
        "transpose", "through tiles of shared memory whose lines are one element longer",
        (("float32", (256, 512)),), lambda b, x: b.neg(b.permute(x, axes=(1, 0))),
        ("LDG.E", "STS", "BAR", "LDS", "STG.E"),
    ),
    Pattern(
        "matmul", "panels in shared memory, a block of the result in the registers of a lane",
        (("float32", (128, 256)), ("float32", (256, 128))), lambda b, x, y: b.matmul(x, y),
        ("LDG.E", "STS", "BAR", "LDS", "FMUL", "FADD", "STG.E"),
    ),
    Pattern(
        "scan", "pieces of a line by lanes, their sums, then the pieces again",
        (("float32", (8, 4096)),),
        lambda b, x: b.cumsum(x, axis=1, exclusive=False, reverse=False),
        ("LDG.E", "STS", "LDS", "FADD", "STG.E"),
    ),
    Pattern(
        "philox", "random bits of a counter; no memory is read but the state",
        (("uint32", (4,)),),
        lambda b, x: b.philox_bits(x, shape=(4096,), dtype=uint32, device="d:0"),
        ("IMAD", "STG.E"),
    ),
)  # fmt: skip


def kernels_of(
    pattern: Pattern, profile: DeviceProfile, limits: Limits, rules: Rules
) -> list[Kernel]:
    """The kernels of a pattern, in order.

    Args:
        pattern: the pattern.
        profile: what schedules are made from.
        limits: the device's limits.
        rules: how kernels are planned.
    """
    builder = Builder(pattern.name)
    operands = [
        builder.input(TensorType(dtype, shape, "d:0"), f"x{n}")
        for n, (dtype, shape) in enumerate(pattern.types)
    ]
    graph = Decompose(lambda node: False).run(builder.finish(pattern.write(builder, *operands)))
    return [
        launch.kernel
        for group in fusion.plan(graph, limits, rules=rules).groups
        if any(node.op.name != "constant" for node in group.nodes)
        for launch in lower(group, profile, limits).launches
    ]
