"""``realta ops``: the ops of the registry, or all about one of them."""

from __future__ import annotations

import argparse
from typing import Any, Final

from realta.cli.output import show_table
from realta.ops import OpDef, all_ops, get_op
from realta.types import DTYPES

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "ops"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``NAME``, ``--level`` and ``--primitive`` choose."""
    parser.add_argument("op", nargs="?", default="", help="show this op only, with its attributes")
    parser.add_argument("--level", default="", help="only ops that this conformance level asks for")
    parser.add_argument(
        "--primitive", action="store_true", help="only ops that a backend must know itself"
    )


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """The ops chosen, in the order of the registry.

    Raises:
        UnsupportedOp: there is no op of the name given.
    """
    chosen = [get_op(arguments.op)] if arguments.op else list(all_ops())
    if arguments.level:
        chosen = [op for op in chosen if op.level == arguments.level]
    if arguments.primitive:
        chosen = [op for op in chosen if op.primitive]
    return {"ops": [_describe(op) for op in chosen], "one": bool(arguments.op)}


def _describe(op: OpDef) -> dict[str, Any]:
    return {
        "name": op.name,
        "signature": op.signature(),
        "kind": op.kind.value,
        "primitive": op.primitive,
        "level": op.level,
        "tolerance": op.tolerance,
        "dtypes": [dtype.name for dtype in DTYPES if dtype in op.dtypes],
        "attributes": {name: attr.doc for name, attr in op.attrs.items()},
        "since": op.since,
        "doc": op.doc,
    }


def show(data: dict[str, Any]) -> None:
    """One line an op; everything about a single one."""
    if not data["one"]:
        rows = [
            (op["signature"], op["kind"], "" if op["primitive"] else "composite", op["level"])
            for op in data["ops"]
        ]
        show_table(("op", "kind", "", "level"), rows)
        return
    for op in data["ops"]:
        print(op["signature"])
        print(f"  {op['doc']}")
        for name, doc in op["attributes"].items():
            print(f"  {name}: {doc or '(no description)'}")
        what = "primitive" if op["primitive"] else "composite"
        print(f"  {what}, {op['kind']}, level {op['level']}, tolerance {op['tolerance']}")
        print(f"  dtypes: {', '.join(op['dtypes'])}")
