"""Placement: identities that say where a value lives and what may not cross it."""

from __future__ import annotations

from realta.errors import ArgumentError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import elementwise
from realta.types import DTYPES, TensorType

__all__: list[str] = []


def _barrier(x: Array) -> Array:
    return x.copy()


define(
    "barrier",
    rule=elementwise,
    reference=_barrier,
    doc="The operand itself; no kernel contains ops of both sides of it.",
    kind=OpKind.OPAQUE,
    dtypes=frozenset(DTYPES),
    samples=(Sample(((),)), Sample(((0, 3),)), Sample(((3, 33),))),
    level="fusion",
)


def _transfer_rule(x: TensorType, *, device: str) -> TensorType:
    if not device:
        raise ArgumentError("transfer needs a device", fix='name one, as in device="numpy:0"')
    return x.with_device(device)


def _transfer(x: Array, *, device: str) -> Array:
    return x.copy()


define(
    "transfer",
    rule=_transfer_rule,
    reference=_transfer,
    doc="The operand on another device. Core cuts graphs there; a session never sees it.",
    kind=OpKind.OPAQUE,
    attrs={"device": Attr("str", doc="canonical name of the device to move to")},
    dtypes=frozenset(DTYPES),
    level="contexts",
)
