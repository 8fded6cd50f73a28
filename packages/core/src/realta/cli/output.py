"""Output: tables and JSON on the terminal; rich draws the tables where it is installed."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["show_json", "show_table"]


def show_json(data: Any) -> None:
    """Prints data as JSON with sorted keys, so that two outputs can be compared."""
    print(json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False))


def show_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Prints a table; plain columns where there is no terminal or no rich."""
    cells = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and importlib.util.find_spec("rich") is not None:
        _show_rich(columns, cells)
        return
    widths = [
        max(len(column), *[len(row[n]) for row in cells], 0) for n, column in enumerate(columns)
    ]
    for row in (list(columns), ["-" * width for width in widths], *cells):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print(line.rstrip())


def _show_rich(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    # Imported only where it draws: rich is no dependency, and it takes its time to import.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False)
    for row in cells:
        table.add_row(*[Text(cell) for cell in row])
    Console().print(table)
