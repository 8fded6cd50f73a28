"""Direct calls: small graphs as one Python function that makes its own results.

An eager op on a few elements costs what its ufunc costs, so nothing else may be done for it: no
pool, no typed views, no loop. Whether the operands were what the graph expects is seen by the
result: a block of bytes, or an array of another shape, gives another dtype or another shape, or
raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from realta.graph import Graph

from realta_numpy.calls import Call, FusedCall
from realta_numpy.moving import moving_call
from realta_numpy.quiet import QUIET_STATE, STATE, quietly

__all__ = ["direct_calls"]

_MOST_BYTES: Final = 1 << 16
Direct = Callable[..., Any]


def direct_calls(
    graph: Graph, calls: Sequence[Call], run: Callable[..., None]
) -> tuple[Direct | None, Direct | None]:
    """Two functions of the handles that give the results as new arrays, a tuple of them if not one.

    Args:
        graph: a graph with static types.
        calls: what runs it.
        run: the executable's ``run(inputs, outputs)``.

    Returns:
        One for any handles; and one for arrays of the graph's types, which raises RuntimeError
        while another thread is in it. None where there is no such function.
    """
    nbytes = sum(v.type.nbytes for v in graph.outputs) if graph.outputs else _MOST_BYTES + 1
    if nbytes > _MOST_BYTES:
        return None, None
    moving = moving_call(graph)
    if moving is not None:
        return moving, None
    general = _kernel_call(graph, calls) or _general(graph, run)
    function = _only_ufunc(graph, calls)
    if function is None:
        return general, None
    out = graph.outputs[0].type
    checked = _checked(function, out.static_shape, out.dtype.numpy, general)
    return checked, function if _never_warns(function, out.dtype.numpy) else quietly(function)


def _kernel_call(graph: Graph, calls: Sequence[Call]) -> Direct | None:
    """One kernel from the graph's inputs to its one output."""
    if STATE is None or len(calls) != 1 or not isinstance(calls[0], FusedCall):
        return None
    group, kernel = calls[0].group, calls[0].kernel
    if group.inputs != graph.inputs or group.outputs != graph.outputs or len(graph.outputs) != 1:
        return None
    out = graph.outputs[0].type
    shape, dtype, empty = out.static_shape, out.dtype.numpy, np.empty
    begin, end, quiet = STATE.set, STATE.reset, QUIET_STATE

    def call(*handles: Any) -> Any:
        result = empty(shape, dtype)
        token = begin(quiet)
        try:
            kernel(*handles, result)
        finally:
            end(token)
        return result

    return call


def _general(graph: Graph, run: Callable[..., None]) -> Direct:
    types = [(v.type.static_shape, v.type.dtype.numpy) for v in graph.outputs]
    empty = np.empty
    if len(types) == 1:
        shape, dtype = types[0]

        def one(*handles: Any) -> Any:
            out = empty(shape, dtype)
            run(handles, (out,))
            return out

        return one

    def several(*handles: Any) -> Any:
        outputs = tuple([empty(shape, dtype) for shape, dtype in types])
        run(handles, outputs)
        return outputs

    return several


def _only_ufunc(graph: Graph, calls: Sequence[Call]) -> Any:
    """The ufunc over its inputs as they are that a graph consists of; None if there is more."""
    if len(calls) != 1 or not isinstance(calls[0], FusedCall) or len(graph.outputs) != 1:
        return None
    program = calls[0].program
    step = program.steps[0]
    if len(program.steps) != 1 or step.instruction is None or step.result is None:
        return None
    function = step.instruction.function
    out = graph.outputs[0].type
    plain = all(v in program.group.inputs and v.type.shape == out.shape for v in program.operands)
    fits = plain and isinstance(function, np.ufunc) and not program.constants
    reads: tuple[int, ...] = ()
    if fits:
        places = [program.group.inputs.index(program.operands[a.number]) for a in step.reads]
        reads = tuple([graph.inputs.index(calls[0].group.inputs[n]) for n in places])
    # A result of another dtype than the operands' says nothing about whether they were bytes.
    same = all(v.type.dtype is out.dtype for v in graph.inputs)
    if (
        STATE is None
        or not fits
        or not same
        or not out.shape
        or reads != tuple(range(len(graph.inputs)))
    ):
        return None
    return function


def _never_warns(function: np.ufunc, dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iub" and function not in (np.floor_divide, np.remainder)


def _checked(
    function: Any, shape: tuple[int, ...], dtype: np.dtype[Any], general: Direct
) -> Direct:
    if _never_warns(function, dtype):
        return _unguarded(function, shape, dtype, general)
    begin, end, quiet = STATE.set, STATE.reset, QUIET_STATE

    if function.nin == 1:

        def unary(x: Any) -> Any:
            token = begin(quiet)
            try:
                found = function(x)
            finally:
                end(token)
            return found if found.dtype is dtype and found.shape == shape else general(x)

        return unary

    def binary(x: Any, y: Any) -> Any:
        token = begin(quiet)
        try:
            found = function(x, y)
        except (ValueError, TypeError):  # shapes or dtypes of bytes
            return general(x, y)
        finally:
            end(token)
        return found if found.dtype is dtype and found.shape == shape else general(x, y)

    return binary


def _unguarded(
    function: Any, shape: tuple[int, ...], dtype: np.dtype[Any], general: Direct
) -> Direct:
    """For functions that never warn."""

    def call(*operands: Any) -> Any:
        try:
            found = function(*operands)
        except (ValueError, TypeError):
            return general(*operands)
        return found if found.dtype is dtype and found.shape == shape else general(*operands)

    return call
