"""Selection: which cases of a level a device is to run, and why not the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from realta.graph import Node, all_nodes
from realta.ops import OpKind

from realta_conformance.case import Case
from realta_conformance.device import HOST_OPS, Device
from realta_conformance.packing import normal_graph

__all__ = ["Selection", "select"]


@dataclass(slots=True)
class Selection:
    """The cases of a level, sorted by what can be done with them.

    Args:
        taken: those to run.
        absent: those that need a dtype or an op that the device does not declare, and what that is.
        limited: those that the session refuses inside what it declares, and why.
    """

    taken: list[Case] = field(default_factory=list)
    absent: list[tuple[Case, str]] = field(default_factory=list)
    limited: list[tuple[Case, str]] = field(default_factory=list)


def select(device: Device, cases: Iterable[Case]) -> Selection:
    """Sorts cases."""
    found = Selection()
    for case in cases:
        nodes = normal_graph(device, case.graph()).nodes
        missing = _missing(device, case, nodes)
        if missing:
            found.absent.append((case, missing))
            continue
        refused = next(
            (r for node in nodes if (r := device.session.supports(node)) is not None), None
        )
        if refused is not None:
            found.limited.append((case, f"{refused.reason} ({refused.fix or 'no fix known'})"))
        else:
            found.taken.append(case)
    return found


def _missing(device: Device, case: Case, nodes: Iterable[Node]) -> str:
    """The first dtype or op that a case needs and the device does not declare; empty if none."""
    storage = device.capabilities.storage
    for type_ in case.types:
        if type_.dtype not in storage:
            return f"{type_.dtype} is not in storage"
    for node in chain.from_iterable(map(_with_inner, nodes)):
        homeless = next((t.dtype for t in node.types if t.dtype not in storage), None)
        if homeless is not None:
            return f"{homeless} is not in storage"
        if not device.declares(node) and node.op.name != "constant":
            dtype = node.op.data_dtype([v.type for v in node.operands], node.types)
            by_core = node.op.name in HOST_OPS or node.op.kind is OpKind.CONTROL
            place = "; core does it on the host" if by_core else ""
            return f"{node.op.name} is not declared for {dtype}{place}"
    return ""


def _with_inner(node: Node) -> list[Node]:
    """A node, and those of the graphs among its attributes."""
    return [node, *[n for name in node.op.graphs for n in all_nodes(node.attrs[name])]]
