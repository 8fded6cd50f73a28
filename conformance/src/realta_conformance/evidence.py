"""Evidence: the graph of a case that failed and the operands that matter, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from realta_conformance.case import Case, OpCase
from realta_conformance.formats import Array

__all__ = ["evidence", "shown"]

_SHOWN: Final = 16


def evidence(case: Case, worst: tuple[tuple[int, ...], int]) -> tuple[str, str]:
    """The graph of a case as text, and its operands.

    Args:
        case: the case.
        worst: the place of the worst element, and the number of the call. Of an elementwise op only
            the operands' elements at that place are shown, which are all that it depends on.
    """
    place, turn = worst
    operands = case.calls()[turn][0]
    if place and isinstance(case, OpCase) and case.mirrored:
        at = f"[{', '.join(map(str, place))}]"
        return str(case.graph()), ", ".join(
            f"x{n}{at} = {_number(x[place])}" for n, x in enumerate(operands)
        )
    return str(case.graph()), shown(operands)


def shown(operands: Sequence[Array]) -> str:
    """Operands in short: the first elements of each."""
    parts = []
    for number, array in enumerate(operands):
        flat = array.reshape(-1)
        values = ", ".join(map(_number, flat[:_SHOWN]))
        more = f", … {flat.size - _SHOWN} more" if flat.size > _SHOWN else ""
        parts.append(f"x{number}: {array.dtype}{list(array.shape)} = [{values}{more}]")
    return "\n".join(parts)


def _number(value: object) -> str:
    """A number that reads back as the same one."""
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return str(array[()])
    return repr(float(array.astype(np.float64)))
