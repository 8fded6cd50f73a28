"""The exception tree: every error says what happened, where, and how to mend it.

::

    RealtaError
    ├── ShapeError(ValueError)            shapes, axes, extents that do not fit
    ├── DTypeError(TypeError)             dtypes that do not fit or do not promote
    │   └── ScalarOverflowError(OverflowError)   a Python int that a dtype cannot hold
    ├── ArgumentError(TypeError)          a wrong, missing or doubled argument
    ├── ExchangeError(BufferError, ValueError)   memory that cannot be shared as asked
    ├── IndexBoundsError(IndexError)      an index outside its axis
    ├── DeviceError(RuntimeError)         tensors on devices that do not mix
    │   ├── BackendNotFound               no installed backend has that name
    │   └── BackendUnavailable            installed, but it cannot run here
    ├── UnsupportedOp(NotImplementedError)
    │   └── MissingAttribute(AttributeError)  a name from another library
    ├── CompilationError(RuntimeError)    a backend could not build a graph
    ├── FusionError(RuntimeError)         a region with fuse="must" cannot be one kernel
    ├── ExecutionError(RuntimeError)      a launch failed; its outputs are poisoned
    │   ├── AssertionFailed(AssertionError)   an `F.assert_` that did not hold
    │   └── DeviceFault                   what a session raises for a failed launch
    ├── OutOfMemory(MemoryError)
    ├── RealizationError(TypeError)       a tensor cannot become real here
    ├── VerificationError(ValueError)     a graph breaks the rules of the IR
    ├── ParseError(ValueError)            a graph text that does not parse
    └── SerializationError(ValueError)    a container that cannot be read or written
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "ArgumentError",
    "AssertionFailed",
    "BackendNotFound",
    "BackendUnavailable",
    "CompilationError",
    "DTypeError",
    "DeviceError",
    "DeviceFault",
    "ExchangeError",
    "ExecutionError",
    "FusionError",
    "IndexBoundsError",
    "MissingAttribute",
    "OutOfMemory",
    "ParseError",
    "RealizationError",
    "RealtaError",
    "ScalarOverflowError",
    "SerializationError",
    "ShapeError",
    "UnsupportedOp",
    "VerificationError",
]


class RealtaError(Exception):
    """Base of all errors of this library.

    Args:
        what: what happened, one sentence without a full stop at its end.
        where: the op with its operand types, the graph, the user's file and line.
        fix: how to mend it.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.what]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.what, self.where, self.fix))

    def at(self, where: str) -> RealtaError:
        """Adds the place (op, operand types, file and line) if none is known yet; returns self."""
        if not self.where:
            self.where = where
        return self


def _rebuild(kind: type[RealtaError], what: str, where: str, fix: str) -> RealtaError:
    error = kind.__new__(kind)
    RealtaError.__init__(error, what, where=where, fix=fix)
    return error


class ShapeError(RealtaError, ValueError):
    """Shapes, axes or extents do not fit together."""


class DTypeError(RealtaError, TypeError):
    """A dtype does not fit an op, or two dtypes have no common one."""


class ScalarOverflowError(DTypeError, OverflowError):
    """A Python integer beside a tensor does not fit the tensor's dtype."""


class ArgumentError(RealtaError, TypeError):
    """An argument is missing, doubled, unknown or of the wrong kind."""


class ExchangeError(RealtaError, BufferError, ValueError):
    """Memory that cannot be shared with another library as it asks for."""


class IndexBoundsError(RealtaError, IndexError):
    """An index lies outside its axis."""


class DeviceError(RealtaError, RuntimeError):
    """Tensors live on devices that do not mix, or a device cannot be used."""


class BackendNotFound(DeviceError):
    """No installed backend has the requested name."""


class BackendUnavailable(DeviceError):
    """A backend is installed but cannot run on this machine."""


class UnsupportedOp(RealtaError, NotImplementedError):
    """A device, or this version, does not have an op for these operand types."""


class MissingAttribute(UnsupportedOp, AttributeError):
    """A name from another library; says what to write instead."""


class CompilationError(RealtaError, RuntimeError):
    """A backend could not build a graph; carries the log and the source it wrote."""

    def __init__(
        self, what: str, *, where: str = "", fix: str = "", log: str = "", source: str = ""
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.log = log
        self.source = source

    def __str__(self) -> str:
        parts = [super().__str__()]
        if self.log:
            parts.append("  log:\n" + "\n".join("    " + line for line in self.log.splitlines()))
        if self.source:
            numbered = enumerate(self.source.splitlines(), 1)
            parts.append("  source:\n" + "\n".join(f"    {n:4d} {line}" for n, line in numbered))
        return "\n".join(parts)


class FusionError(RealtaError, RuntimeError):
    """A region with ``fuse="must"`` cannot become one kernel; names the op that split it."""


class ExecutionError(RealtaError, RuntimeError):
    """A launch failed; the tensors it was to fill are poisoned, other work is unaffected."""


class AssertionFailed(ExecutionError, AssertionError):
    """An assertion of `F.assert_` did not hold; what comes after it in its context did not run."""


class DeviceFault(ExecutionError):
    """What a session raises for a launch that failed on the device.

    Args:
        node: ordinal of the op in the compiled graph, if known.
        kind: how it failed.
        detail: the driver's own words.
        fatal: whether the session must be reopened.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        fix: str = "",
        node: int | None = None,
        kind: Literal["launch", "lost", "timeout"] = "launch",
        detail: str = "",
        fatal: bool = False,
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.node = node
        self.kind = kind
        self.detail = detail
        self.fatal = fatal


class OutOfMemory(RealtaError, MemoryError):
    """An allocation does not fit; the message carries requested, live, pooled and limit."""


class RealizationError(RealtaError, TypeError):
    """A tensor cannot become real at this place."""


class VerificationError(RealtaError, ValueError):
    """A graph breaks the rules of the IR."""


class ParseError(RealtaError, ValueError):
    """A graph text does not parse; the message has the line, the column and a caret."""


class SerializationError(RealtaError, ValueError):
    """A container cannot be read or written."""
