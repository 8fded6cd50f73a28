"""Retargeting: a graph with its devices exchanged for others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from realta.graph import Graph, Input, Node, Value, all_nodes
from realta.ops import Attributes
from realta.types import TensorType

__all__ = ["graph_devices", "retarget"]

_DEVICE = "device"
"""Name of the attribute by which ops name a device."""


def graph_devices(graph: Graph) -> list[str]:
    """The devices that types and attributes of a graph name, in the order of occurrence."""
    found: dict[str, None] = {}
    for value in graph.inputs:
        found.setdefault(value.type.device)
    for node in all_nodes(graph):
        for type in node.types:
            found.setdefault(type.device)
    return [device for device in found if device]


def retarget(graph: Graph, devices: Mapping[str, str]) -> Graph:
    """The graph on other devices; nested graphs too.

    Args:
        graph: a graph.
        devices: new names by old ones; devices that are not in it stay.
    """
    new: dict[Value, Value] = {}
    for value in graph.inputs:
        new[value] = Input(_moved(value.type, devices), graph.input_name(value), value.payload)
    nodes = []
    shared: dict[int, Graph] = {}
    for node in graph.nodes:
        attrs = Attributes()
        for name, attr in node.attrs.items():
            if isinstance(attr, Graph):
                # Ops that share a graph go on sharing it.
                if id(attr) not in shared:
                    shared[id(attr)] = retarget(attr, devices)
                moved: Any = shared[id(attr)]
            else:
                moved = _attribute(name, attr, devices)
            dict.__setitem__(attrs, name, moved)
        types = tuple([_moved(type, devices) for type in node.types])
        operands = tuple([new[v] for v in node.operands])
        made = Node(node.op, operands, attrs, types=types, where=node.where, region=node.region)
        nodes.append(made)
        new.update(zip(node.outputs, made.outputs, strict=True))
    inputs, outputs = [new[v] for v in graph.inputs], [new[v] for v in graph.outputs]
    return Graph(graph.name, inputs, outputs, nodes)


def _attribute(name: str, value: Any, devices: Mapping[str, str]) -> Any:
    if name == _DEVICE and isinstance(value, str):
        return devices.get(value, value)
    if isinstance(value, TensorType):
        return _moved(value, devices)
    if isinstance(value, tuple):
        return tuple([_attribute("", item, devices) for item in value])
    return value


def _moved(type: TensorType, devices: Mapping[str, str]) -> TensorType:
    device = devices.get(type.device, type.device)
    return type if device == type.device else type.with_device(device)
