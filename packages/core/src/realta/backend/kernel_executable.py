"""KernelExecutable: a planned graph as launches in order over one memory for what is in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from realta.backend.kernel_assembly import Assembly, Copy
from realta.errors import DeviceFault
from realta.fusion import Plan
from realta.runtime.contract import EMPTY, Handle, KernelReport, Options
from realta.runtime.host import as_bytes

if TYPE_CHECKING:
    from realta.backend.kernel_session import KernelSession

__all__ = ["KernelExecutable"]

_NONE: Final[frozenset[int]] = frozenset()


class KernelExecutable:
    """A compiled graph. Runs from any thread; runs of one session follow each other.

    Slots are numbered: inputs, outputs, constants, then the cells of what lives inside a run.

    Args:
        session: the session that compiled it.
        plan: the kernels.
        options: compile options.

    Attributes:
        temporary_bytes: memory that a run needs beside its inputs and outputs.
        kernels: a report for each launch.
    """

    reentrant: bool = True
    temporary_bytes: int
    kernels: Sequence[KernelReport]

    def __init__(self, session: KernelSession, plan: Plan, options: Options) -> None:
        self._session = session
        self._constants: list[Handle] = []
        self._calls: list[tuple[Callable[..., None], Callable[[Any], Sequence[Handle]]]] = []
        assembly = Assembly(session, plan)
        self._cells = assembly.cells
        self._copies: Sequence[Copy] = assembly.copies
        self._ordinals = [step.ordinals for step in assembly.steps]
        self.temporary_bytes = sum(assembly.cells)
        self.kernels = assembly.reports()
        if options.dump:
            assembly.dump(options.dump)
        calls = assembly.calls()
        self._calls = [
            (call, _picker(step.slots)) for call, step in zip(calls, assembly.steps, strict=True)
        ]
        self._upload(assembly)

    def _upload(self, assembly: Assembly) -> None:
        session = self._session
        for node in assembly.constants:
            handle = session.allocate(session.buffer_bytes(node.type))
            self._constants.append(handle)
            if node.type.size:
                session.write(handle, node.type, as_bytes(node.attrs["value"].array))

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = _NONE,
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        """Gives all launches to the device; may return before they are done.

        Raises:
            DeviceFault: one could not be launched.
            OutOfMemory: there is no room for what lives inside the run; nothing has run.
        """
        session = self._session
        with session.lock:
            cells = session.workspace.bound.get(id(self))
            if cells is None:
                cells = session.workspace.bind(id(self), self._cells)
            try:
                self.submit((*inputs, *outputs, *self._constants, *cells))
            finally:
                session.flush()

    def submit(self, slots: Sequence[Handle]) -> None:
        """Gives the launches of a run to the device, with the session's lock held.

        A session's own kind of executable may give them in another way, as one recorded unit.

        Args:
            slots: the handles of inputs, outputs, constants and cells, in this order.

        Raises:
            DeviceFault: one could not be launched; with the number of its last op.
        """
        number = 0
        try:
            for call, pick in self._calls:
                call(*pick(slots))
                number += 1
            for source, target, type in self._copies:
                self._session.copy(slots[source], slots[target], type)
        except DeviceFault as fault:
            if fault.node is None and number < len(self._ordinals):
                fault.node = self._ordinals[number][-1]
            raise

    def close(self) -> None:
        """Frees its constants; it must not be run any more."""
        self._calls = []
        while self._constants:
            self._session.free(self._constants.pop())

    def __del__(self) -> None:
        # Whoever forgets a program does not close its executables.
        self._session.workspace.forget(id(self))
        self.close()


def _picker(slots: tuple[int, ...]) -> Callable[[Any], Sequence[Handle]]:
    """Picks the handles of a launch: what a list comprehension does, in a third of its time."""
    if len(slots) == 1:
        (only,) = slots
        return lambda values: (values[only],)
    return itemgetter(*slots) if slots else lambda values: ()
