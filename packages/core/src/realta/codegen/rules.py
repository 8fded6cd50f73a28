"""Fusion rules of sessions that generate kernels, as data."""

from __future__ import annotations

from typing import Final

from realta.codegen.profile import DeviceProfile
from realta.fusion import Rules
from realta.fusion.rules import JOINS

__all__ = ["HOST_CONTRACTION_RULES", "KERNEL_RULES", "kernel_rules"]

KERNEL_RULES: Final = Rules()
"""All that kernels can take in: chains of elementwise work and index maps, reductions with what
comes before and after, rows that are read again, and what follows a contraction."""
HOST_CONTRACTION_RULES: Final = Rules(joins=JOINS - {("contraction", "elementwise")})
"""The same where contractions are the host's: nothing joins them."""


def kernel_rules(profile: DeviceProfile) -> Rules:
    """The rules for devices of a profile."""
    return HOST_CONTRACTION_RULES if profile.host_contractions else KERNEL_RULES
