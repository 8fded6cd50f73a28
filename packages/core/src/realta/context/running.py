"""Running: hands a demand to the runtime and makes its values real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from realta import runtime
from realta.context.demand import Demand, cut_out
from realta.context.trace import LatePlaces
from realta.errors import ExecutionError
from realta.graph import Input, Value

if TYPE_CHECKING:
    from realta.context.base import RecordingContext
    from realta.context.handle import TensorHandle
    from realta.context.trace import Recipe, Trace
    from realta.graph import Graph

__all__ = ["realize", "realize_again"]


def realize(
    context: RecordingContext,
    wanted: Sequence[Value],
    *,
    poison: bool,
    donor: TensorHandle | None = None,
) -> tuple[Demand, runtime.Program]:
    """Runs what ``wanted`` needs and binds every output to its storage.

    Args:
        context: whose values they are.
        wanted: unrealized values.
        poison: whether outputs are poisoned for good where a launch fails (eager regions);
            otherwise they stay pending and may be retried.
        donor: a tensor whose buffer may be used up if nobody else holds it.

    Raises:
        RealtaError: nothing was changed if it was raised before a launch began.
    """
    demand = cut_out(context, wanted)
    graph = demand.graph
    try:
        options = runtime.Options(numerics=context.numerics, name=context.name)
        program = runtime.program_for(graph, options)
        storages = runtime.run_program(program, graph, donated=_donated(graph, donor))
    except ExecutionError as error:
        if poison:
            for value in graph.outputs:
                if not isinstance(value, Input):
                    value.payload = runtime.poisoned_storage(value.type, error)
        raise
    for value, storage in zip(graph.outputs, storages, strict=True):
        value.payload = storage
    return demand, program


def realize_again(
    context: RecordingContext, recipe: Recipe, trace: Trace, wanted: Sequence[Value]
) -> list[runtime.Storage]:
    """Runs what an earlier region with the same trace ran, and binds ``wanted``.

    Returns:
        The program's outputs.

    Raises:
        RealtaError: as `realize`; what was to be filled is poisoned if a launch failed.
    """
    inputs = trace.inputs
    places = LatePlaces(lambda: cut_out(context, wanted).graph.nodes)
    try:
        storages = recipe.program.run([inputs[n].payload for n in recipe.reads], places=places)
    except ExecutionError as error:
        for value in wanted:
            value.payload = runtime.poisoned_storage(value.type, error)
        raise
    for value, number in zip(wanted, recipe.results, strict=True):
        value.payload = storages[number]
    return storages


def _donated(graph: Graph, donor: TensorHandle | None) -> frozenset[int]:
    """The number of the input that reads the donor, if nothing else does."""
    if donor is None or donor._storage is None:
        return frozenset()
    numbers = [n for n, v in enumerate(graph.inputs) if v.payload is donor._storage]
    if len(numbers) != 1 or not donor._storage.device.donates:
        return frozenset()
    # The tensor and the graph's input hold it, and nobody else may.
    alone = runtime.uniquely_held(donor._storage, 2)
    return frozenset(numbers) if alone else frozenset()
