"""Memory helpers of vectors: elements that are not neighbours, and lanes that are switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from realta.codegen.dialect import CDialect
from realta.codegen.ir import Space
from realta.codegen.preamble import Preamble
from realta.types import DType, int32

__all__ = ["VectorMemory"]

_SHORT: Final[dict[Space, str]] = {"global": "", "group": "_group", "lane": "_lane"}


class VectorMemory:
    """Helper functions that read and write vectors lane by lane.

    Args:
        preamble: where they are added.
        lanes: length of the vectors.
        index: the integer type of indices.
    """

    def __init__(self, preamble: Preamble, lanes: int, index: DType) -> None:
        self.preamble = preamble
        self.dialect: CDialect = preamble.dialect
        self.lanes = lanes
        self.mask = self.dialect.register(int32, lanes)
        self.at = self.dialect.spelled(index, lanes)
        self.suffix = "" if index is int32 else "_long"

    def _elements(self, text: Callable[[str], str]) -> Iterable[str]:
        return (text(f"{number:x}") for number in range(self.lanes))

    def _component(self, value: str, number: str) -> str:
        assert self.dialect.vector is not None  # noqa: S101 (there are vectors)
        return self.dialect.vector.component.format(value=value, numbers=number)

    def read(self, space: Space, dtype: DType, *, spread: bool, masked: bool) -> str:
        """A function ``(pointer[, at][, mask])`` that reads a vector.

        Args:
            space: where the pointer points to.
            dtype: type of the elements in memory.
            spread: whether each lane has an index of its own in `at`; else they are neighbours.
            masked: whether lanes whose mask is 0 read nothing and get 0.
        """
        name = self._name("gather" if spread else "load", masked, space, dtype)
        return self.preamble.function(
            name, lambda: self._read(space, dtype, spread=spread, masked=masked)
        )

    def _read(self, space: Space, dtype: DType, *, spread: bool, masked: bool) -> str:
        assert self.dialect.vector is not None  # noqa: S101 (there are vectors)

        def element(number: str) -> str:
            at = self._component("at", number) if spread else str(int(number, 16))
            return f"{self._component('mask', number)} ? p[{at}] : 0" if masked else f"p[{at}]"

        vector = self.dialect.spelled(dtype, self.lanes)
        built = self.dialect.vector.build.format(
            type=self.dialect.types[dtype], lanes=self.lanes,
            values="\n        " + ",\n        ".join(self._elements(element)),
        )  # fmt: skip
        parameters = [f"{self.dialect.pointer(space, dtype, True)}p"]
        parameters += self._parameters(spread, masked)
        head = f"{self.dialect.helper} {vector} @({', '.join(parameters)})"
        return f"{head}\n{{\n    return {built};\n}}\n"

    def write(self, space: Space, dtype: DType, *, spread: bool, masked: bool) -> str:
        """A function ``(value, pointer[, at][, mask])`` that writes a vector, as `read` reads."""
        name = self._name("scatter" if spread else "store", masked, space, dtype)
        return self.preamble.function(
            name, lambda: self._write(space, dtype, spread=spread, masked=masked)
        )

    def _write(self, space: Space, dtype: DType, *, spread: bool, masked: bool) -> str:
        def element(number: str) -> str:
            at = self._component("at", number) if spread else str(int(number, 16))
            condition = f"if ({self._component('mask', number)}) " if masked else ""
            return f"    {condition}p[{at}] = {self._component('v', number)};"

        parameters = [
            f"{self.dialect.spelled(dtype, self.lanes)} v",
            f"{self.dialect.pointer(space, dtype, False)}p",
            *self._parameters(spread, masked),
        ]
        head = f"{self.dialect.helper} void @({', '.join(parameters)})"
        body = "\n".join(self._elements(element))
        return f"{head}\n{{\n{body}\n}}\n"

    def stream(self, dtype: DType) -> str:
        """A function ``(value, pointer)`` that writes neighbours past the caches where it can."""
        name = self._name("stream", False, "global", dtype)
        return self.preamble.function(name, lambda: self._stream(dtype))

    def _stream(self, dtype: DType) -> str:
        syntax = self.dialect.vector
        assert syntax is not None  # noqa: S101 (there are vectors)
        space = self.dialect.spaces.get("global", "")
        words = {
            "type": self.dialect.types[dtype], "lanes": self.lanes, "value": "v", "pointer": "p",
            "space": space, "mask": dtype.itemsize * self.lanes - 1,
        }  # fmt: skip
        pointer = self.dialect.pointer("global", dtype, False)
        head = (
            f"{self.dialect.helper} void @({self.dialect.spelled(dtype, self.lanes)} v, {pointer}p)"
        )
        lines = [
            head,
            "{",
            "#ifdef __has_builtin",
            "#if __has_builtin(__builtin_nontemporal_store)",
            f"    if ({syntax.aligned.format(**words)}) {{",
            f"        {syntax.streaming.format(**words)};",
            "        return;",
            "    }",
            "#endif",
            "#endif",
            f"    {syntax.store.format(**words)};",
            "}",
        ]
        return "\n".join(lines) + "\n"

    def _parameters(self, spread: bool, masked: bool) -> list[str]:
        return [f"{self.at} at"] * spread + [f"{self.mask} mask"] * masked

    def _name(self, what: str, masked: bool, space: Space, dtype: DType) -> str:
        where = "_where" if masked else ""
        suffix = self.suffix if what in ("gather", "scatter") else ""
        return f"{what}{where}_{dtype.short}x{self.lanes}{_SHORT[space]}{suffix}"
