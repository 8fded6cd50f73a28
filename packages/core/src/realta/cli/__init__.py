"""The command line: ``realta devices|backends|ops|explain|doctor``, each with ``--json``."""

from realta.cli.main import main

__all__ = ["main"]
