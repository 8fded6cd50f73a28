"""Placement: on which device each op of a graph runs, and what happens to ops a device lacks."""

from __future__ import annotations

from typing import Any, Final

from realta.errors import UnsupportedOp
from realta.graph import Location, Node, all_nodes, call_text
from realta.ops import OpKind
from realta.runtime.contract import Refusal
from realta.runtime.custom import custom_function
from realta.runtime.cut import BY_CORE
from realta.runtime.device import OpenDevice, resolve_device
from realta.runtime.fallback import Policy, warn_fallback
from realta.runtime.places import location_text
from realta.runtime.steps import Fallback
from realta.runtime.support import data_dtype, refusal

__all__ = ["REFERENCE", "Placement", "ordinal_of"]

REFERENCE: Final = "reference:0"
"""The device that does what others lack; it has every op."""
_CORE: Final = frozenset({"constant", "barrier"})
_CORE_ONLY: Final = frozenset({"check_bounds", "custom_call", "transfer"})
"""Ops that core must see, so that control flow around them is core's too."""
_GENERATORS: Final = frozenset({"iota", "philox_bits", "philox_branch"})
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
        """Whether a device takes a composite, or control flow with all that is inside, whole."""
        if node.op.kind is OpKind.CONTROL:
            return self._runs_whole(device, node)
        return self._refused(device, node) is None

    def _runs_whole(self, device: OpenDevice, node: Node) -> bool:
        if "control_flow" not in device.capabilities.features:
            return False
        if refusal(device.session, node) is not None:
            return False
        inner = [n for name in node.op.graphs for n in all_nodes(node.attrs[name])]
        return all(self._runs_inside(device, n) for n in inner)

    def _refused(self, device: OpenDevice, node: Node) -> Refusal | None:
        # Sessions answer by op, types and attributes, so a long graph asks a few questions only.
        key = (device.name, node.op, node.attrs, node.types, tuple([v.type for v in node.operands]))
        if key not in self._refusals:
            self._refusals[key] = refusal(device.session, node)
        return self._refusals[key]

    def __call__(self, node: Node, device: str) -> str:
        """Where a node runs.

        Returns:
            The device; empty for constants and needless barriers; `BY_CORE` for control flow,
            effects and custom functions.

        Raises:
            UnsupportedOp: nobody takes it, or the policy forbids the reference device.
        """
        opened = resolve_device(device)
        if self._is_by_core(opened, node):
            return BY_CORE
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

    def is_by_core(self, device: OpenDevice, node: Node) -> bool:
        """Whether core runs an op itself, or moves a tensor, so that no kernel is launched."""
        name = node.op.name
        if name in _CORE_ONLY - {"check_bounds"}:
            return name == "transfer" or not self.keeps(device, node)
        kind = node.op.kind
        return kind is OpKind.EFFECT or (kind is OpKind.CONTROL and not self.keeps(device, node))

    def _is_by_core(self, device: OpenDevice, node: Node) -> bool:
        kind = node.op.kind
        if kind is OpKind.EFFECT:
            return True
        if kind is OpKind.CONTROL:
            return not self.keeps(device, node)
        if node.op.name != "custom_call" or self.keeps(device, node):
            return False
        self._check_custom(device, node)
        return True

    def _runs_inside(self, device: OpenDevice, node: Node) -> bool:
        """Whether a session can run a node in a graph of control flow that it runs itself."""
        if node.op.kind is OpKind.EFFECT or node.op.name in _CORE_ONLY:
            return False
        if any(type.device not in ("", device.name) for type in node.types):
            return False
        # What it refuses of composites is expanded before it gets the graph.
        return not node.op.primitive or refusal(device.session, node) is None

    def _check_custom(self, device: OpenDevice, node: Node) -> None:
        """Raises UnsupportedOp unless core can call the function of a custom call."""
        name = node.attrs["name"]
        line = location_text(node.where)
        where = f"custom_call {name!r}" + (f" at {line}" if line else "")
        if not device.is_host:
            raise UnsupportedOp(
                f"{device.name} does not build custom kernels, and functions run on hosts only",
                where=where,
                fix='move the operands with .to("cpu") before the call, and the results back',
            )
        try:
            custom_function(name)
        except UnsupportedOp as error:
            raise error.at(where) from None

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
