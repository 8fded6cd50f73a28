"""Record: base of small immutable classes that are compared by value.

What a frozen dataclass is, without its price: making one takes longer than most modules take to
import. A subclass lists its fields in ``__slots__`` and sets them in that order, with
`Record._set`, in its ``__init__``; the arguments of that may be others (a field may be computed).
A slot whose name begins with an underscore is no field: it remembers what the fields imply.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from operator import call
from typing import Any, ClassVar, NoReturn

__all__ = ["Record"]


class Record:
    """An immutable object that equals another of its class iff all fields are equal."""

    __slots__: tuple[str, ...] = ()

    _fields: ClassVar[tuple[str, ...]] = ()
    """Names of all fields, those of base classes first."""

    _setters: ClassVar[tuple[Callable[[Any, Any], None], ...]] = ()
    """What sets each of them, past `__setattr__`."""

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__dict__.get("__slots__", ()) if name[0] != "_"]
        cls._fields = (*cls._fields, *own)
        cls._setters = (*cls._setters, *[cls.__dict__[name].__set__ for name in own])

    def _set(self, *values: Any) -> None:
        """Sets the first fields in order; for ``__init__`` alone."""
        # A loop in C, as every setter gives None: records are made by the thousand.
        any(map(call, self._setters, repeat(self), values))

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self._fields])

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed, so neither can its {name}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed, so neither can its {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(other) is not type(self):
            return NotImplemented
        return self is other or self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        shown = [f"{n}={getattr(self, n)!r}" for n in self._fields]
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # The fields themselves: what __init__ takes may be fewer, or in another order.
        return (_restored, (type(self), *self._values()))


def _restored(kind: type[Record], *values: Any) -> Record:
    """A record from its fields, in order."""
    record = kind.__new__(kind)
    record._set(*values)
    return record
