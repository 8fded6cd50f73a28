"""``realta explain``: the kernels that a device makes of a graph file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Final

from realta.cli.output import show_table
from realta.errors import SerializationError
from realta.graph import Graph, call_text, load_graph_file, parse, print_graph
from realta.plugins import current_device, open_device, resolve_device_name
from realta.runtime import Options, compile_program, format_bytes

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "explain"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, the device, the numerics, and whether generated code is shown."""
    parser.add_argument("file", help="a graph as text, or a saved graph")
    parser.add_argument("--device", default="", help="device to compile for (the default device)")
    parser.add_argument("--source", action="store_true", help="show the code of each kernel")
    parser.add_argument("--numerics", choices=("exact", "fast"), default="exact")


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """Compiles the graph and lists the kernels; runs nothing.

    Raises:
        SerializationError, ParseError: the file holds no graph.
        UnsupportedOp, CompilationError, BackendNotFound: the device cannot have it.
    """
    graph = _load(arguments.file)
    name = resolve_device_name(arguments.device) if arguments.device else current_device()
    options = Options(numerics=arguments.numerics, name=graph.name)
    program = compile_program(graph, open_device(name), options)
    kernels = []
    for device, kernel, ordinals in program.members():
        kernels.append(
            {
                "name": kernel.name, "device": device, "host": kernel.host,
                "bytes_read": kernel.bytes_read, "bytes_written": kernel.bytes_written,
                "operations": kernel.operations, "schedule": kernel.schedule,
                "profile": kernel.profile, "reason": kernel.reason, "source": kernel.source,
                "ops": [_text(graph, ordinal) for ordinal in ordinals],
            }
        )  # fmt: skip
    return {
        "graph": print_graph(graph),
        "device": name,
        "show_source": arguments.source,
        "kernels": kernels,
        "fallbacks": [
            {"op": f.op, "device": f.device.name, "reason": f.reason} for f in program.fallbacks
        ],
    }


def _load(path: str) -> Graph:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise SerializationError(
            f"the graph file cannot be read: {error.strerror}", where=path, fix="check the path"
        ) from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return load_graph_file(path)
    return parse(text) if text.lstrip().startswith(("graph", "#")) else load_graph_file(path)


def _text(graph: Graph, ordinal: int) -> str:
    node = graph.nodes[ordinal]
    return call_text(node.op, [value.type for value in node.operands])


def show(data: dict[str, Any]) -> None:
    """The graph, then a table of kernels with why each is not one with its neighbour."""
    print(data["graph"])
    print(f"\n{len(data['kernels'])} kernel(s) on {data['device']}")
    rows = [
        (
            k["name"], len(k["ops"]), k["operations"], format_bytes(k["bytes_read"]),
            format_bytes(k["bytes_written"]), _schedule(k), k["reason"],
        )
        for k in data["kernels"]
    ]  # fmt: skip
    head = ("kernel", "ops", "arithmetic", "reads", "writes", "schedule", "why on its own")
    show_table(head, rows)
    for fallback in data["fallbacks"]:
        print(f"{fallback['op']} runs on another device: {fallback['reason']}")
    if data["show_source"]:
        _show_sources(data["kernels"])


def _schedule(kernel: dict[str, Any]) -> str:
    profile = f" ({kernel['profile']})" if kernel["profile"] else ""
    return f"{kernel['schedule']}{profile}"


def _show_sources(kernels: list[dict[str, Any]]) -> None:
    """The code of each kernel; the same code once."""
    shown = set()
    for kernel in kernels:
        if kernel["source"] not in shown:
            shown.add(kernel["source"])
            print(f"\n{kernel['name']}\n{kernel['source'] or 'no source was generated'}")
