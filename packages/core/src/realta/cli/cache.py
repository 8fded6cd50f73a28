"""``realta cache``: the kernels kept on disk: where, how many; or removes them."""

from __future__ import annotations

import argparse
from typing import Any, Final

from realta.cli.output import show_table
from realta.runtime import format_bytes, shared_kernel_cache

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "cache"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``info`` tells, ``clear`` removes every entry."""
    parser.add_argument("action", choices=("info", "clear"), help="tell about it, or empty it")


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """The state of the cache, and how many entries were removed."""
    cache = shared_kernel_cache()
    found: dict[str, Any] = {"action": arguments.action}
    if arguments.action == "clear":
        found["removed"] = cache.clear()
    return found | cache.info()._asdict()


def show(data: dict[str, Any]) -> None:
    """A table of the state; for ``clear`` also what was removed."""
    if data["action"] == "clear":
        print(f"removed {data['removed']} kernel(s)")
    rows = [
        ("directory", data["directory"]),
        ("state", _state(data)),
        ("kernels", data["entries"]),
        ("size", format_bytes(data["bytes"])),
    ]
    show_table(("kernel cache", ""), rows)


def _state(data: dict[str, Any]) -> str:
    if not data["enabled"]:
        return "off (REALTA_CACHE=off)"
    return "on" if data["writable"] else "read only: new kernels are not kept"
