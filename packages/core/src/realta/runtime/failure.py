"""Failure: the error of a launch that went wrong, with the op and its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from realta.errors import DeviceFault, ExecutionError, OutOfMemory, RealtaError
from realta.runtime.places import Places, node_place

if TYPE_CHECKING:
    from realta.graph import Graph
    from realta.runtime.steps import LaunchStep

__all__ = ["fault", "no_memory", "op_place", "step_place"]


def op_place(source: Graph, ordinal: int, places: Places | None) -> str:
    """An op of the calling graph as errors name it; empty if the number is none of its ops'."""
    if not 0 <= ordinal < len(source.nodes):
        return ""
    where = None if places is None else places.where(ordinal)
    return node_place(source.nodes[ordinal], source, where)


def fault(source: Graph, step: LaunchStep, places: Places | None, error: Exception) -> RealtaError:
    """What is raised and kept for a failed launch: an `ExecutionError`.

    Args:
        source: the calling graph's structure.
        step: what was launched.
        places: where the calling graph's ops stand.
        error: what the session raised.
    """
    where = _place(source, step, places, error) or f"graph {source.name!r} on {step.device.name}"
    if isinstance(error, DeviceFault) and error.fatal:
        step.device.lost = error
    if isinstance(error, ExecutionError):
        return error.at(where)
    return ExecutionError(
        f"{step.name} failed on {step.device.name}: {type(error).__name__}: {error}",
        where=where,
        fix="tensors this launch was to fill stay unusable; other work is unaffected",
    )


def step_place(source: Graph, step: LaunchStep, places: Places | None) -> str:
    """What a launch is for, as errors name it: the last of its ops, with its line."""
    known = [number for number in step.ordinals if number >= 0]
    return op_place(source, known[-1], places) if known else f"graph {source.name!r}"


def no_memory(source: Graph, step: LaunchStep, places: Places | None) -> OutOfMemory:
    """What is raised where a launch finds no memory for what it makes on its way.

    A session without memory of its own (op by op) gets that of its results only while it runs, so
    then they are what does not fit.
    """
    needed, unfilled = step.executable.temporary_bytes, 0
    label = f"temporaries of {step.name}"
    if not needed:
        needed = unfilled = sum([output.type.nbytes for output in step.outputs])
        label = f"results of {step.name}"
    place = step_place(source, step, places)
    pool = step.device.pool
    return pool.out_of_memory(needed, f"{label}, for {place}", unfilled=unfilled)


def _place(source: Graph, step: LaunchStep, places: Places | None, error: Exception) -> str:
    number = error.node if isinstance(error, DeviceFault) else None
    if number is None and len(step.ordinals) == 1:
        number = 0
    if number is None or not 0 <= number < len(step.ordinals):
        return ""
    return op_place(source, step.ordinals[number], places)
