"""Graph containers: a graph and its constants in one file, versioned, without pickle.

A container is a safetensors file. Its metadata hold the format's version, the graph's text and a
checksum; its tensors are the constants too large for the text, each named by its digest.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from realta.errors import ParseError, SerializationError
from realta.graph.graph import Graph, all_nodes
from realta.graph.literals import INLINE_ELEMENTS
from realta.graph.parser import parse
from realta.graph.printer import print_graph
from realta.graph.safetensors import decode, encode
from realta.ops import ConstantData, find_op

__all__ = [
    "FORMAT", "Container", "dump_graph", "large_constants", "load_graph_file", "read_container",
    "reduce_graph", "restore_graph", "save_graph", "write_container",
]  # fmt: skip

FORMAT: Final = "1.0"
"""Version of the container; files of another major are refused."""

_VERSION: Final = "realta.container"
_GRAPH: Final = "realta.graph"
_CHECKSUM: Final = "realta.checksum"
_OPS: Final = "realta.ops"
_OWN: Final = frozenset({_VERSION, _GRAPH, _CHECKSUM, _OPS})
_FIX: Final = "fetch or save the file again"


class Container(NamedTuple):
    """What a container holds.

    Args:
        graph: the graph.
        fields: further metadata, which are kept: of later minor versions, of other programs.
    """

    graph: Graph
    fields: Mapping[str, str] = MappingProxyType({})


def large_constants(graph: Graph) -> dict[str, ConstantData]:
    """The constants that the text of a graph names by digest only."""
    nodes = all_nodes(graph)
    found = [v for n in nodes for v in n.attrs.values() if isinstance(v, ConstantData)]
    return {data.digest: data for data in found if data.array.size > INLINE_ELEMENTS}


def write_container(container: Container, *, locations: bool = False) -> bytes:
    """The bytes of a container.

    Args:
        container: the graph and further metadata.
        locations: whether to keep the places in source files where ops were recorded.

    Raises:
        SerializationError: a further field has a name of this format.
    """
    taken = sorted(_OWN.intersection(container.fields))
    if taken:
        raise SerializationError(
            f"the field {taken[0]!r} belongs to the format", fix="choose another name"
        )
    text = print_graph(container.graph, locations=locations)
    metadata = {
        **container.fields,
        _VERSION: FORMAT,
        _GRAPH: text,
        _CHECKSUM: _checksum(text),
        _OPS: json.dumps(_foreign_ops(container.graph)),
    }
    return encode({k: v.array for k, v in large_constants(container.graph).items()}, metadata)


def read_container(data: bytes, *, allow_custom: bool = False) -> Container:
    """A container out of its bytes.

    Args:
        data: what `write_container` made.
        allow_custom: whether its custom calls may carry code, which a session may build and run.

    Raises:
        SerializationError: cut short, damaged, without a graph, of another major version, in need
            of an op that is not installed, or with code that is not allowed.
    """
    tensors, metadata = decode(data)
    _check_version(metadata)
    text = metadata.get(_GRAPH, "")
    if _checksum(text) != metadata.get(_CHECKSUM):
        raise SerializationError("the text of the graph is damaged", fix=_FIX)
    _check_ops(metadata.get(_OPS, "{}"))
    constants = {name: ConstantData(array) for name, array in tensors.items()}
    for name, constant in constants.items():
        if constant.digest != name:
            raise SerializationError(f"the constant #{name} is damaged", fix=_FIX)
    try:
        graph = parse(text, constants=constants)
    except ParseError as error:
        raise SerializationError(
            f"the graph inside does not parse: {error.what}", where=error.where, fix=error.fix
        ) from error
    if not allow_custom:
        _refuse_code(graph)
    return Container(graph, {k: v for k, v in metadata.items() if k not in _OWN})


def dump_graph(graph: Graph) -> bytes:
    """A graph as the bytes of a container."""
    return write_container(Container(graph))


def restore_graph(data: bytes, *, allow_custom: bool = False) -> Graph:
    """A graph out of the bytes of a container; arguments and errors as `read_container`."""
    return read_container(data, allow_custom=allow_custom).graph


def save_graph(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Writes a graph into a container file; an existing file is replaced at once or not at all."""
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(dump_graph(graph))
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def load_graph_file(path: str | os.PathLike[str], *, allow_custom: bool = False) -> Graph:
    """Reads a graph from a container file or from a text file.

    Args:
        path: the file.
        allow_custom: whether its custom calls may carry code, which a session may build and run.

    Raises:
        SerializationError: as `read_container`; ``where`` begins with the path.
        ParseError: the file is a text that does not parse.
    """
    with open(path, "rb") as file:
        data = file.read()
    if data.lstrip()[:6] == b"graph " or data.lstrip()[:1] == b";":
        graph = parse(data.decode("utf-8", "replace"), source=os.fspath(path))
        if not allow_custom:
            _refuse_code(graph, os.fspath(path))
        return graph
    try:
        return restore_graph(data, allow_custom=allow_custom)
    except SerializationError as error:
        error.where = f"{os.fspath(path)}\n    {error.where}".rstrip()
        raise


def _refuse_code(graph: Graph, where: str = "") -> None:
    """Raises SerializationError where a custom call carries code: a file may come from anywhere."""
    for node in all_nodes(graph):
        if node.op.name == "custom_call" and node.attrs["source"]:
            raise SerializationError(
                f"the custom call {node.attrs['name']!r} carries code, and files are not trusted",
                where=where,
                fix="read the code, then load the file with allow_custom=True",
            )


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _check_version(metadata: Mapping[str, str]) -> None:
    version = metadata.get(_VERSION)
    if version is None:
        raise SerializationError(
            "the file holds tensors but no graph", fix="save the graph with realta.graph.save_graph"
        )
    if version.split(".")[0] != FORMAT.split(".")[0]:
        raise SerializationError(
            f"the container has the format {version!r}, and this version reads {FORMAT!r}",
            fix="install the version of realta that wrote it",
        )


def _foreign_ops(graph: Graph) -> dict[str, str]:
    """Ops of third parties (their names have a dot) with their versions."""
    return {n.op.name: n.op.since for n in all_nodes(graph) if "." in n.op.name}


def _check_ops(text: str) -> None:
    try:
        needed = json.loads(text)
        named = sorted(needed.items())
    except (ValueError, AttributeError, RecursionError):
        raise SerializationError("the list of foreign ops is damaged", fix=_FIX) from None
    for name, version in named:
        if find_op(name) is None:
            raise SerializationError(
                f"the graph needs the op {name!r} (version {version}), which is not installed",
                fix=f"install the package that defines {name.split('.')[0]!r} ops",
            )


def reduce_graph(graph: Graph) -> tuple[Any, ...]:
    """What pickle and copy make of a graph: its container."""
    return _unpickled, (write_container(Container(graph), locations=True),)


def _unpickled(data: bytes) -> Graph:
    # Whoever unpickles has trusted the data with more than the code of a custom call.
    return restore_graph(data, allow_custom=True)
