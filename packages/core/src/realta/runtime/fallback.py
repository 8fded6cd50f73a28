"""Fallback policy: what happens to an op that a device does not have: warn, error or allow."""

from __future__ import annotations

import os
import warnings
from typing import Final, Literal, get_args

from realta.errors import ArgumentError

__all__ = [
    "FallbackWarning", "Policy", "fallback_policy", "set_fallback_policy", "warn_fallback",
]  # fmt: skip

Policy = Literal["warn", "error", "allow"]
_POLICIES: Final[tuple[str, ...]] = get_args(Policy)
_given: list[Policy] = []
_warned: Final[set[tuple[str, str]]] = set()


class FallbackWarning(UserWarning):
    """An op runs on the reference device since its own device does not have it."""


def fallback_policy() -> Policy:
    """The policy in force: the one set, else ``REALTA_FALLBACK``, else ``"warn"``.

    Raises:
        ArgumentError: the variable names no policy.
    """
    if _given:
        return _given[-1]
    return _checked(os.environ.get("REALTA_FALLBACK", "") or "warn", "variable REALTA_FALLBACK")


def set_fallback_policy(policy: Policy | None) -> Policy | None:
    """Sets what happens to ops a device does not have, process-wide.

    Args:
        policy: ``"warn"`` once per op and device, ``"error"``, ``"allow"``; None goes back to the
            environment's.

    Returns:
        The policy that was set before, None if it was the environment's.

    Raises:
        ArgumentError: there is no such policy.
    """
    before = _given[-1] if _given else None
    _given[:] = [] if policy is None else [_checked(policy, "set_fallback_policy")]
    return before


def warn_fallback(op: str, device: str, other: str, reason: str) -> None:
    """Warns that an op runs elsewhere, once per op and device."""
    if (op, device) in _warned:
        return
    _warned.add((op, device))
    warnings.warn(
        f"{op} runs on {other}, not on {device}: {reason}. "
        'Silence this with realta.runtime.set_fallback_policy("allow"), forbid it with "error".',
        FallbackWarning,
        stacklevel=2,
    )


def _checked(policy: str, where: str) -> Policy:
    if policy not in _POLICIES:
        raise ArgumentError(
            f"there is no fallback policy {policy!r}",
            where=where,
            fix=f"use {', '.join(_POLICIES)}",
        )
    return policy  # type: ignore[return-value]
