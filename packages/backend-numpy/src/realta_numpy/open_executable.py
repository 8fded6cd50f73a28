"""Open executable: a graph with named extents, planned once and bound to numbers for each call.

What depends on the extents is a call for each kind of kernel, and sizes; all else is shared by the
executables for all extents. A plan serves the extents for which each of its decisions would be the
same; others get a plan of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from realta.backend import EMPTY, Graph, Handle, KernelReport, Options
from realta.fusion import Group, Rules, plan
from realta.fusion.limits import Limits
from realta.locks import Lock
from realta.types import TensorType, assuming, compiled_function

from realta_numpy.calls import call_of_group, parts_of_group
from realta_numpy.executable import NumpyExecutable
from realta_numpy.fused import structure
from realta_numpy.open_calls import OpenCall, OpenOps, is_open
from realta_numpy.schedule import Schedule, bytes_of, peak_bytes
from realta_numpy.temporaries import Temporaries

__all__ = ["BoundExecutable", "OpenExecutable"]

Names = Mapping[str, int]
_SMALL_BYTES = 1 << 16


class BoundExecutable(NumpyExecutable):
    """An executable for some extents."""

    schedule: Schedule
    names: Names

    @property
    def counted(self) -> int:
        """How many kernels a run launches."""
        return self.schedule.launches

    @property
    def kernels(self) -> Sequence[KernelReport]:  # type: ignore[override]
        """Every kernel of a run; worked out when it is asked for."""
        names = self.names
        return self.schedule.reports(
            lambda group: OpenOps(group, names).bound(names, {}) if is_open(group) else group
        )

    @property
    def temporary_bytes(self) -> int:  # type: ignore[override]
        """The most bytes that temporaries take at once."""
        return peak_bytes(self._steps, self._sizes)


class _Plan:
    """A schedule for all extents that pass its test."""

    def __init__(self, graph: Graph, names: Names, limits: Limits, rules: Rules) -> None:
        with assuming(names) as assumed:
            self._calls = _Calls(names)
            self.schedule = Schedule(plan(graph, limits, rules=rules), self._calls.of_group)
        self.test = assumed.test()
        sizes = [f"{nbytes}" for nbytes in self.schedule.sizes]
        self._steps = [step.call for step in self.schedule.steps]
        copies = [f"{nbytes}" for _, _, nbytes in self.schedule.copies]
        shapes = [f"({''.join([f'{d}, ' for d in v.type.shape])})" for v in graph.outputs]
        total = [f"({bytes_of(v.type)})" for v in graph.outputs]
        # All numbers in one call, each expression once.
        self._sizes = _evaluator(names, sizes)
        self._copies = _evaluator(names, copies)
        self._shapes = _evaluator(names, shapes)
        self._total = compiled_function(names, " + ".join(total) or "0")
        self._dtypes = [v.type.dtype.numpy for v in graph.outputs]

    def bind(self, names: Names, temporaries: Temporaries) -> BoundExecutable:
        schedule = self.schedule
        types: dict[TensorType, TensorType] = {}
        calls = [call.bind(names, types) for call in self._calls.open]
        of_step = [calls[call] if call.__class__ is int else call for call in self._steps]
        pairs = zip(schedule.copies, self._copies(names), strict=True)
        copies = [(target, source, nbytes) for (target, source, _), nbytes in pairs]
        made = BoundExecutable.of_steps(schedule, of_step, self._sizes(names), copies, temporaries)
        made.schedule, made.names = schedule, names
        if self._dtypes and self._total(**names) <= _SMALL_BYTES:
            made.direct = _direct(made.run, self._shapes(names), self._dtypes)
        return made


class OpenExecutable:
    """A graph with named extents.

    Args:
        graph: in normal form.
        options: compile options.
        temporaries: where intermediates come from.
        limits: the device's limits.
        rules: what kernels take in.
    """

    def __init__(
        self, graph: Graph, options: Options, temporaries: Temporaries, limits: Limits, rules: Rules
    ) -> None:
        self._graph = graph
        self._temporaries = temporaries
        self._limits = limits
        self._rules = rules
        self._plans: list[_Plan] = []
        self._lock = Lock()

    def bind(self, names: Names) -> BoundExecutable:
        """The executable for these extents.

        Args:
            names: a number for each name, in the same order at every call.

        Raises:
            RealtaError: it cannot be planned for them.
        """
        for known in self._plans:
            if known.test(**names):
                return known.bind(names, self._temporaries)
        made = _Plan(self._graph, names, self._limits, self._rules)
        with self._lock:
            self._plans.append(made)
        return made.bind(names, self._temporaries)


class _Calls:
    """The calls of a plan; those with named extents as numbers, and alike ones only once.

    Args:
        names: has the names in their order.

    Attributes:
        open: the calls with named extents.
    """

    def __init__(self, names: Names) -> None:
        self.open: list[OpenCall | OpenOps] = []
        self._names = dict(names)
        self._known: dict[Any, int] = {}

    def of_group(self, group: Group, name: str) -> list[tuple[Group, Any]]:
        """What runs a group."""
        if not is_open(group):
            return list(call_of_group(group, name))
        return [(part, self._number(part, name)) for part in parts_of_group(group)]

    def _number(self, part: Group, name: str) -> int:
        alike = structure(part, name)
        key = len(self.open) if alike is None else (part.kind, alike)
        if key not in self._known:
            self._known[key] = len(self.open)
            one_by_one = part.kind == "single"
            self.open.append(
                OpenOps(part, self._names) if one_by_one else OpenCall(part, name, self._names)
            )
        return self._known[key]


def _evaluator(names: Names, expressions: Sequence[str]) -> Callable[[Names], list[Any]]:
    """A function of the names' values that gives those of expressions, each worked out once."""
    places = {text: n for n, text in enumerate(dict.fromkeys(expressions))}
    evaluate = compiled_function(names, f"({''.join([f'{text}, ' for text in places])})")
    order = [places[text] for text in expressions]

    def evaluated(values: Names) -> list[Any]:
        found = evaluate(**values)
        return [found[n] for n in order]

    return evaluated


def _direct(
    run: Callable[..., None], shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]
) -> Callable[..., Any]:
    """A function of the handles that makes its own small results."""
    pairs = list(zip(shapes, dtypes, strict=True))

    def direct(*handles: Handle) -> Any:
        outputs = tuple([np.empty(shape, dtype) for shape, dtype in pairs])
        run(handles, outputs, dims=EMPTY)
        return outputs[0] if len(outputs) == 1 else outputs

    return direct
