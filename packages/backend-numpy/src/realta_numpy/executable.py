"""Executable: a planned graph as a list of calls over handles and temporaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from realta.backend import EMPTY, Handle, KernelReport, Options
from realta.fusion import Plan

from realta_numpy.calls import Call, call_of_group
from realta_numpy.direct import direct_calls
from realta_numpy.memory import as_bytes, typed
from realta_numpy.quiet import Quiet
from realta_numpy.schedule import Schedule, peak_bytes
from realta_numpy.temporaries import Temporaries

__all__ = ["NumpyExecutable"]

_NONE: frozenset[int] = frozenset()


class NumpyExecutable:
    """A compiled graph. Reentrant: what a run needs is in the run.

    Args:
        plan: the kernels of the graph.
        options: compile options.
        temporaries: where intermediates come from.

    Attributes:
        direct: for small results: ``direct(*handles)`` makes its own outputs; else None.
        bare: the same for handles that are arrays, see `direct_calls`.
    """

    reentrant: bool = True
    temporary_bytes: int
    kernels: Sequence[KernelReport]

    def __init__(self, plan: Plan, options: Options, temporaries: Temporaries) -> None:
        graph = plan.graph
        schedule = Schedule(plan, call_of_group)
        self._temporaries = temporaries
        self._inputs = len(graph.inputs)
        self._size = schedule.layout.size
        self._constants = schedule.constants
        self._copies = schedule.copies
        self._steps = schedule.steps
        self._calls = [step.call for step in schedule.steps]
        self._sizes: Sequence[int] = schedule.sizes
        self._variants: dict[tuple[int, int], Callable[..., None] | None] = {}
        self.kernels = schedule.reports(lambda group: group)
        self.temporary_bytes = peak_bytes(schedule.steps, schedule.sizes)
        self.direct, self.bare = direct_calls(graph, self._calls, self.run)

    @classmethod
    def of_steps(
        cls,
        schedule: Schedule,
        calls: list[Call],
        sizes: Sequence[int],
        copies: list[tuple[int, int, int]],
        temporaries: Temporaries,
    ) -> Self:
        """An executable of a schedule whose calls and sizes are known from elsewhere."""
        made = cls.__new__(cls)
        made._temporaries = temporaries
        made._inputs = len(schedule.plan.graph.inputs)
        made._size = schedule.layout.size
        made._constants = schedule.constants
        made._copies = copies
        made._steps = schedule.steps
        made._calls = calls
        made._sizes = sizes
        made._variants = {}
        made.direct = made.bare = None
        return made

    # -- running ----------------------------------------------------------------------------------

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = _NONE,
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        """Runs it; done when it returns."""
        slots: list[Any] = [
            *inputs,
            *outputs,
            *[None] * (self._size - len(inputs) - len(outputs)),
        ]
        for slot, array in self._constants:
            slots[slot] = array
        own, sizes = self._calls, self._sizes
        with Quiet():
            calls = self._in_place(slots, outputs, donated) if donated else None
            for n, step in enumerate(self._steps):
                for slot, size in step.begins:
                    slots[slot] = self._temporaries.take(sizes[size])
                call = own[n] if calls is None else calls.get(n, own[n])
                call(*[slots[s] for s in step.reads], *[slots[s] for s in step.writes])
                for slot in step.ends:
                    self._temporaries.give(slots[slot])
                    slots[slot] = None
            for target, source, nbytes in self._copies:
                if slots[target] is not slots[source]:
                    np.copyto(as_bytes(slots[target], nbytes), as_bytes(slots[source], nbytes))

    def _in_place(
        self, slots: list[Any], outputs: Sequence[Handle], donated: frozenset[int]
    ) -> dict[int, Callable[..., None]]:
        """Calls that write an output over a donated input; copies the input if that is unsafe."""
        calls: dict[int, Callable[..., None]] = {}
        for number in donated:
            for output, handle in enumerate(outputs):
                if handle is not slots[number]:
                    continue
                found = self._variant(number, output)
                if found is None:
                    slots[number] = typed(handle, handle.shape, handle.dtype).copy()
                else:
                    calls[found[0]] = found[1]
        return calls

    def _variant(self, number: int, output: int) -> tuple[int, Callable[..., None]] | None:
        slot = self._inputs + output
        readers = [n for n, s in enumerate(self._steps) if number in s.reads]
        copied = any(source == number for _, source, _ in self._copies)
        if len(readers) != 1 or copied or slot not in self._steps[readers[0]].writes:
            return None
        step = self._steps[readers[0]]
        key = (number, output)
        if key not in self._variants:
            place = step.reads.index(number), step.writes.index(slot)
            self._variants[key] = self._calls[readers[0]].in_place(*place)
        call = self._variants[key]
        return None if call is None else (readers[0], call)

    def close(self) -> None:
        """Holds nothing that outlives it."""
