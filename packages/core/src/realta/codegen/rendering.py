"""Rendering: kernels as source text of a C-family language."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from realta.codegen.dialect import CDialect
from realta.codegen.ir import Allocate, Buffer, Fold, Kernel
from realta.codegen.preamble import Preamble
from realta.codegen.profile import DeviceProfile
from realta.codegen.render_items import ItemsText
from realta.codegen.render_kernel import KernelText
from realta.codegen.render_loop import LoopText
from realta.codegen.render_vector import VectorText
from realta.codegen.walking import statements
from realta.errors import UnsupportedOp
from realta.records import Record
from realta.types import DType, bool_, int32

__all__ = ["KernelSignature", "render", "signature", "translation_unit"]


class KernelSignature(Record):
    """What a caller of a rendered kernel must know.

    Args:
        name: the function's name.
        buffers: its arguments, in order.
        groups: number of groups.
        items: work-items of a group: 1 unless lanes are work-items.
        local_bytes: bytes of group memory that the kernel declares itself.
    """

    __slots__ = ("buffers", "groups", "items", "local_bytes", "name")

    name: str
    buffers: tuple[Buffer, ...]
    groups: int
    items: int
    local_bytes: int

    def __init__(
        self, name: str, buffers: tuple[Buffer, ...], groups: int, items: int, local_bytes: int
    ) -> None:
        self._set(buffers, groups, items, local_bytes, name)


def signature(kernel: Kernel, profile: DeviceProfile) -> KernelSignature:
    """How a kernel that was rendered for a profile is launched."""
    items = kernel.lanes if profile.realization == "items" else 1
    local = sum(
        prod((s.buffer.size, s.buffer.dtype.itemsize))
        for s in statements(kernel.body)
        if isinstance(s, Allocate) and s.buffer.space == "group"
    )
    if items > 1:
        local += sum(kernel.lanes * dtype.itemsize for dtype, _number in _scratch(kernel))
    return KernelSignature(kernel.name, kernel.buffers, kernel.groups, items, local)


def _scratch(kernel: Kernel) -> set[tuple[DType, int]]:
    """Types of the arrays that folds use, and which of a fold's values each is for."""
    return {
        (int32 if var.dtype is bool_ else var.dtype, number)
        for statement in statements(kernel.body)
        if isinstance(statement, Fold) and statement.width > 1
        for number, var in enumerate(statement.results)
    }


def render(
    kernel: Kernel, dialect: CDialect, profile: DeviceProfile, *, notes: bool = False
) -> str:
    """The source of one kernel with the helpers it needs; as `translation_unit`."""
    return translation_unit((kernel,), dialect, profile, notes=notes)


def translation_unit(
    kernels: Sequence[Kernel], dialect: CDialect, profile: DeviceProfile, *, notes: bool = False
) -> str:
    """The source of several kernels with the helpers that they need.

    Args:
        kernels: verified kernels of different names.
        dialect: the language.
        profile: the device's profile, which tells how lanes are realized.
        notes: whether values carry the notes of their `Let`. They name lines of the user's program,
            so that two equal programs would not share a cached binary.

    Raises:
        UnsupportedOp: the language cannot realize lanes in this way or in this number, or a kernel
            has an instruction that has no C text.
    """
    preamble = Preamble(dialect)
    texts = [_text(kernel, dialect, profile, preamble, notes).render() for kernel in kernels]
    return "\n".join([preamble.text(), *texts])


def _text(
    kernel: Kernel, dialect: CDialect, profile: DeviceProfile, preamble: Preamble, notes: bool
) -> KernelText:
    realization = profile.realization
    if realization not in dialect.realizations:
        raise UnsupportedOp(
            f"the dialect {dialect.name!r} cannot realize lanes as {realization!r}",
            where=f"the profile {profile.name!r}",
            fix=f"use a profile that realizes them as {' or '.join(sorted(dialect.realizations))}",
        )
    if realization == "items":
        return ItemsText(kernel, dialect, profile, preamble, notes)
    if realization == "loop":
        return LoopText(kernel, dialect, profile, preamble, notes)
    vector = dialect.vector
    if vector is None or (kernel.lanes > 1 and kernel.lanes not in vector.lanes):
        raise UnsupportedOp(
            f"the dialect {dialect.name!r} has no vectors of {kernel.lanes} elements",
            where=f"the kernel {kernel.name!r}",
            fix="give the profile a number of lanes that the dialect has",
        )
    return VectorText(kernel, dialect, profile, preamble, kernel.lanes, notes=notes)
