"""The command ``realta-conformance``."""

from realta_conformance.cli.entry import main

__all__ = ["main"]
