"""Default contexts: what ops record into where no context is open, and how that is exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self

from realta.context.base import RecordingContext
from realta.context.eager import EagerRealizationContext
from realta.context.graph_context import GraphRealizationContext
from realta.context.lazy import LazyRealizationContext
from realta.context.scope import current
from realta.errors import ArgumentError

__all__ = [
    "DefaultContext", "ambient_context", "custom_default", "default_realization_context",
    "ensure_context", "in_graph_context", "lazy", "on_default_change",
    "set_default_realization_context",
]  # fmt: skip

Factory = Callable[[], RecordingContext]


class DefaultContext:
    """The handle of an installed default; leaving it as a context manager uninstalls just that one."""

    __slots__ = ("ambient", "factory")

    def __init__(self, factory: Factory) -> None:
        self.factory = factory
        self.ambient: ContextVar[RecordingContext | None] = ContextVar("ambient", default=None)

    def __enter__(self) -> Factory:
        return self.factory

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.restore()

    def restore(self) -> None:
        """Uninstalls this default; what was installed before or after it is untouched."""
        if self in _installed:
            _installed.remove(self)
            _notify()

    def current(self) -> RecordingContext:
        """The ambient context of this thread or task; the factory is called once for each."""
        found = self.ambient.get()
        if found is None:
            found = self.factory()
            self.ambient.set(found)
        return found


_installed: Final[list[DefaultContext]] = []
_listeners: Final[list[Callable[[], None]]] = []


def on_default_change(listener: Callable[[], None]) -> None:
    """Calls ``listener`` whenever a default is installed or uninstalled (the fast path turns itself off)."""
    _listeners.append(listener)


def _notify() -> None:
    for listener in _listeners:
        listener()


def custom_default() -> bool:
    """Whether a default other than one-op eager regions is installed."""
    return bool(_installed)


def ambient_context() -> RecordingContext:
    """The context of the installed default in this thread or task."""
    return _installed[-1].current()


def default_realization_context() -> RecordingContext:
    """A new context of the installed kind: eager unless `set_default_realization_context` was called."""
    return _installed[-1].factory() if _installed else EagerRealizationContext()


def set_default_realization_context(factory: Factory) -> DefaultContext:
    """Installs the factory of the contexts that bare ops use, at once and process-wide.

    Args:
        factory: a callable without arguments that returns a realization context; called once per
            thread or task.

    Returns:
        A handle that restores the previous default: ``with set_default_realization_context(f): …`` or
        ``handle.restore()``, in any order.

    Raises:
        ArgumentError: the factory cannot be called or does not return a context.
    """
    if not callable(factory):
        raise ArgumentError(
            f"a default context is given by a callable, got {type(factory).__name__}",
            fix="pass the class itself, as in set_default_realization_context(LazyRealizationContext)",
        )
    made: Any = factory()
    if not isinstance(made, RecordingContext):
        raise ArgumentError(
            f"the default context factory returned {type(made).__name__}, not a realization context",
            fix="return an EagerRealizationContext or a LazyRealizationContext",
        )
    installed = DefaultContext(factory)
    _installed.append(installed)
    _notify()
    return installed


class _Ensured:
    """Context manager of `ensure_context`."""

    __slots__ = ("_opened",)

    def __init__(self) -> None:
        self._opened: RecordingContext | None = None

    def __enter__(self) -> Self:
        if current.get() is None:
            self._opened = default_realization_context()
            self._opened.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            self._opened.__exit__(kind, error, trace)


def ensure_context() -> _Ensured:
    """Opens a default context for the block unless one is open."""
    return _Ensured()


def in_graph_context() -> bool:
    """Whether ops are being recorded into a graph: inside a GraphRealizationContext or ``with graph:``."""
    return isinstance(current.get(), GraphRealizationContext)


@contextmanager
def lazy(name: str = "", **options: Any) -> Iterator[LazyRealizationContext]:
    """Opens a lazy context: ``with lazy(): …``, or ``@lazy()`` on a function.

    Args:
        name: shown in errors and in `explain`.
        options: those of `LazyRealizationContext`.
    """
    with LazyRealizationContext(name, **options) as context:
        yield context
