"""Levels: each op and probe of each level on the device that `--device` names."""

from __future__ import annotations

from realta_conformance.certification import Certificate
from realta_conformance.plugin import Group


def test_conforms(certificate: Certificate, group: Group) -> None:
    """Everything that the suite asks about one op or probe passes, or is declared.

    If this fails, run the command that it shows: it replays the case alone and in its graph.
    """
    group.check(certificate)
