"""Importing: compiled functions out of export files, on any device."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import Any, Final

from numpy.typing import NDArray

from realta.compilation.compiled import CompiledFunction
from realta.compilation.exporting import (
    CHECKSUM,
    FORMAT,
    GRAPH,
    PROGRAM,
    VERSION,
    array_checksum,
    checksum,
)
from realta.compilation.plain_data import unpack, unpack_tree
from realta.compilation.staging import Slot, StagedGraph
from realta.compilation.supplies import Captured, Draw, External, Fixed, Supply
from realta.context import RandomState, global_state
from realta.errors import (
    ArgumentError,
    BackendNotFound,
    BackendUnavailable,
    RealtaError,
    SerializationError,
)
from realta.graph import Graph
from realta.graph.safetensors import decode, encode
from realta.graph.serialize import read_container
from realta.interchange import from_numpy
from realta.passes.retarget import graph_devices, retarget
from realta.plugins import Device, device_of
from realta.tensor import Tensor

__all__ = ["load"]

_FIX: Final = "fetch or save the file again"

Array = NDArray[Any]


def load(
    path: str | os.PathLike[str],
    *,
    device: str | Device | Mapping[str, str | Device] | None = None,
    allow_custom: bool = False,
) -> CompiledFunction:
    """A compiled function out of a file that `CompiledFunction.export` wrote.

    Args:
        path: file.
        device: where it runs: the device of the file's name, if left out, and ``cpu`` with one
            warning where a host device of the file is missing. A table by the file's names for a
            file with several devices.
        allow_custom: whether its custom calls may carry code, which a device may build and run; say
            so only of files that you trust.

    Returns:
        A function that is called like the one that was exported. Its weights are its own.

    Raises:
        SerializationError: cut short, damaged, no export, of another major version, in need of an
            op that is not installed, or with code that is not allowed.
        ArgumentError: one device for a file that has several.
        BackendNotFound, BackendUnavailable: a device cannot be used here.
    """
    with open(path, "rb") as file:
        data = file.read()
    where = os.fspath(path)
    try:
        graph, program, tensors = _read(data, allow_custom=allow_custom)
        places = _places(graph, program, device)
        staged = _staged(retarget(graph, places), program, tensors, places)
        options = program.get("numerics", "exact"), program.get("donate", ())
        return CompiledFunction(staged, numerics=options[0], donate=options[1])
    except RealtaError as error:
        error.where = f"{where}\n    {error.where}".rstrip()
        raise


def _places(graph: Graph, program: Mapping[str, Any], device: Any) -> dict[str, str]:
    """The device here for each device of the file."""
    names = list(dict.fromkeys([*graph_devices(graph), *program.get("places", {}).values()]))
    if device is None:
        hosts = program.get("hosts", ())
        return {name: _here(name, name in hosts) for name in names}
    if isinstance(device, Mapping):
        return {name: device_of(device.get(name, name)).name for name in names}
    if len(names) > 1:
        raise ArgumentError(
            f"the file has the devices {', '.join(names)}, and one was given for all",
            fix=f"give a table, as in device={{{names[0]!r}: {str(device)!r}}}",
        )
    return dict.fromkeys(names, device_of(device).name)


def _here(name: str, host: bool) -> str:
    try:
        return device_of(name).name
    except (BackendNotFound, BackendUnavailable) as error:
        if not host:
            error.fix = f"load it with device=; {error.fix}"
            raise
        warnings.warn(
            f"{name} is not usable here ({error.what}), so what was on it is on cpu now",
            RuntimeWarning,
            stacklevel=5,
        )
        return device_of("cpu").name


def _read(
    data: bytes, *, allow_custom: bool = False
) -> tuple[Graph, dict[str, Any], dict[str, Array]]:
    """The graph, the program's description and the tensors of an export file."""
    tensors, metadata = decode(data)
    version = metadata.get(VERSION)
    if version is None:
        raise SerializationError(
            "the file is no export of a compiled function",
            fix="write one with compiled.export(path); realta.load_graph reads graphs, "
            "realta.load_tensors weights",
        )
    if version.split(".")[0] != FORMAT.split(".")[0]:
        raise SerializationError(
            f"the export has the format {version!r}, and this version reads {FORMAT!r}",
            fix="install the version of realta that wrote it",
        )
    text = metadata.get(PROGRAM, "")
    if checksum(text.encode()) != metadata.get(CHECKSUM):
        raise SerializationError("the description of the program is damaged", fix=_FIX)
    own = {name: array for name, array in tensors.items() if not name.startswith(GRAPH)}
    fields = _below(metadata)
    graph = read_container(encode(_below(tensors), fields), allow_custom=allow_custom).graph
    program = json.loads(text)
    checksums = program.get("checksums", {})
    for name, array in own.items():
        if checksums.get(name) != array_checksum(array):
            raise SerializationError(f"the tensor {name!r} is damaged", fix=_FIX)
    return graph, program, own


def _below(table: Mapping[str, Any]) -> dict[str, Any]:
    return {k.removeprefix(GRAPH): v for k, v in table.items() if k.startswith(GRAPH)}


def _staged(
    graph: Graph,
    program: Mapping[str, Any],
    tensors: Mapping[str, Array],
    places: Mapping[str, str],
) -> StagedGraph:
    """The traced function that an export file describes.

    Args:
        graph: its graph, on the devices where it will run.
        program: its description.
        tensors: the file's own tensors.
        places: the device for each device of the file.

    Raises:
        SerializationError: the description does not fit the graph.
    """
    try:
        return _rebuilt(graph, program, tensors, places)
    except RealtaError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SerializationError(
            f"the description of the program is damaged: {type(error).__name__}: {error}", fix=_FIX
        ) from error


def _rebuilt(
    graph: Graph,
    program: Mapping[str, Any],
    tensors: Mapping[str, Array],
    places: Mapping[str, str],
) -> StagedGraph:
    def tensor(name: str) -> Tensor:
        device = program["places"][name]
        return from_numpy(tensors[name], device=places.get(device, device))

    externals = tuple(
        [External(tuple(names), tensor(f"weights/{names[0]}")) for names in program["externals"]]
    )
    count = sum(name.startswith("captured/") for name in tensors)
    captured = [tensor(f"captured/{number}") for number in range(count)]
    streams = [global_state if s is None else _stream(*s) for s in program["streams"]]

    def supply(entry: Mapping[str, Any]) -> Supply:
        if "external" in entry:
            return externals[int(entry["external"])]
        if "captured" in entry:
            return Captured(captured[int(entry["captured"])], bool(entry["stored"]))
        return Draw(streams[entry["draw"]]) if "draw" in entry else Fixed(tensors[entry["number"]])

    def owner(entry: Mapping[str, Any]) -> int | Tensor | External:
        if "argument" in entry:
            return range(int(program["types"]))[int(entry["argument"])]
        if "external" in entry:
            return externals[int(entry["external"])]
        return captured[int(entry["captured"])]

    staged = StagedGraph(
        graph=graph,
        arguments=unpack_tree(program["arguments"]),
        labels=tuple(map(str, program["labels"])),
        static=tuple([unpack(value) for value in program["static"]]),
        types=tuple([value.type for value in graph.inputs[: program["types"]]]),
        results=unpack_tree(program["results"]),
        constants=tuple([unpack(value) for value in program["constants"]]),
        supplies=tuple([supply(entry) for entry in program["supplies"]]),
        stored=tuple([(owner(entry), int(number)) for entry, number in program["stored"]]),
        externals=externals,
    )
    _check(staged)
    return staged


def _stream(key: int, counter: int) -> RandomState:
    state = RandomState(key)
    state.take(counter)
    return state


def _check(staged: StagedGraph) -> None:
    """Whether the parts fit each other, so that a call cannot read past them."""
    inputs = staged.graph.inputs[len(staged.types) :]
    slots = sum(value is Slot for value in staged.constants)
    counts = [
        (len(staged.static), staged.arguments.count),
        (len(staged.labels), staged.arguments.count),
        (sum(value is Slot for value in staged.static), len(staged.types)),
        (len(staged.constants), staged.results.count),
        (len(staged.supplies), len(inputs)),
        (slots + len(staged.stored), len(staged.graph.outputs)),
    ]
    wrong = [f"{found} for {wanted}" for found, wanted in counts if found != wanted]
    last = len(staged.graph.outputs)
    wrong += [f"an output {number}" for _, number in staged.stored if not 0 <= number < last]
    for value, supply in zip(inputs, staged.supplies, strict=False):
        if isinstance(supply, (External, Captured)) and supply.tensor._type is not value.type:
            wrong.append(f"{supply.tensor.type} for {value.type}")
    if wrong:
        raise ValueError(f"its parts do not fit: {', '.join(wrong)}")
