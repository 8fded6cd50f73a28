"""Spec version: the version of the contract between core and backends."""

from __future__ import annotations

from typing import Final

__all__ = ["SPEC"]

SPEC: Final = "1.0"
