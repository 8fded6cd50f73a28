"""Scopes: C text as nested bodies, each with a head in which indices are named once.

An index that depends on loop variables alone is computed at the beginning of the innermost body in
which one of them is defined, whoever needs it further inside.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from realta.codegen.indices import Axis, Index, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Scope", "Scopes"]

_INDENT = "    "
RESERVED: Final = frozenset(
    {
        "acos", "acosh", "alignas", "asin", "asinh", "asm", "atan", "atan2", "atanh", "auto",
        "barrier", "bool", "break", "case", "catch", "ceil", "char", "clamp", "class", "const",
        "constant", "continue", "copysign", "cos", "cosh", "cross", "default", "delete",
        "distance", "do", "dot", "double", "else", "enum", "erf", "exp", "exp2", "expm1",
        "extern", "fabs", "false", "far", "first_group", "float", "floor", "fma", "fmod", "for",
        "fract", "global", "goto", "half", "hypot", "if", "inline", "int", "kernel", "last_group",
        "length", "local", "log", "log10", "log1p", "log2", "long", "mad", "main", "max", "min",
        "mix", "near", "new", "normalize", "operator", "pow", "private", "public", "read_only",
        "register", "restrict", "return", "rint", "round", "rsqrt", "select", "shadow", "short",
        "sign", "signed", "sin", "sinh", "size_t", "sizeof", "sqrt", "static", "step", "struct",
        "switch", "tan", "tanh", "template", "this", "true", "trunc", "typedef", "uchar", "uint",
        "ulong", "union", "unsigned", "ushort", "void", "volatile", "while",
    }
)  # fmt: skip
"""Words of the languages, and functions of theirs that a name would hide."""


class Scope:
    """A body between braces."""

    def __init__(self, axes: Iterable[str], opening: str = "", closing: str = "") -> None:
        self.axes = frozenset(axes)
        self.opening = opening
        self.closing = closing
        self.head: list[str] = []
        self.body: list[str | Scope] = []
        self.names: dict[Index, str] = {}

    def lines(self, depth: int) -> Iterator[str]:
        """The text, line by line."""
        if self.opening:
            for line in self.opening.split("\n"):
                yield _INDENT * depth + line
        inside = depth + bool(self.opening)
        for line in self.head:
            yield _INDENT * inside + line
        for part in self.body:
            if isinstance(part, str):
                yield _INDENT * inside + part
            else:
                yield from part.lines(inside)
        if self.closing:
            yield _INDENT * depth + self.closing


class Scopes:
    """The bodies that are open, outermost first.

    Args:
        outermost: names of loop variables that are defined everywhere.
        taken: names that cannot be given.
    """

    def __init__(self, outermost: Iterable[str], taken: Iterable[str]) -> None:
        self.open = [Scope(outermost)]
        self._taken = set(taken) | RESERVED
        self._given: dict[str, str] = {}
        self.named: list[str] = []

    @property
    def root(self) -> Scope:
        """The outermost body."""
        return self.open[0]

    def add(self, line: str) -> None:
        """Adds a line at the end of the innermost body."""
        self.open[-1].body.append(line)

    @contextmanager
    def nested(self, opening: str, closing: str = "}", axes: Iterable[str] = ()) -> Iterator[Scope]:
        """A body inside the innermost one."""
        scope = Scope(axes, opening, closing)
        self.open[-1].body.append(scope)
        self.open.append(scope)
        try:
            yield scope
        finally:
            self.open.pop()

    def fresh(self, name: str) -> str:
        """A name that is not taken: the given one if possible."""
        found, number = name, 0
        while found in self._taken:
            found, number = f"{name}_{number}", number + 1
        self._taken.add(found)
        return found

    def name(self, given: str) -> str:
        """The C name of a name of the kernel."""
        if given not in self._given:
            self._given[given] = self.fresh(given + "_") if given in RESERVED else given
        return self._given[given]

    def home(self, index: Index) -> Scope | None:
        """The innermost body that defines a loop variable of an index; None if it reads data."""
        axes = set()
        for leaf in leaves(index):
            if not isinstance(leaf, Axis):
                return None
            axes.add(leaf.name)
        for scope in reversed(self.open):
            if not axes.isdisjoint(scope.axes):
                return scope
        return self.root
