"""Hook specifications: what a plugin may implement. Importing this imports pluggy.

Each specification here is a function in the plugin's module or object, marked with
``realta.backend.hookimpl``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import pluggy

from realta.hooks import PROJECT, hookimpl, hookspec
from realta.ops import OpDef
from realta.passes import Pass
from realta.runtime import (
    Backend,
    CompileEvent,
    ExecuteEvent,
    add_compile_wrapper,
    add_execute_wrapper,
    add_pass,
)

__all__ = ["HookSpecs", "PluginHost"]


class HookSpecs:
    """What plugins may implement."""

    @hookspec
    def realta_backends(self) -> Iterable[Backend]:  # type: ignore[empty-body]
        """The backends that a plugin of group ``realta.backends.v1`` brings."""

    @hookspec
    def realta_ops(self) -> Iterable[OpDef]:  # type: ignore[empty-body]
        """Defines the ops that a plugin of group ``realta.ops.v1`` brings and returns them."""

    @hookspec
    def realta_passes(self) -> Iterable[Pass]:  # type: ignore[empty-body]
        """The passes of a plugin of group ``realta.passes.v1``; run before normalization."""

    @hookspec(firstresult=True)
    def realta_compile(self, event: CompileEvent, call: Callable[[], Any]) -> Any:
        """Wraps every compilation: implement it with ``hookimpl(wrapper=True)``."""

    @hookspec(firstresult=True)
    def realta_execute(self, event: ExecuteEvent, call: Callable[[], Any]) -> Any:
        """Wraps every run of a program: implement it with ``hookimpl(wrapper=True)``."""


class _Innermost:
    """Core's own end of the wrapper hooks."""

    @hookimpl(trylast=True)
    def realta_compile(self, event: CompileEvent, call: Callable[[], Any]) -> Any:
        return call()

    @hookimpl(trylast=True)
    def realta_execute(self, event: ExecuteEvent, call: Callable[[], Any]) -> Any:
        return call()


class PluginHost:
    """The plugins that were loaded, as pluggy knows them."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(PROJECT)
        self.manager.add_hookspecs(HookSpecs)
        self.manager.register(_Innermost(), "realta.core")
        self._bridged: set[str] = set()
        self._again = 0

    def add(self, plugin: object, name: str) -> None:
        """Registers a loaded plugin and connects its wrappers, passes and ops.

        Raises:
            PluginValidationError: a hook has arguments that its specification lacks.
        """
        if self.manager.is_registered(plugin):
            return
        if self.manager.has_plugin(name):
            # An earlier version of the same one; pluggy keeps the name of what it refused, too.
            with contextlib.suppress(AssertionError):
                self.manager.unregister(name=name)
            self._again += 1
            name = f"{name}:{self._again}"
        self.manager.register(plugin, name)
        found = self._implemented(plugin)
        if "realta_compile" in found and "realta_compile" not in self._bridged:
            self._bridged.add("realta_compile")
            add_compile_wrapper(self._compile)
        if "realta_execute" in found and "realta_execute" not in self._bridged:
            self._bridged.add("realta_execute")
            add_execute_wrapper(self._execute)
        for made in self.results(plugin, "realta_passes"):
            add_pass(made)
        self.results(plugin, "realta_ops")

    def results(self, plugin: object, hook: str) -> list[Any]:
        """What one plugin's implementation of a hook returns; nothing if it has none."""
        if hook not in self._implemented(plugin):
            return []
        return list(getattr(plugin, hook)() or ())

    def _implemented(self, plugin: object) -> set[str]:
        callers = self.manager.get_hookcallers(plugin) or []
        return {caller.name for caller in callers}

    def _compile(self, event: CompileEvent, call: Callable[[], Any]) -> Any:
        return self.manager.hook.realta_compile(event=event, call=call)

    def _execute(self, event: ExecuteEvent, call: Callable[[], Any]) -> Any:
        return self.manager.hook.realta_execute(event=event, call=call)
