"""``realta devices``: every device that can compute here."""

from __future__ import annotations

import argparse
from typing import Any, Final

from realta.cli.output import show_table
from realta.plugins import backends, current_device, devices

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "devices"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It takes none."""


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """The devices, the default one, and the backends that bring none."""
    default = current_device()
    found = []
    for device in devices():
        info = device.info
        found.append(
            {
                "device": device.name, "name": info.name, "kind": info.kind,
                "aliases": list(info.aliases), "memory_bytes": info.memory_bytes,
                "default": device.name == default,
            }
        )  # fmt: skip
    missing = [
        {"backend": entry.name, "state": entry.state, "reason": entry.reason, "fix": entry.fix}
        for entry in backends()
        if entry.state != "available"
    ]
    return {"devices": found, "missing": missing}


def show(data: dict[str, Any]) -> None:
    """A table of the devices, and below it what is missing and why."""
    rows = [
        (d["device"] + (" *" if d["default"] else ""), d["kind"], d["name"])
        for d in data["devices"]
    ]
    show_table(("device", "kind", "name"), rows)
    print("\n* the default device")
    for entry in data["missing"]:
        print(f"\n{entry['backend']} is {entry['state']}: {entry['reason']}\n  fix: {entry['fix']}")
