"""Required ops: what each conformance level asks of a backend, by spec version, and what changed.

    python tools/required_ops.py [OLD NEW]

Everything is read from the registry: an op belongs to the versions from its ``since`` on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Final

from realta.backend import SPEC
from realta.ops import OpDef, all_ops
from realta.plugins import load_backend
from realta_conformance.device import HOST_OPS, open_backend
from realta_conformance.levels import LEVELS, required_ops

__all__ = ["difference", "required", "required_block", "versions"]

Version = tuple[int, ...]
_KINDS: Final = {"float": "floats", "int": "integers", "uint": "integers", "bool": "bool"}


def parsed(version: str) -> Version:
    """A version as numbers, so that 1.10 comes after 1.9."""
    return tuple(int(part) for part in version.split("."))


def versions() -> list[str]:
    """The spec versions that some op came with, and the one of this core."""
    return sorted({SPEC, *(op.since for op in all_ops() if "." not in op.name)}, key=parsed)


def required(version: str) -> Mapping[str, list[OpDef]]:
    """The ops that each device level asks for in a version of the spec, by level."""
    with_all = open_backend(load_backend("reference"))
    found = {}
    for level in LEVELS:
        ops = required_ops(level.name, with_all) if level.kind == "device" else ()
        members = [op for op in ops if parsed(op.since) <= parsed(version)]
        members.sort(key=lambda op: op.name)
        if members:
            found[level.name] = members
    return found


def difference(old: str, new: str) -> list[str]:
    """One line for each op that a level asks for in one version and not in the other."""
    before, after = (
        {(level, op.name) for level, ops in required(version).items() for op in ops}
        for version in (old, new)
    )
    added = [f"+ {level}: {name}" for level, name in sorted(after - before)]
    return added + [f"- {level}: {name}" for level, name in sorted(before - after)]


def _kinds(op: OpDef) -> str:
    found = {_KINDS[dtype.kind] for dtype in op.dtypes}
    return "all" if found == set(_KINDS.values()) else ", ".join(sorted(found))


def required_block() -> str:
    """The table of every version, with what it has over the one before."""
    parts = []
    known = versions()
    for number, version in enumerate(known):
        parts.append(f"### Spec {version}\n")
        for level, ops in required(version).items():
            own = [op for op in ops if op.name not in HOST_OPS]
            parts.append(f"`{level}` asks for {len(own)}:\n")
            parts += ["| op | element types | since |", "|---|---|---|"]
            for op in ops:
                note = " (core has it for whoever has not)" if op.name in HOST_OPS else ""
                parts.append(f"| `{op.signature()}`{note} | {_kinds(op)} | {op.since} |")
            parts.append("")
        if number:
            lines = difference(known[number - 1], version) or ["nothing"]
            parts += [f"Over {known[number - 1]}:\n", "```text", *lines, "```\n"]
        else:
            parts.append("It is the first version: there is none to compare it with.\n")
    return "\n".join(parts)


def main(arguments: Sequence[str]) -> int:
    """Prints the table, or the difference of two versions."""
    if len(arguments) == 2:
        print("\n".join(difference(*arguments)) or "nothing changed")
    else:
        print(required_block())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
