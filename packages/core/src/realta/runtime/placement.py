"""Placement: on which device each op of a graph runs, and what happens to ops a device lacks."""

from __future__ import annotations

from typing import Any, Final

from realta.errors import UnsupportedOp
from realta.graph import Location, Node, call_text
from realta.runtime.contract import Refusal
from realta.runtime.device import OpenDevice, resolve_device
from realta.runtime.fallback import Policy, warn_fallback
from realta.runtime.places import location_text
from realta.runtime.steps import Fallback
from realta.runtime.support import data_dtype, refusal

__all__ = ["REFERENCE", "Placement", "ordinal_of"]

REFERENCE: Final = "reference:0"
"""The device that does what others lack; it has every op."""
_CORE: Final = frozenset({"constant", "barrier"})
_GENERATORS: Final = frozenset({"iota", "philox_bits"})
"""Ops that core provides for a session without them; no fallback, since the contract says so."""


class Origin(Location):
    """A location that remembers the number of the op in the calling graph."""

    __slots__ = ("ordinal",)
    ordinal: int

    @classmethod
    def of(cls, node: Node, ordinal: int) -> Origin:
        """The origin of a node of the calling graph."""
        known = node.location or Location(None, 0, "")
        origin = cls(known.code, known.instruction, known.text)
        object.__setattr__(origin, "ordinal", ordinal)
        return origin


def ordinal_of(node: Node) -> int:
    """The number in the calling graph of the op that a node comes from, −1 if of none."""
    where = node.where
    return where.ordinal if isinstance(where, Origin) else -1


class Placement:
    """Decides for every node of one graph.

    Args:
        policy: what to do about ops that a device lacks.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.fallbacks: list[Fallback] = []
        self._refusals: dict[Any, Refusal | None] = {}

    def keeps(self, device: OpenDevice, node: Node) -> bool:
        """Whether a device takes a composite whole."""
        return self._refused(device, node) is None

    def _refused(self, device: OpenDevice, node: Node) -> Refusal | None:
        # Sessions answer by op, types and attributes, so a long graph asks a few questions only.
        key = (device.name, node.op, node.attrs, node.types, tuple([v.type for v in node.operands]))
        if key not in self._refusals:
            self._refusals[key] = refusal(device.session, node)
        return self._refusals[key]

    def __call__(self, node: Node, device: str) -> str:
        """Where a node runs; empty for what core does itself: constants and needless barriers.

        Raises:
            UnsupportedOp: nobody takes it, or the policy forbids the reference device.
        """
        opened = resolve_device(device)
        refused = self._refused(opened, node)
        if refused is None:
            return device
        if node.op.name in _CORE:
            return ""
        if device == REFERENCE:
            raise self._unsupported(node, device, refused)
        reference = resolve_device(REFERENCE)
        if self._refused(reference, node) is not None:
            raise self._unsupported(node, device, refused)
        if node.op.name not in _GENERATORS:
            self._note(node, opened, refused)
        return REFERENCE

    def _note(self, node: Node, device: OpenDevice, refused: Refusal) -> None:
        if self.policy == "error":
            raise self._unsupported(node, device.name, refused)
        if self.policy == "warn":
            warn_fallback(node.op.name, device.name, REFERENCE, refused.reason)
        found = Fallback(node.op.name, device, refused.reason, ordinal_of(node))
        self.fallbacks.append(found)

    def _unsupported(self, node: Node, device: str, refused: Refusal) -> UnsupportedOp:
        where = call_text(node.op, [value.type for value in node.operands])
        line = location_text(node.where)
        fix = refused.fix or 'cast the operand, move it with .to("cpu"), or allow the fallback'
        return UnsupportedOp(
            f"{device} cannot run {node.op.name} on {data_dtype(node)}: {refused.reason}",
            where=f"{where} at {line}" if line else where,
            fix=fix,
        )
