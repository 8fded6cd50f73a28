"""Control flow: `cond` and `while_loop`, which decide when they run; the same in every context.

Their functions are traced, not called for each step: Python code in them runs once. What they read
from outside is captured; stores in them to tensors from outside become further results, to which
those tensors move. Draws in them are worked out from one counter that the whole call takes (spec
6), so that a loop draws anew in each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from realta.context import RecordingContext, caller_location
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.functional.arguments import as_tensor, python_dtype, recording, scalar_like
from realta.functional.branches import Branch, Wiring, constant_node, items, trace_branch
from realta.functional.operation import operation
from realta.graph import Graph, Node, Value
from realta.ops import get_op
from realta.plugins import current_device
from realta.tensor import Tensor, wrap
from realta.types import TensorType, bool_, is_weak

__all__ = ["cond", "while_loop"]


@operation
def cond(
    pred: Any,
    out_types: Iterable[TensorType] | None,
    then_fn: Callable[[], Any],
    else_fn: Callable[[], Any],
) -> list[Tensor]:
    """The results of one of two functions, chosen when it runs.

    Args:
        pred: 0-d bool tensor.
        out_types: types of the results, which are checked; None takes them from the functions.
        then_fn: function without arguments for the case that ``pred`` is true; returns a tensor, a
            flat list or tuple of tensors, or None.
        else_fn: the same for the other case; both return the same types.

    Returns:
        A list of the results.

    Raises:
        DTypeError, ShapeError: the predicate is no 0-d bool.
        ArgumentError: the functions return different types; names both, the result and the lines.
    """
    context = recording()
    test = _predicate(as_tensor(pred), "the predicate of cond")
    wanted = None if out_types is None else tuple(out_types)
    branches = (
        trace_branch(context, "then_fn", then_fn),
        trace_branch(context, "else_fn", else_fn),
    )
    _check_results(branches, wanted)
    return _record_cond(context, test, branches)


def _predicate(tensor: Tensor, what: str) -> Tensor:
    if tensor.dtype is not bool_:
        raise DTypeError(
            f"{what} must be bool, got {tensor.type}",
            where=f"cond at {caller_location()}",
            fix="compare it, as in `x != 0`",
        )
    if tensor.shape != ():
        raise ShapeError(
            f"{what} must be 0-d, got {tensor.type}",
            where=f"cond at {caller_location()}",
            fix="reduce it with F.all or F.any",
        )
    return tensor


def _check_results(branches: tuple[Branch, Branch], wanted: tuple[TensorType, ...] | None) -> None:
    then, other = branches
    if wanted is None:
        _check_same(other, other.results, [v.type for v in then.results], f"{then.label} returns")
        return
    for branch in branches:
        _check_same(branch, branch.results, wanted, "out_types says")


def _check_same(
    branch: Branch, results: Sequence[Value], wanted: Sequence[TensorType], who: str
) -> None:
    """Raises ArgumentError unless a branch returned the types that somebody else has."""
    if len(results) != len(wanted):
        raise ArgumentError(
            f"{branch.label} returns {len(results)} result(s), {who} {len(wanted)}",
            where=f"cond at {caller_location()}",
            fix="return the same number of tensors from both functions",
        )
    for number, (value, type) in enumerate(zip(results, wanted, strict=True)):
        if not _fits(value.type, type):
            raise ArgumentError(
                f"{branch.label} returns {value.type} as result {number}, {who} {type}",
                where=f"cond at {caller_location()}",
                fix="cast, reshape or move it, so that both functions return the same types",
            )


def _fits(given: TensorType, wanted: TensorType) -> bool:
    """Whether a type is another one; one without a device goes with any."""
    return given is (wanted if wanted.device else wanted.with_device(given.device))


def _record_cond(
    context: RecordingContext, test: Tensor, branches: tuple[Branch, Branch]
) -> list[Tensor]:
    stored: dict[int, Tensor] = {}
    for branch in branches:
        stored.update({number: handle for number, (handle, _) in branch.stored.items()})
    effects = any(branch.has_effects for branch in branches)
    wiring = Wiring(context)
    graphs = [_with_stored(branch, stored) for branch in branches]
    for branch, graph in zip(branches, graphs, strict=True):
        wiring.read(branch, graph)
    if effects:
        for token in context.last_token():
            wiring.add(token)
    behind = test._type.device if effects else None
    closed = [
        wiring.closed(branch, graph, path=path, token=behind)
        for path, (branch, graph) in enumerate(zip(branches, graphs, strict=True))
    ]
    op = get_op("cond")
    attrs = op.make_attrs({"then": closed[0], "otherwise": closed[1]})
    node = context.record_values(op, (context.value_of(test), *wiring.operands), attrs)
    return _results(context, node, len(branches[0].results), list(stored.values()), effects)


def _with_stored(branch: Branch, stored: dict[int, Tensor]) -> Graph:
    """A branch's graph; behind its results the versions of all that any branch stored to."""
    versions = []
    for number, handle in stored.items():
        own = branch.stored.get(number)
        versions.append(own[1] if own is not None else branch.context.value_of(handle))
    return branch.context.recorded([*branch.results, *versions])


def _results(
    context: RecordingContext, node: Node, count: int, stored: Sequence[Tensor], effects: bool
) -> list[Tensor]:
    """The results of control flow as tensors; tensors that it stored to move to the others."""
    results = [wrap(context, value) for value in node.outputs[:count]]
    for handle, value in zip(stored, node.outputs[count:], strict=False):
        context.move(handle, value)
    if effects:
        context.note_effect(node.outputs[-1])
    return results


@operation
def while_loop(
    initial_values: Any, predicate: Callable[..., Any], body: Callable[..., Any]
) -> list[Tensor]:
    """The values after the last step: ``while predicate(*values): values = body(*values)``.

    Args:
        initial_values: a tensor, or a list or tuple of them.
        predicate: function of the values; returns a 0-d bool tensor.
        body: function of the values; returns the next ones, of the same types.

    Returns:
        A list of the values.

    Raises:
        ArgumentError: the body returns other types; names the value, its argument and the lines.
        DTypeError, ShapeError: the predicate does not return a 0-d bool.
    """
    context = recording()
    given = _initial(items(initial_values, "initial_values"))
    if not given:
        raise ArgumentError(
            "while_loop got no initial values",
            where=f"while_loop at {caller_location()}",
            fix="carry at least one tensor from step to step",
        )
    types = [tensor._type for tensor in given]
    test = trace_branch(context, "predicate", predicate, types)
    _check_test(test)

    def convert(number: int, item: Any) -> Any:
        return _as_carried(item, types[number]) if number < len(types) else item

    step = trace_branch(context, "body", body, types, convert)
    _check_step(step, body, types)
    return _record_loop(context, given, test, step)


def _initial(values: Sequence[Any]) -> list[Tensor]:
    """Initial values as tensors; numbers live where the first tensor does."""
    home = next((v._type.device for v in values if isinstance(v, Tensor)), current_device())
    return [
        scalar_like(v, python_dtype(v), home) if is_weak(v) else as_tensor(v, home) for v in values
    ]


def _check_test(test: Branch) -> None:
    where = f"while_loop at {caller_location()}"
    if len(test.results) != 1:
        what = f"{test.label} returns {len(test.results)} result(s)"
        raise ArgumentError(what, where=where, fix="return one 0-d bool")
    if test.stored:
        what = f"{test.label} stores to a tensor"
        raise ArgumentError(what, where=where, fix="store in the body, or carry the tensor")
    type = test.results[0].type
    if type.dtype is not bool_:
        what = f"{test.label} returns {type}, must be bool"
        raise DTypeError(what, where=where, fix="compare it, as in `x < 9`")
    if type.shape != ():
        what = f"{test.label} returns {type}, must be 0-d"
        raise ShapeError(what, where=where, fix="reduce it with F.all or F.any")


def _as_carried(item: Any, type: TensorType) -> Any:
    """A number that the body returned, in the dtype of the value it stands for."""
    return scalar_like(item, type.dtype, type.device) if is_weak(item) else item


def _check_step(step: Branch, body: Any, types: Sequence[TensorType]) -> None:
    if len(step.results) != len(types):
        raise ArgumentError(
            f"{step.label} returns {len(step.results)} value(s), {len(types)} are carried",
            where=f"while_loop at {caller_location()}",
            fix="return the next version of every value, in the order of the arguments",
        )
    code = getattr(body, "__code__", None)
    names = () if code is None else code.co_varnames[: code.co_argcount]
    for number, (value, type) in enumerate(zip(step.results, types, strict=True)):
        if value.type is not type:
            name = f" ({names[number]})" if number < len(names) else ""
            raise ArgumentError(
                f"{step.label} returns {value.type} for value {number}{name}, which is {type}",
                where=f"while_loop at {caller_location()}",
                fix="cast or reshape it: types stay the same from step to step",
            )


def _record_loop(
    context: RecordingContext, given: Sequence[Tensor], test: Branch, step: Branch
) -> list[Tensor]:
    wiring = Wiring(context)
    for tensor in given:
        wiring.add(context.value_of(tensor))
    handles = [handle for handle, _ in step.stored.values()]
    for handle in handles:
        wiring.add(context.value_of(handle), id(handle))
    home = given[0]._type.device
    effects = test.has_effects or step.has_effects
    iteration = None
    if test.context.draws or step.context.draws:
        iteration = wiring.add(_recorded(context, np.uint32(0), home))
    if effects:
        found = context.last_token()
        wiring.add(found[0] if found else _recorded(context, np.zeros(0, bool), home))
        home = wiring.operands[-1].type.device
    carried = len(wiring.operands)
    stored = frozenset(step.stored)
    tested = test.context.recorded(test.results)
    stepped = step.context.recorded([*step.results, *[v for _, v in step.stored.values()]])
    wiring.read(test, tested, stored)
    wiring.read(step, stepped, stored)
    op = get_op("while_loop")
    attrs = {
        "predicate": wiring.closed(test, tested, path=0, stored=stored, iteration=iteration),
        "body": wiring.closed(
            step, stepped, path=1, stored=stored, iteration=iteration, advance=True,
            token=home if effects else None,
        ),
        "carried": carried,
    }  # fmt: skip
    node = context.record_values(op, tuple(wiring.operands), op.make_attrs(attrs))
    return _results(context, node, len(given), handles, effects)


def _recorded(context: RecordingContext, value: Any, device: str) -> Value:
    node = constant_node(value, device)
    return context.record_values(node.op, (), node.attrs)
