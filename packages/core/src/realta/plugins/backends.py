"""Backends: which are installed, in what state, and the one of a given name."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from realta import runtime
from realta.errors import BackendNotFound, BackendUnavailable, DeviceError
from realta.locks import RLock
from realta.plugins.loading import load_extension, load_plugin_backend
from realta.plugins.scan import EntryPoint, entry_points, forget

__all__ = [
    "BackendEntry",
    "backends",
    "forget_plugins",
    "load_backend",
    "probe_backend",
    "register_backend",
    "unregister_backend",
]

State = Literal["installed", "available", "unavailable", "broken", "unusable", "disabled"]
_MAJOR: Final = int(runtime.SPEC.partition(".")[0])
_OWN: Final = EntryPoint(
    "backends", _MAJOR, "reference", "realta.backend.reference:plugin", "realta", ""
)
"""Core's own backend, also where core runs from a folder without metadata."""
_PUBLISHED: Final = ("cuda", "llvm", "numpy", "opencl")
_EXTENSIONS: Final = ("ops", "passes")

_lock: Final = RLock()
_given: Final[dict[str, runtime.Backend]] = {}
_loaded: Final[dict[EntryPoint, runtime.Backend | DeviceError]] = {}
_probed: Final[dict[str, tuple[runtime.DeviceInfo, ...] | runtime.Unavailable]] = {}
_extended: Final[set[EntryPoint]] = set()


class BackendEntry(NamedTuple):
    """One backend as `backends` lists it.

    Args:
        name: its name.
        distribution: the distribution that brings it.
        version: that distribution's version.
        state: ``installed`` (not loaded so far), ``available``, ``unavailable`` (it cannot run on
            this machine), ``broken`` (loading it raised), ``unusable`` (another contract version,
            or two distributions of one name), ``disabled`` (by ``REALTA_PLUGINS``).
        reason: why, where the state asks for it.
        fix: how to change that.
    """

    name: str
    distribution: str
    version: str
    state: State
    reason: str = ""
    fix: str = ""


def backends(*, probe: bool = False) -> list[BackendEntry]:
    """Every installed backend by name, with the reason if it cannot be used.

    Args:
        probe: load each and ask for its devices; else only metadata is read, and states are what is
            known so far.
    """
    found = []
    for name in sorted({entry.name for entry in _entries()} | set(_given)):
        if probe:
            _try_probe(name)
        found.append(_entry(name))
    return found


def load_backend(name: str) -> runtime.Backend:
    """The backend of that name; imports its plugin and no other.

    Raises:
        BackendNotFound: none is installed.
        BackendUnavailable: it is disabled, ambiguous, of another contract version, or broken.
    """
    with _lock:
        if name in _given:
            return _given[name]
        candidates = [entry for entry in _entries() if entry.name == name]
        if not candidates:
            raise _not_found(name)
        problem = _problem(name, candidates)
        if problem is not None:
            raise BackendUnavailable(problem.reason, where=f"backend {name!r}", fix=problem.fix)
        entry = next(entry for entry in candidates if entry.major == _MAJOR)
        _load_extensions()
        if entry not in _loaded:
            try:
                _loaded[entry] = load_plugin_backend(entry)
            except DeviceError as error:
                _loaded[entry] = error
        known = _loaded[entry]
        if isinstance(known, DeviceError):
            raise type(known)(known.what, where=known.where, fix=known.fix) from known.__cause__
        return known


def probe_backend(name: str) -> tuple[runtime.DeviceInfo, ...]:
    """The devices of a backend; asked once.

    Raises:
        BackendNotFound: see `load_backend`.
        BackendUnavailable: it cannot run on this machine.
    """
    backend = load_backend(name)
    with _lock:
        if name not in _probed:
            _probed[name] = _probe(backend)
        found = _probed[name]
    if isinstance(found, runtime.Unavailable):
        raise BackendUnavailable(
            f"the backend {name!r} cannot run on this machine: {found.reason}",
            where=f"backend {name!r}",
            fix=found.fix,
        )
    return found


def register_backend(backend: runtime.Backend) -> None:
    """Adds a backend of this process under its own name, before any installed one of that name."""
    with _lock:
        _given[backend.name] = backend
        _probed.pop(backend.name, None)


def unregister_backend(name: str) -> None:
    """Takes back `register_backend`."""
    with _lock:
        _given.pop(name, None)
        _probed.pop(name, None)


def forget_plugins() -> None:
    """Forgets what was scanned, loaded and probed; registered backends stay."""
    with _lock:
        forget()
        _loaded.clear()
        _probed.clear()


def _entries() -> list[EntryPoint]:
    found = [entry for entry in entry_points() if entry.kind == "backends"]
    if not any(entry.name == _OWN.name for entry in found):
        found.append(_OWN)
    return found


def _allowed() -> frozenset[str] | None:
    """The names that ``REALTA_PLUGINS`` allows; None for all."""
    given = os.environ.get("REALTA_PLUGINS", "").strip()
    if not given:
        return None
    names = [] if given == "off" else [name.strip() for name in given.split(",")]
    return frozenset([*names, _OWN.name])


def _problem(name: str, candidates: Sequence[EntryPoint]) -> runtime.Unavailable | None:
    """Why a backend cannot be loaded, as far as its metadata tell."""
    allowed = _allowed()
    if allowed is not None and name not in allowed:
        given = os.environ["REALTA_PLUGINS"]
        return runtime.Unavailable(
            f"the plugin {name!r} is disabled by REALTA_PLUGINS={given}",
            f"unset REALTA_PLUGINS or add {name} to it",
        )
    usable = [entry for entry in candidates if entry.major == _MAJOR]
    if not usable:
        other = candidates[0]
        late = "realta" if other.major > _MAJOR else other.distribution
        return runtime.Unavailable(
            f"the plugin {name!r} of {other.distribution} {other.version} follows contract "
            f"{other.major}, this core {runtime.SPEC}",
            f"pip install --upgrade {late}",
        )
    owners = sorted({f"{entry.distribution} {entry.version}".strip() for entry in usable})
    if len(usable) > 1:
        return runtime.Unavailable(
            f"{len(usable)} distributions bring the backend {name!r}: {' and '.join(owners)}",
            "uninstall all but one of them",
        )
    return None


def _load_extensions() -> None:
    """Loads plugins of ops and passes, once; a broken one is reported when it is asked for."""
    if _allowed() is not None:
        return
    for entry in entry_points():
        if entry.kind in _EXTENSIONS and entry.major == _MAJOR and entry not in _extended:
            _extended.add(entry)
            try:
                load_extension(entry)
            except DeviceError as error:
                _loaded[entry] = error


def _probe(backend: runtime.Backend) -> tuple[runtime.DeviceInfo, ...] | runtime.Unavailable:
    try:
        found = backend.probe()
    except Exception as error:
        # A probe may not raise; one that does is as good as an answer.
        reason = f"its probe raised {type(error).__name__}: {error}"
        return runtime.Unavailable(reason, "report it to whoever publishes the backend")
    if isinstance(found, runtime.Unavailable):
        return found
    if not found:
        return runtime.Unavailable("it found no device", "see `realta doctor`")
    return tuple(found)


def _try_probe(name: str) -> None:
    try:
        probe_backend(name)
    except DeviceError:
        return  # what it was is kept and shown


def _entry(name: str) -> BackendEntry:
    if name in _given:
        state, reason, fix = _probe_state(name)
        return BackendEntry(name, "(this process)", "", state, reason, fix)
    candidates = [entry for entry in _entries() if entry.name == name]
    first = candidates[0]
    problem = _problem(name, candidates)
    if problem is not None:
        disabled = "REALTA_PLUGINS" in problem.reason
        state = "disabled" if disabled else "unusable"
        return BackendEntry(
            name, first.distribution, first.version, state, problem.reason, problem.fix
        )
    first = next(entry for entry in candidates if entry.major == _MAJOR)
    known = _loaded.get(first)
    if isinstance(known, DeviceError):
        return BackendEntry(
            name, first.distribution, first.version, "broken", known.what, known.fix
        )
    state, reason, fix = _probe_state(name)
    return BackendEntry(name, first.distribution, first.version, state, reason, fix)


def _probe_state(name: str) -> tuple[State, str, str]:
    found = _probed.get(name)
    if found is None:
        return ("installed", "", "")
    if isinstance(found, runtime.Unavailable):
        return ("unavailable", found.reason, found.fix)
    return ("available", "", "")


def _not_found(name: str) -> BackendNotFound:
    known = backends(probe=True)
    usable = [entry for entry in known if entry.state in ("available", "installed")]
    others = [entry for entry in known if entry not in usable]
    if name in _PUBLISHED:
        advice = f"pip install realta-{name}"
    else:
        # Not worth its import time before there is a mistake to help with.
        difflib = importlib.import_module("difflib")
        near = difflib.get_close_matches(name, [entry.name for entry in usable], n=1)
        advice = f"did you mean {near[0]!r}?" if near else "install the package that brings it"
    shown = ", ".join(f"{e.name} ({e.distribution} {e.version})".replace(" )", ")") for e in usable)
    fix = f"{advice}; installed: {shown}"
    if others:
        fix += "; not usable: " + ", ".join(f"{e.name} ({e.reason})" for e in others)
    return BackendNotFound(f"no installed backend is called {name!r}", fix=fix)
