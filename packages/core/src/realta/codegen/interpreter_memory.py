"""Interpreter memory: elements with a record of who wrote and who read them.

A lane may read what it wrote itself, what was there before the launch, and in group memory what
was written before the last barrier. Everything else depends on which lane is faster, and is found
here whether or not it happened to go well.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.codegen.ir import Buffer

__all__ = ["Fault", "Memory"]

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_NOBODY: Final = -1
_SEVERAL: Final = -2


class Fault(Exception):
    """What a kernel must not do; the interpreter adds the place.

    Args:
        what: what happened.
        fix: how to mend it.
    """

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


class Memory:
    """The elements of a buffer, for all groups and lanes.

    Args:
        buffer: what it is.
        array: one-dimensional; the elements of all groups or lanes one after the other.
        defined: which elements have a value; None: all.
    """

    def __init__(self, buffer: Buffer, array: NDArray[Any], defined: Flags | None) -> None:
        self.buffer = buffer
        self.array = array
        self.defined = defined
        # A lane cannot meet another one in its own memory, nor in what nobody writes.
        shared = buffer.space != "lane" and not (
            buffer.space == "global" and buffer.role == "input"
        )
        self.writers = np.full(array.size, _NOBODY, np.int64) if shared else None
        reads = shared and buffer.role != "output"
        self.readers = np.full(array.size, _NOBODY, np.int64) if reads else None

    def barrier(self, elements: Any) -> None:
        """What is written so far is seen by all lanes of the groups that own the elements."""
        if self.writers is not None:
            self.writers[elements] = _NOBODY
        if self.readers is not None:
            self.readers[elements] = _NOBODY

    def forget(self, elements: Any) -> None:
        """The elements are undefined again."""
        if self.defined is not None:
            self.defined[elements] = False

    def _named(self, element: int) -> str:
        return f"{self.buffer.name}[{element % max(self.buffer.size, 1)}]"

    def load(self, elements: Numbers, lanes: Numbers) -> NDArray[Any]:
        """Elements, read by lanes.

        Raises:
            Fault: an element is undefined, or another lane may not have written it yet.
        """
        if self.defined is not None and not self.defined[elements].all():
            first = int(elements[~self.defined[elements]][0])
            raise Fault(
                f"{self._named(first)} is read before it is written",
                "store it before, or read less",
            )
        if self.writers is not None:
            writers = self.writers[elements]
            foreign = (writers != _NOBODY) & (writers != lanes)
            if foreign.any():
                self._racing(elements, lanes, foreign, "is read by", "was written by another lane")
        if self.readers is not None:
            earlier = self.readers[elements]
            shared = (earlier != _NOBODY) & (earlier != lanes)
            self.readers[elements] = lanes
            shared |= self.readers[elements] != lanes
            self.readers[elements[shared]] = _SEVERAL
        return self.array[elements]

    def store(self, elements: Numbers, values: NDArray[Any], lanes: Numbers) -> None:
        """Writes elements by lanes; two may write one element only if they write the same bits.

        Raises:
            Fault: two lanes write different values, or another lane may still be reading.
        """
        if self.readers is not None:
            readers = self.readers[elements]
            foreign = (readers != _NOBODY) & (readers != lanes)
            if foreign.any():
                self._racing(elements, lanes, foreign, "is written by", "is read by another lane")
        if self.writers is not None:
            writers = self.writers[elements]
            shared = (writers != _NOBODY) & (writers != lanes)
            clash = shared & (_bits(self.array[elements]) != _bits(values))
            if clash.any():
                self._clashing(elements, lanes, clash)
        self.array[elements] = values
        if self.writers is not None:
            # Of several lanes that write one element now, the array has the last.
            clash = _bits(self.array[elements]) != _bits(values)
            if clash.any():
                self._clashing(elements, lanes, clash)
            self.writers[elements] = lanes
            shared |= self.writers[elements] != lanes
            self.writers[elements[shared]] = _SEVERAL
        if self.defined is not None:
            self.defined[elements] = True

    def _racing(
        self, elements: Numbers, lanes: Numbers, where: Flags, verb: str, other: str
    ) -> None:
        element, lane = int(elements[where][0]), int(lanes[where][0])
        local = self.buffer.space == "group"
        since = "with no barrier between" if local else "in the same launch"
        raise Fault(
            f"{self._named(element)} {verb} lane {lane} and {other} {since}",
            "put a barrier between" if local else "do it in a later launch",
        )

    def _clashing(self, elements: Numbers, lanes: Numbers, where: Flags) -> None:
        element, lane = int(elements[where][0]), int(lanes[where][0])
        raise Fault(
            f"{self._named(element)} is written by lane {lane} and by another one, and the values "
            "differ",
            "let one lane write each element",
        )


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    """The bits of elements, which tell −0 from 0 and find a NaN equal to itself."""
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
