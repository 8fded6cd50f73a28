"""The command line: ``realta devices``, ``realta new-backend`` and others, each with ``--json``."""

from realta.cli.main import main

__all__ = ["main"]
