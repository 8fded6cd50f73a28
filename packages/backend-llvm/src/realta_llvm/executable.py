"""Executable: launches in order, with a short way for one small kernel."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from realta.backend import Options
from realta.backend.kernel_executable import KernelExecutable
from realta.fusion import Plan

from realta_llvm.launching import Launcher
from realta_llvm.storage import Memory, small_block

if TYPE_CHECKING:
    from realta_llvm.session import LLVMSession

__all__ = ["LLVMExecutable"]

_DIRECT_NS: Final = 20_000
"""Nanoseconds of work up to which a kernel is called directly, under the interpreter's lock."""


class LLVMExecutable(KernelExecutable):
    """A compiled graph.

    Args:
        session: the session that compiled it.
        plan: the kernels.
        options: compile options.

    Attributes:
        direct: a call with the handles of the inputs that makes the one output itself, where the
            graph is one small kernel; else None.
    """

    direct: Callable[..., Memory] | None

    def __init__(self, session: LLVMSession, plan: Plan, options: Options) -> None:
        super().__init__(session, plan, options)
        self.direct = self._direct(plan)

    def _direct(self, plan: Plan) -> Callable[..., Memory] | None:
        graph = plan.graph
        if len(self._calls) != 1 or self._copies or self._cells or len(graph.outputs) != 1:
            return None
        call, pick = self._calls[0]
        launcher = getattr(call, "__self__", None)
        if not isinstance(launcher, Launcher) or launcher.nanoseconds > _DIRECT_NS:
            return None
        slots = list(range(len(graph.inputs) + 1 + len(self._constants)))
        numbers = list(pick(slots))
        if numbers != slots[: len(numbers)] or len(numbers) != len(graph.inputs) + 1:
            return None  # a constant in memory, an input that is not read, or another order
        return _shortest(launcher, graph.outputs[0].type.nbytes, len(graph.inputs))

    def close(self) -> None:
        """Frees its constants; it must not be run any more."""
        self.direct = None
        super().close()


def _shortest(launcher: Launcher, nbytes: int, arity: int) -> Callable[..., Memory]:
    """A call without loops for the usual numbers of inputs; the output comes last."""
    function, block = launcher.function, small_block(nbytes)
    address_of: Callable[[Any], int] = ctypes.addressof
    rest = (0, launcher.groups) if launcher.ranged else ()

    def one(x: Memory) -> Memory:
        owner = block()
        address = address_of(owner)
        function(x.address, address, *rest)
        return Memory(owner, address)

    def two(x: Memory, y: Memory) -> Memory:
        owner = block()
        address = address_of(owner)
        function(x.address, y.address, address, *rest)
        return Memory(owner, address)

    def several(*given: Memory) -> Memory:
        owner = block()
        address = address_of(owner)
        function(*[handle.address for handle in given], address, *rest)
        return Memory(owner, address)

    if arity == 1:
        return one
    return two if arity == 2 else several
