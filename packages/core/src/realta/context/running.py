"""Running: hands a demand to the runtime and makes its values real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from realta.context.demand import Demand, cut_out
from realta.errors import ExecutionError
from realta.graph import Input, Value
from realta.runtime import Options, Program, poisoned_storage, program_for, run_program

if TYPE_CHECKING:
    from realta.context.base import RecordingContext

__all__ = ["realize"]


def realize(
    context: RecordingContext, wanted: Sequence[Value], *, poison: bool
) -> tuple[Demand, Program]:
    """Runs what ``wanted`` needs and binds every output to its storage.

    Args:
        context: whose values they are.
        wanted: unrealized values.
        poison: whether outputs are poisoned for good where a launch fails (eager regions);
            otherwise they stay pending and may be retried.

    Raises:
        RealtaError: nothing was changed if it was raised before a launch began.
    """
    demand = cut_out(context, wanted)
    graph = demand.graph
    try:
        program = program_for(graph, Options(numerics=context.numerics, name=context.name))
        storages = run_program(program, graph)
    except ExecutionError as error:
        if poison:
            for value in graph.outputs:
                if not isinstance(value, Input):
                    value.payload = poisoned_storage(value.type, error)
        raise
    for value, storage in zip(graph.outputs, storages, strict=True):
        value.payload = storage
    return demand, program
