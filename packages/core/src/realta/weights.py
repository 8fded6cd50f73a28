"""Weights: tensors in safetensors files, by name: one file, several, or a sharded checkpoint."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.context import caller_location
from realta.errors import ArgumentError, SerializationError
from realta.graph.safetensors import Span, encode, read_layout
from realta.interchange import from_numpy
from realta.tensor import Tensor

__all__ = ["NameMap", "Paths", "TensorFiles", "load_tensors", "renamed", "save_tensors"]

Path = str | os.PathLike[str]
Paths = Path | Sequence[Path]
NameMap = Mapping[str, str | None] | Callable[[str], str | None]

_INDEX: Final = ".index.json"
_INDEX_LIMIT: Final = 2**28


def load_tensors(
    path: Paths, *, device: Any = None, names: NameMap | None = None
) -> dict[str, Tensor]:
    """The tensors of safetensors files.

    Args:
        path: a file; several files; or the index of a checkpoint in several files, whose name ends
            in ``.index.json`` and whose files lie beside it.
        device: where they go; the default device if left out.
        names: what a name of the files is called in the result: a table of names, or of prefixes
            that end in a dot; or a function of a name. None leaves a tensor out, which is then not
            read.

    Raises:
        SerializationError: a file is cut short, damaged, not in that format or not where the index
            says; nothing is returned.
        ArgumentError: two tensors get one name.
    """
    files = TensorFiles(path)
    pairs = renamed(files, names, f"load_tensors at {caller_location()}")
    return {new: from_numpy(files[old], device=device) for new, old in pairs.items()}


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Writes tensors to a safetensors file, whole or not at all.

    Args:
        tensors: tensors by name; unrealized ones become real.
        path: file; replaced if it exists.
    """
    data = encode({name: _array(tensor) for name, tensor in tensors.items()}, {})
    partial = f"{os.fspath(path)}.{os.getpid()}.partial"
    try:
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _array(tensor: Any) -> NDArray[Any]:
    return tensor.numpy() if isinstance(tensor, Tensor) else np.asarray(tensor)


class TensorFiles(Mapping[str, NDArray[Any]]):
    """The arrays of safetensors files by name, each read when it is asked for.

    The headers of all files are read and checked at once.

    Args:
        paths: as `load_tensors` takes them.

    Raises:
        SerializationError: see `load_tensors`.
        ArgumentError: a path is none.
    """

    def __init__(self, paths: Paths) -> None:
        self._spans: dict[str, tuple[str, Span]] = {}
        for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
            if not isinstance(path, (str, os.PathLike)):
                raise ArgumentError(
                    f"a file is named by its path, got {type(path).__name__}",
                    fix="give paths of safetensors files, or a table of tensors by name",
                )
            name = os.fspath(path)
            if name.endswith(_INDEX):
                self._add_sharded(name)
            else:
                self._add(name, _spans(name))

    def _add(self, path: str, spans: Mapping[str, Span]) -> None:
        for name, span in spans.items():
            if name in self._spans:
                raise SerializationError(
                    f"the tensor {name!r} is also in {self._spans[name][0]}",
                    where=path,
                    fix="leave one of the files out",
                )
            self._spans[name] = (path, span)

    def _add_sharded(self, index: str) -> None:
        table = _weight_map(index)
        folder = os.path.dirname(index)
        shards = {file: os.path.join(folder, file) for file in dict.fromkeys(table.values())}
        spans = {file: _spans(path) for file, path in shards.items()}
        for name, file in table.items():
            if name not in spans[file]:
                raise SerializationError(
                    f"the file {file!r} has no tensor {name!r}, which the index says it has",
                    where=index,
                    fix="fetch the index and its files again",
                )
            self._add(shards[file], {name: spans[file][name]})

    def __getitem__(self, name: str) -> NDArray[Any]:
        path, span = self._spans[name]
        with open(path, "rb") as file:
            file.seek(span.start)
            data = file.read(span.stop - span.start)
        if len(data) != span.stop - span.start:
            raise SerializationError(
                f"the file was cut short while it was read: the tensor {name!r} is incomplete",
                where=path,
                fix="load it again when nobody writes the file",
            )
        return span.array(data)

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def _spans(path: str) -> Mapping[str, Span]:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size

        def read(start: int, stop: int) -> bytes:
            file.seek(start)
            return file.read(stop - start)

        try:
            return read_layout(read, size).spans
        except SerializationError as error:
            raise error.at(path) from None


def _weight_map(index: str) -> dict[str, str]:
    """The table of an index: file by tensor.

    Raises:
        SerializationError: it is none, or names a file that does not lie beside it.
    """
    with open(index, "rb") as file:
        data = file.read(_INDEX_LIMIT)
    try:
        table = json.loads(data)["weight_map"]
        good = all(type(file) is str for file in table.values())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        good = False
    if not good:
        raise SerializationError(
            'the index is damaged: it is no JSON object with a table "weight_map" of file names',
            where=index,
            fix="fetch it again",
        )
    for name, file in table.items():
        # An index comes from where the checkpoint comes from, and may not reach out of its folder.
        if file in ("", ".", "..") or not set("/\\\0:").isdisjoint(file):
            raise SerializationError(
                f"the index puts the tensor {name!r} into {file!r}, which is no file beside it",
                where=index,
                fix="do not load this checkpoint, or put its files into one folder",
            )
    return table  # type: ignore[no-any-return]


def renamed(state: Mapping[str, Any], names: NameMap | None, where: str) -> dict[str, str]:
    """What the entries of a state are called here: the new name, and the one in the state.

    Args:
        state: entries by name.
        names: as `load_tensors` takes them.
        where: the call, for errors.

    Raises:
        ArgumentError: two entries get one name.
    """
    found: dict[str, str] = {}
    for old in state:
        new = _new_name(old, names)
        if new is None:
            continue
        if new in found:
            raise ArgumentError(
                f"{found[new]!r} and {old!r} both get the name {new!r}",
                where=where,
                fix="give each its own name, or None to leave it out",
            )
        found[new] = old
    return found


def _new_name(old: str, names: NameMap | None) -> str | None:
    if names is None:
        return old
    if callable(names):
        return names(old)
    if old in names:
        return names[old]
    prefixes = [key for key in names if key.endswith(".") and old.startswith(key)]
    if not prefixes:
        return old
    longest = max(prefixes, key=len)
    new = names[longest]
    return None if new is None else new + old[len(longest) :]
