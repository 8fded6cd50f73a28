"""Levels: what a certificate promises, in order, and what each level requires."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from realta.backend import Capabilities, DeviceInfo
from realta.ops import OpDef, all_ops
from realta.types import FLOATS, DType, as_dtype

from realta_conformance.device import HOST_OPS
from realta_conformance.graphs import dtypes_of, elements_of, patterns

__all__ = [
    "LEVELS", "WRITTEN_BY_CORE", "Declaring", "Level", "by_name", "is_sent", "required",
    "required_dtypes",
]  # fmt: skip


class Declaring(Protocol):
    """A device, or a description of one."""

    @property
    def info(self) -> DeviceInfo:
        """What the probe said of it."""

    @property
    def capabilities(self) -> Capabilities:
        """What it declares."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level.

    Args:
        name: its name.
        promise: what it promises, in one sentence.
        needs: levels that must conform first.
        kind: ``device`` levels certify a backend; ``integration`` levels test it with core.
    """

    name: str
    promise: str
    needs: tuple[str, ...] = ()
    kind: Literal["device", "integration"] = "device"


_PROMISES: Final = {
    "manifest": "What the backend says about itself is complete, consistent and stable.",
    "memory": "Buffers hold what was written to them, alone, until they are freed.",
    "core": "Arithmetic, comparisons, casts, reductions and movement give the true result.",
    "math": "Every elementary function is within its bound, special values included.",
    "linalg": "Contractions are within the bound that their depth allows.",
    "indexing": "Gather, scatter and stores into slices take the right elements.",
    "random": "Random bits are those of Philox4x32-10, on every device.",
    "fusion": "A graph gives the same bits as its ops one by one, within composed bounds.",
    "robust-device": "The contract holds with threads, without memory and under tiny limits.",
    "contexts": "Every mode of the user's API gives the same results.",
    "robust": "Threads, processes, failures and interrupts leave a library that computes.",
}
_NEEDS: Final = {
    "manifest": (), "memory": ("manifest",), "core": ("memory",), "robust": ("contexts",),
}  # fmt: skip
_INTEGRATION: Final = ("contexts", "robust")
LEVELS: Final[tuple[Level, ...]] = tuple(
    Level(
        name,
        promise,
        _NEEDS.get(name, ("core",)),
        "integration" if name in _INTEGRATION else "device",
    )
    for name, promise in _PROMISES.items()
)
"""The levels in order."""

_BASE: Final = tuple(as_dtype(d) for d in ("bool", "int32", "int64"))
_NOT_REQUIRED: Final = frozenset({"transfer", "constant"})
WRITTEN_BY_CORE: Final = frozenset({"constant", "check_bounds", "barrier", "guard"})
"""Ops that no function of the user's API is: core writes them."""


_TINY: Final = 20480
"""Elements of the largest tensors that simulators are sent: enough for sums to be cut into blocks,
and for sums of halves to stall."""


def is_sent(device: Declaring, elements: int) -> bool:
    """Whether cases with tensors of so many elements are for a device."""
    return device.info.kind != "simulator" or elements <= _TINY


def by_name(name: str) -> Level:
    """The level of that name.

    Raises:
        KeyError: there is none.
    """
    found = next((level for level in LEVELS if level.name == name), None)
    if found is None:
        raise KeyError(f"there is no level {name!r}; the levels are {', '.join(_PROMISES)}")
    return found


def required_dtypes(device: Declaring) -> tuple[DType, ...]:
    """The dtypes that a device is asked for: the basic ones, and each float type it computes in.

    A device without 64-bit integers says so in ``storage`` and is not asked for them.
    """
    declared = device.capabilities
    adds = declared.ops.get("add", frozenset())
    base = [d for d in _BASE if d in declared.storage or d.name != "int64"]
    floats = sorted((FLOATS & adds), key=lambda d: (-d.itemsize, d.name))
    return (*base, *(floats or [as_dtype("float32")]))


def required_ops(level: str, device: Declaring) -> Iterator[OpDef]:
    """The primitives a level asks for; those that core can provide, where they are declared."""
    for op in all_ops():
        asked = op.primitive and "." not in op.name and op.name not in _NOT_REQUIRED
        if op.name in HOST_OPS and op.name not in device.capabilities.ops:
            continue
        if op.level == level and asked:
            yield op


def required(level: str, device: Declaring) -> list[tuple[str, DType]]:
    """What a level asks of a device, as pairs of an op (or a graph pattern) and a dtype."""
    wanted = required_dtypes(device)
    if level == "contexts":
        found = [p for v in LEVELS if v.kind == "device" for p in required(v.name, device)]
        graphs = {pattern.id for pattern in patterns()}
        return [p for p in found if p[0] not in graphs and p[0] not in WRITTEN_BY_CORE]
    pairs = []
    features = device.capabilities.features
    for op in required_ops(level, device):
        dtypes = [d for d in wanted if d in op.dtypes]
        stored = op.dtypes & device.capabilities.storage
        pairs += [(op.name, d) for d in dtypes or sorted(stored, key=lambda d: d.name)]
    for pattern in patterns():
        if pattern.level == level and (pattern.plain or "control_flow" in features):
            stored = device.capabilities.storage
            asked = [d for d in pattern.dtypes if d in wanted]
            pairs += [
                (pattern.id, d)
                for d in asked
                if dtypes_of(pattern, d) <= stored and is_sent(device, elements_of(pattern, d))
            ]
    return pairs
