"""Exporting: a compiled function written into one file, for other processes and devices.

A file in safetensors encoding. Its tensors are the weights and what else was captured, and the
constants of the graph; its metadata are the graph's text and how arguments and results are
arranged, with checksums. Reading it takes neither the Python source nor pickle.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.compilation.plain_data import pack, pack_tree
from realta.compilation.staging import StagedGraph
from realta.compilation.supplies import Captured, Draw, External, Supply
from realta.context import RandomState, global_state
from realta.errors import SerializationError
from realta.graph.safetensors import decode, encode
from realta.graph.serialize import Container, write_container
from realta.passes.retarget import graph_devices, retarget
from realta.plugins import is_host, resolve_device_name
from realta.tensor import Tensor

__all__ = [
    "CHECKSUM", "FORMAT", "GRAPH", "PROGRAM", "VERSION", "array_checksum", "checksum",
    "write_export",
]  # fmt: skip

FORMAT: Final = "1.0"
"""Version of export files; files of another major are refused."""
VERSION: Final = "realta.export"
PROGRAM: Final = "realta.program"
CHECKSUM: Final = "realta.program.checksum"
GRAPH: Final = "graph/"
"""Before the names of the container's fields and of the graph's constants."""

Array = NDArray[Any]


def checksum(data: bytes | memoryview) -> str:
    """What tells whether bytes are those that were written."""
    return f"{zlib.crc32(data):08x}"


def array_checksum(array: Array) -> str:
    """What tells whether an array's elements are those that were written."""
    return checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def write_export(
    staged: StagedGraph, options: Mapping[str, Any], path: str | os.PathLike[str]
) -> None:
    """Writes an export file, whole or not at all.

    The device that ``cpu`` is here is called ``cpu`` in the file, so that it is the best host
    device wherever the file is loaded.

    Args:
        staged: the traced function.
        options: ``numerics`` and ``donate``.
        path: file; replaced if it exists.

    Raises:
        SerializationError: an argument, a result or a static value is of a class of its own.
    """
    try:
        data = _Writer(staged).data(options)
    except SerializationError as error:
        raise error.at(f"export of {staged.graph.name} to {os.fspath(path)}") from None
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


class _Writer:
    """Collects what goes into one file."""

    def __init__(self, staged: StagedGraph) -> None:
        self.staged = staged
        self.devices = {resolve_device_name("cpu"): "cpu"}
        self.tensors: dict[str, Array] = {}
        self.places: dict[str, str] = {}
        self.streams: list[RandomState] = []
        self.captured: list[Tensor] = []

    def data(self, options: Mapping[str, Any]) -> bytes:
        """The bytes of the file."""
        staged = self.staged
        externals = [list(external.names) for external in staged.externals]
        for external in staged.externals:
            self.add_tensor(f"weights/{external.names[0]}", external.tensor)
        labelled = zip(staged.labels, staged.static, strict=True)
        program = {
            **options,
            "arguments": pack_tree(staged.arguments, "the arguments"),
            "labels": list(staged.labels),
            "static": [pack(value, f"the static argument {label}") for label, value in labelled],
            "results": pack_tree(staged.results, "the results"),
            "constants": [pack(value, "a result") for value in staged.constants],
            "types": len(staged.types),
            "externals": externals,
            "supplies": [self.supply(supply) for supply in staged.supplies],
            "stored": [[self.owner(owner), number] for owner, number in staged.stored],
        }
        program["streams"] = [self.stream(stream) for stream in self.streams]
        program["places"] = self.places
        used = {*graph_devices(staged.graph), *[t._type.device for t in self.captured]}
        program["hosts"] = sorted(self.devices.get(d, d) for d in used if is_host(d))
        program["checksums"] = {n: array_checksum(array) for n, array in self.tensors.items()}
        text = json.dumps(program, separators=(",", ":"))
        graph = write_container(Container(retarget(staged.graph, self.devices)))
        constants, fields = decode(graph)
        metadata = {VERSION: FORMAT, PROGRAM: text, CHECKSUM: checksum(text.encode())}
        metadata |= {GRAPH + name: value for name, value in fields.items()}
        tensors = self.tensors | {GRAPH + name: array for name, array in constants.items()}
        return encode(tensors, metadata)

    def add_tensor(self, name: str, tensor: Tensor) -> None:
        """Keeps a tensor's values and its device."""
        self.tensors[name] = tensor._real_storage().numpy()
        device = tensor._type.device
        self.places[name] = self.devices.get(device, device)

    def supply(self, supply: Supply) -> Any:
        """Where an input comes from."""
        if isinstance(supply, External):
            return {"external": self.external(supply)}
        if isinstance(supply, Captured):
            return {"captured": self.captive(supply.tensor), "stored": supply.stored}
        if isinstance(supply, Draw):
            known = [n for n, stream in enumerate(self.streams) if stream is supply.stream]
            if not known:
                self.streams.append(supply.stream)
            return {"draw": known[0] if known else len(self.streams) - 1}
        name = f"numbers/{len(self.tensors)}"
        self.tensors[name] = np.asarray(supply.array)
        return {"number": name}

    def owner(self, owner: int | Tensor | External) -> Any:
        """What a store goes to."""
        if isinstance(owner, int):
            return {"argument": owner}
        if isinstance(owner, External):
            return {"external": self.external(owner)}
        return {"captured": self.captive(owner)}

    def external(self, external: External) -> int:
        """The number of what is read by name."""
        return next(n for n, e in enumerate(self.staged.externals) if e is external)

    def captive(self, tensor: Tensor) -> int:
        """The number of a captured tensor."""
        known = next((n for n, t in enumerate(self.captured) if t is tensor), None)
        if known is not None:
            return known
        self.captured.append(tensor)
        self.add_tensor(f"captured/{len(self.captured) - 1}", tensor)
        return len(self.captured) - 1

    def stream(self, stream: RandomState) -> Any:
        """Key and counter of a private stream; None for the global one."""
        return None if stream is global_state else [stream.key, stream.counter]
