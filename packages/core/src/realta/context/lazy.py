"""LazyRealizationContext and `lazy`: nothing runs until a value is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from types import TracebackType
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar

from realta.context.base import DEFAULT_NODE_BUDGET, RecordingContext
from realta.context.location import caller_location
from realta.context.pending import collect, counts_as_pending
from realta.context.plain_function import require_plain_function
from realta.context.running import realize

__all__ = ["LazyBlock", "LazyRealizationContext", "lazy"]

P = ParamSpec("P")
R = TypeVar("R")


class LazyRealizationContext(RecordingContext):
    """Records its ops; realizing a tensor runs what that tensor needs and nothing else.

    It may be entered again and goes on collecting. Realizing inside the open block works.

    Args:
        name: shown in errors and in `explain`.
        fuse: fusion policy of its ops.
        numerics: ``"exact"`` or ``"fast"``.
        node_budget: pending nodes (creation and random ones do not count) beyond which newly
            recorded tensors are realized at once, with one warning.
    """

    kind: ClassVar[str] = "lazy"

    def __init__(
        self,
        name: str = "",
        *,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        node_budget: int | None = DEFAULT_NODE_BUDGET,
    ) -> None:
        super().__init__(
            name, fuse=fuse, numerics=numerics, on_sync="split", node_budget=node_budget
        )
        self._warned = False

    def demand(self, handles: Sequence[Any]) -> None:
        """Makes these tensors real; concurrent demands do the work once.

        Raises:
            RealtaError: the work failed; the tensors stay pending and it may be tried again.
        """
        with self.lock:
            for token in self._effects.due(self, handles):
                self._run_effect(token)
            wanted = dict.fromkeys(
                [t._value for t in handles if t._context is self and not t._settle()]
            )
            if wanted:
                realize(self, list(wanted), poison=False)
            for handle in handles:
                handle._settle()
            del wanted
            self._forget_sources(now=False)

    def _run_effect(self, token: Any) -> None:
        """Runs one effect by itself: those before it have run, and stay so if this one fails."""
        try:
            realize(self, [token._value], poison=False)
        except BaseException:
            self._effects.excuse(token)
            raise
        token._settle()

    def _over_budget(self, handle: Any) -> None:
        # What was recorded may be realized or dropped already, so what is pending is counted anew.
        nodes = collect([t._value for t in self.live() if t._value is not None], {})
        pending = sum(counts_as_pending(node.op, node.operands) for node in nodes)
        budget = self.node_budget or 0
        if pending <= budget:
            self._recorded = min(pending, budget - budget // 8)
            return
        self._recorded = 0
        if not self._warned:
            self._warned = True
            place = caller_location()
            warnings.warn_explicit(
                f"{self.describe()} holds {pending} pending ops, more than its node_budget of "
                f"{budget}, so what is recorded from here on is realized early, at {place}; "
                f"realize results in the loop, or raise node_budget",
                RuntimeWarning,
                place.file,
                place.line,
            )
        self.demand((handle,))


class LazyBlock:
    """What `lazy` returns: a context manager, and a decorator that opens a block for each call."""

    __slots__ = ("_name", "_open", "_options")

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self._name = name
        self._options = options
        self._open: list[LazyRealizationContext] = []

    def __enter__(self) -> LazyRealizationContext:
        context = LazyRealizationContext(self._name, **self._options)
        context.__enter__()
        self._open.append(context)
        return context

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.pop().__exit__(kind, error, trace)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        require_plain_function(function, "lazy()")

        @wraps(function)
        def lazily(*args: P.args, **kwargs: P.kwargs) -> R:
            with LazyBlock(self._name, self._options):
                return function(*args, **kwargs)

        return lazily


def lazy(name: str = "", **options: Any) -> LazyBlock:
    """A lazy context to be opened by ``with``, or put as ``@lazy()`` above a function.

    Args:
        name: shown in errors and in `explain`.
        options: those of `LazyRealizationContext`.

    Raises:
        ArgumentError: an async function or a generator is decorated.
    """
    return LazyBlock(name, options)
