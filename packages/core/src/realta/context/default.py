"""Default contexts: what ops record into where none is open, and how that is exchanged."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self

from realta.context.base import RecordingContext
from realta.context.eager import EagerRealizationContext
from realta.context.graph_context import GraphRealizationContext
from realta.context.location import caller_location
from realta.context.scope import activate, current, deactivate
from realta.errors import ArgumentError

__all__ = [
    "DefaultContext", "ambient_context", "custom_default", "default_realization_context",
    "ensure_context", "in_graph_context", "on_default_change", "set_default_realization_context",
]  # fmt: skip

Factory = Callable[[], RecordingContext]


class DefaultContext:
    """The handle of an installed default; as a context manager it uninstalls just that one."""

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
            found = _made_by(self.factory)
            self.ambient.set(found)
        return found


_installed: Final[list[DefaultContext]] = []
_listeners: Final[list[Callable[[], None]]] = []


def on_default_change(listener: Callable[[], None]) -> None:
    """Calls ``listener`` whenever a default is installed or uninstalled.

    The fast path turns itself off by it.
    """
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
    """A new context of the installed kind; eager unless a default was installed."""
    return _made_by(_installed[-1].factory) if _installed else EagerRealizationContext()


def set_default_realization_context(factory: Factory) -> DefaultContext:
    """Installs the factory of the contexts that bare ops use, at once and process-wide.

    Args:
        factory: a callable without arguments that returns an eager or a lazy context; called once
            for each thread or task.

    Returns:
        A handle that takes this default back: ``with set_default_realization_context(f): …`` or
        ``handle.restore()``, in any order.

    Raises:
        ArgumentError: the factory cannot be called or does not return such a context.
    """
    if not callable(factory):
        raise ArgumentError(
            f"a default context is given by a callable, got {type(factory).__name__}",
            where=str(caller_location()),
            fix="pass the class: set_default_realization_context(LazyRealizationContext)",
        )
    installed = DefaultContext(factory)
    installed.current()
    _installed.append(installed)
    _notify()
    return installed


def _made_by(factory: Factory) -> RecordingContext:
    made: Any = factory()
    if not isinstance(made, RecordingContext) or isinstance(made, GraphRealizationContext):
        raise ArgumentError(
            f"the default context factory returned {type(made).__name__}, "
            "which is no eager or lazy context",
            where=str(caller_location()),
            fix="return an EagerRealizationContext or a LazyRealizationContext",
        )
    return made


class _Ensured:
    """Context manager of `ensure_context`."""

    __slots__ = ("_ambient", "_opened")

    def __init__(self) -> None:
        self._ambient: RecordingContext | None = None
        self._opened: RecordingContext | None = None

    def __enter__(self) -> Self:
        if current.get() is not None:
            return self
        if custom_default():
            self._ambient = ambient_context()
            activate(self._ambient)
        else:
            self._opened = EagerRealizationContext()
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
        if self._ambient is not None:
            ambient = self._ambient
            problem = deactivate(ambient)
            if problem is not None:
                raise problem
            if error is None and isinstance(ambient, EagerRealizationContext):
                ambient.realize_all()


def ensure_context() -> _Ensured:
    """Makes sure that a context is current in the block.

    One that is current already stays; else the installed default's ambient context serves, and
    without such a default an eager region, which runs at the block's end.
    """
    return _Ensured()


def in_graph_context() -> bool:
    """Whether ops are recorded into a graph: in a GraphRealizationContext or ``with graph:``."""
    return isinstance(current.get(), GraphRealizationContext)
