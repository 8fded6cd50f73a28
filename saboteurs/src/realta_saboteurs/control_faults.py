"""Control faults: the wrong branch is taken, or a loop ends at the wrong step."""

from __future__ import annotations

from typing import Any, Final

from realta.backend import Node
from realta.passes import evaluate_graph

from realta_saboteurs.fault import Array, Fault, KernelFault

__all__ = ["CONTROL_FAULTS"]


def _other_branch(right: Any, node: Node, pred: Array, *captures: Array) -> Any:
    return evaluate_graph(node.attrs["then" if not pred else "otherwise"], captures)


def _both_branches(right: Any, node: Node, pred: Array, *captures: Array) -> Any:
    """Takes the second without asking."""
    return evaluate_graph(node.attrs["otherwise"], captures)


def _step_too_many(right: Any, node: Node, *values: Array) -> Any:
    """Asks the predicate after the step, so that the step runs at least once."""
    count = node.attrs["carried"]
    state, captures = values[:count], values[count:]
    while True:
        state = evaluate_graph(node.attrs["body"], (*state, *captures))
        if not bool(evaluate_graph(node.attrs["predicate"], (*state, *captures))[0]):
            return state


def _stale_state(right: Any, node: Node, *values: Array) -> Any:
    """Gives each step the first values again, apart from the counter."""
    count = node.attrs["carried"]
    state, captures = values[:count], values[count:]
    while bool(evaluate_graph(node.attrs["predicate"], (*state, *captures))[0]):
        new = evaluate_graph(node.attrs["body"], (*state, *captures))
        state = (*new[:1], *values[1:count])
    return state


def _wrong(name: str, op: str, kernel: Any, tells: str, *graphs: str) -> Fault:
    fails = frozenset([f"fusion/{graph}/values" for graph in graphs])
    return KernelFault(name, tells, fails, ops=(op,), kernel=kernel)


CONTROL_FAULTS: Final[tuple[Fault, ...]] = (
    _wrong(
        "takes-other-branch",
        "cond",
        _other_branch,
        "cond takes the branch for the other value of the predicate",
        "one-of-two-branches",
    ),
    _wrong(
        "ignores-predicate",
        "cond",
        _both_branches,
        "cond takes the second branch whatever the predicate is",
        "one-of-two-branches",
    ),
    _wrong(
        "step-too-many",
        "while_loop",
        _step_too_many,
        "while_loop asks the predicate after the step instead of before it",
        "steps-of-a-loop",
    ),
    _wrong(
        "carries-first-values",
        "while_loop",
        _stale_state,
        "while_loop gives each step the first values again, but for the counter",
        "steps-of-a-loop",
        "branches-in-a-loop",
    ),
)
"""Each with the checks that must catch it."""
