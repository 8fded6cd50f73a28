"""Settings: what the environment says about emulation.

``REALTA_CUDA_EMULATE``
    ``1`` asks for the stand-in driver; ``force`` also where there is a real one.
``REALTA_CUDA_EMULATE_ORDER``
    In which order blocks and threads take their turns: ``forward``, ``reversed``, or the seed (a
    positive integer) of a random one.
``REALTA_CUDA_EMULATE_STREAMS``
    ``eager``: work is done when it is given to a stream; ``lazy``: only when something waits for
    it; ``skip``: launches do nothing, for measuring what calls them.
``REALTA_CUDA_EMULATE_CHECK``
    ``on``: every load and store is checked for its bounds, for races and for memory that nothing
    has written. Kernels run several times slower.
``REALTA_CUDA_EMULATE_RECORD``
    A folder that gets the source of each kernel and its first launch, for
    ``python -m realta_cuda_emulator sanitize``.
``REALTA_CUDA_EMULATE_ARCH``
    The compute capability of the device: ``90`` is 9.0.
``REALTA_CUDA_EMULATE_DEVICES``
    How many devices there are.
``REALTA_CUDA_EMULATE_MEMORY``
    How many bytes of memory there are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, TypeVar

from realta_cuda_emulator.errors import EmulatorError

__all__ = ["PREFIX", "checked", "configuration", "forced", "order_number", "record_folder"]

PREFIX: Final = "REALTA_CUDA_EMULATE"
_T = TypeVar("_T")
_ORDERS: Final = {"": 0, "forward": 0, "reversed": 1}
_STREAMS: Final[Mapping[str, Mapping[str, int]]] = {
    "": {},
    "eager": {},
    "lazy": {"lazy": 1},
    "skip": {"skip": 1},
}
_CHECKS: Final = {"": False, "off": False, "on": True}


def forced() -> bool:
    """Whether the stand-in is wanted beside a real driver."""
    return _given("") == "force"


def checked() -> bool:
    """Whether each access of kernels that are compiled from now on is checked.

    Raises:
        EmulatorError: the variable has another value.
    """
    return _choice("_CHECK", _CHECKS)


def configuration() -> dict[str, int]:
    """What the stand-in driver is told, by the names that driver.cpp has.

    Raises:
        EmulatorError: a variable has a value that means nothing.
    """
    found = {"order": _order(_given("_ORDER")), **_choice("_STREAMS", _STREAMS)}
    for suffix, name in (("_ARCH", "architecture"), ("_DEVICES", "devices"),
                         ("_MEMORY", "memory_total")):  # fmt: skip
        given = _given(suffix)
        if given:
            found[name] = _positive(suffix, given)
    return found


def record_folder() -> str:
    """Where launches are recorded; empty for nowhere."""
    return os.environ.get(f"{PREFIX}_RECORD", "").strip()


def order_number(given: str | int) -> int:
    """The number that stands for an order: 0 forward, 1 reversed, more than 1 seeded."""
    return _order(str(given))


def _given(suffix: str) -> str:
    return os.environ.get(PREFIX + suffix, "").strip().lower()


def _order(given: str) -> int:
    if given in _ORDERS:
        return _ORDERS[given]
    return 1 + _positive("_ORDER", given, "forward, reversed or a positive integer")


def _positive(suffix: str, given: str, wanted: str = "a positive integer") -> int:
    if given.isdigit() and int(given) > 0:
        return int(given)
    raise _wrong(suffix, given, wanted)


def _choice(suffix: str, choices: Mapping[str, _T]) -> _T:
    given = _given(suffix)
    if given not in choices:
        raise _wrong(suffix, given, " or ".join(name for name in choices if name))
    return choices[given]


def _wrong(suffix: str, given: str, wanted: str) -> EmulatorError:
    return EmulatorError(
        f"{PREFIX}{suffix} is {wanted}, got {given!r}",
        where=f"environment variable {PREFIX}{suffix}",
        fix="set it to one of these, or unset it",
    )
