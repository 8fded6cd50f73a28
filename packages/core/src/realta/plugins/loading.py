"""Loading: imports one plugin and explains what is wrong with it if that fails."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from realta import runtime
from realta.errors import BackendUnavailable, RealtaError
from realta.locks import RLock
from realta.plugins.scan import EntryPoint

if TYPE_CHECKING:
    from realta.plugins.hookspecs import PluginHost

__all__ = ["load_extension", "load_plugin_backend", "plugin_host"]

_lock: Final = RLock()
_host: list[PluginHost] = []


def plugin_host() -> PluginHost:
    """The host of loaded plugins; pluggy is imported with the first one, not with the library."""
    with _lock:
        if not _host:
            hookspecs = importlib.import_module("realta.plugins.hookspecs")
            _host.append(hookspecs.PluginHost())
        return _host[0]


def load_plugin_backend(entry: EntryPoint) -> runtime.Backend:
    """The backend that an entry point stands for; imports its module.

    Raises:
        BackendUnavailable: the import or a hook raised, or the plugin does not bring what it names.
    """
    plugin = _import(entry)
    made = _ask(entry, plugin, "realta_backends")
    for backend in made:
        if getattr(backend, "name", None) == entry.name:
            _check_spec(entry, backend)
            return backend  # type: ignore[no-any-return]
    names = ", ".join(repr(getattr(b, "name", "?")) for b in made) or "none"
    raise BackendUnavailable(
        f"the plugin {entry.name!r} of {_dist(entry)} brings no backend of that name, but {names}",
        where=f"entry point {entry.name} = {entry.value}",
        fix=f"return a backend with name {entry.name!r} from realta_backends()",
    )


def load_extension(entry: EntryPoint) -> None:
    """Loads a plugin of ops or passes.

    Raises:
        BackendUnavailable: the import or a hook raised.
    """
    _import(entry)


def _import(entry: EntryPoint) -> Any:
    module, _, name = entry.value.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in filter(None, name.split(".")):
            found = getattr(found, part)
        plugin_host().add(found, f"{entry.distribution}:{entry.kind}:{entry.name}")
    except Exception as error:
        raise _broken(entry, error) from error
    return found


def _ask(entry: EntryPoint, plugin: Any, hook: str) -> list[Any]:
    try:
        return plugin_host().results(plugin, hook)
    except Exception as error:
        raise _broken(entry, error) from error


def _broken(entry: EntryPoint, error: Exception) -> BackendUnavailable:
    frames = importlib.import_module("traceback").extract_tb(error.__traceback__)
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else entry.value
    what = str(error) if isinstance(error, RealtaError) else f"{type(error).__name__}: {error}"
    return BackendUnavailable(
        f"the plugin {entry.name!r} of {_dist(entry)} cannot be loaded: {what}",
        where=f"entry point {entry.name} = {entry.value}, raised at {place}",
        fix=f"pip install --upgrade {entry.distribution}, or uninstall it; other backends work",
    )


def _check_spec(entry: EntryPoint, backend: Any) -> None:
    spec = str(getattr(backend, "spec", "none"))
    if spec.partition(".")[0] == runtime.SPEC.partition(".")[0]:
        return
    raise BackendUnavailable(
        f"the backend {entry.name!r} of {_dist(entry)} follows contract {spec}, "
        f"this core {runtime.SPEC}",
        where=f"entry point {entry.name} = {entry.value}",
        fix=f"pip install --upgrade realta {entry.distribution}",
    )


def _dist(entry: EntryPoint) -> str:
    return f"{entry.distribution} {entry.version}".strip()
