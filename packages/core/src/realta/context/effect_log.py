"""Effect log: the effects that a context has yet to run, in order."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from realta.context.location import caller_location
from realta.graph import Location, Node, Value, call_text, node_of

if TYPE_CHECKING:
    from realta.context.base import RecordingContext

__all__ = ["EffectLog"]


class EffectLog:
    """Keeps the tokens of pending effects alive, as tensors that nobody else sees.

    Like other tensors they stand among what the context holds in the order of recording, which says
    what comes after an effect.
    """

    __slots__ = ("_tokens", "_watched")

    def __init__(self) -> None:
        self._tokens: list[Any] = []
        self._watched: list[Value] | None = None

    def add(self, context: RecordingContext, token: Any) -> None:
        """Notes an effect by its token."""
        self._tokens.append(token)
        if self._watched is None:
            self._watched = []
            weakref.finalize(context, _warn, context.describe(), self._watched, caller_location())
        self._watched.append(token._value)

    def pending(self) -> list[Any]:
        """The tokens of effects that have not run."""
        if self._tokens:
            self._tokens = [token for token in self._tokens if not token._settle()]
            self._watch()
        return self._tokens

    def due(self, context: RecordingContext, wanted: Sequence[Any]) -> list[Any]:
        """The tokens of pending effects that were recorded before tensors of the context."""
        tokens = {id(token) for token in self.pending()}
        if not tokens:
            return []
        last = {id(handle) for handle in wanted if handle._context is context}
        found: list[Any] = []
        passed: list[Any] = []
        for reference in list(context.pending):
            handle = reference()
            if id(handle) in tokens:
                passed.append(handle)
            if id(handle) in last:
                found += passed
                passed = []
        return found

    def excuse(self, token: Any) -> None:
        """Notes that an effect was tried and failed: its context may die without a word."""
        if self._watched is not None and token._value in self._watched:
            self._watched.remove(token._value)

    def drop(self) -> None:
        """Forgets the effects of a region that an exception left."""
        self._tokens = []
        self._watch()

    def _watch(self) -> None:
        if self._watched is not None:
            values = {token._value for token in self._tokens}
            self._watched[:] = [value for value in self._watched if value in values]


def _warn(described: str, watched: list[Value], place: Location) -> None:
    """What is said when a context dies with effects that did not run."""
    nodes = [node_of(value) for value in watched if value.payload is None]
    lost = [node for node in nodes if node is not None]
    if not lost:
        return
    warnings.warn_explicit(
        f"{described} died with {len(lost)} effect(s) that did not run; the first is "
        f"{_text(lost[0])}; realize something recorded after them, or call realize_all()",
        RuntimeWarning,
        place.file,
        place.line,
    )


def _text(node: Node) -> str:
    text = call_text(node.op, [value.type for value in node.operands if value.type.shape != (0,)])
    location = node.location
    return f"{text} at {location}" if location is not None else text
