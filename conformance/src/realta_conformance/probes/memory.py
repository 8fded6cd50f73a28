"""Memory probes: buffers hold what is written to them, alone, and nothing is left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from realta.types import DTYPES, DType, TensorType

from realta_conformance.device import Device, as_memory
from realta_conformance.formats import Array
from realta_conformance.probes.probe import Finding, probe
from realta_conformance.values import generator

SHAPES: Final = ((), (0,), (1,), (17,), (3, 33), (0, 3), (1025,))
_LEAK_BLOCK: Final = 1 << 22
_LEAK_TURNS: Final = 48
_LEAK_ALLOWED: Final = _LEAK_BLOCK * _LEAK_TURNS // 3


def random_bytes(dtype: DType, shape: tuple[int, ...], name: str) -> Array:
    """An array of any bit patterns, NaNs with payloads among them; bools are 0 and 1."""
    seed = generator("memory", name, dtype.short, shape)
    count = int(np.prod(shape, dtype=np.int64))
    if dtype.kind == "bool":
        return (seed.random(count) < 0.5).reshape(shape)
    data = seed.integers(0, 256, count * dtype.itemsize, dtype=np.uint8)
    return data.view(dtype.numpy).reshape(shape)


def _stored(device: Device) -> list[DType]:
    return [d for d in DTYPES if d in device.capabilities.storage]


def _differs(got: Array, wanted: Array) -> str:
    a = np.frombuffer(got.tobytes(), np.uint8)
    b = np.frombuffer(wanted.tobytes(), np.uint8)
    if a.size != b.size:
        return f"{a.size} bytes came back, {b.size} were written"
    places = np.flatnonzero(a != b)
    return f"byte {places[0]} of {a.size} differs" if places.size else ""


@probe("memory")
def round_trip(device: Device) -> Iterator[Finding]:
    """Every byte that is written to a buffer is read back, for each storage dtype and shape.

    If this fails, check element sizes (bool is one byte), 0-d and empty tensors, and that floats
    are copied as bytes: a conversion on the way loses NaN payloads.
    """
    for dtype in _stored(device):
        for shape in SHAPES:
            type_ = TensorType(dtype, shape)
            array = random_bytes(dtype, shape, "round-trip")
            handle = device.upload(array, type_)
            try:
                wrong = _differs(device.read(handle, type_), array)
            finally:
                device.free([handle])
            name = "x".join(map(str, shape)) or "scalar"
            yield Finding(f"{dtype.short}-{name}", wrong, dtype.name)


@probe("memory")
def source_reusable(device: Device) -> Iterator[Finding]:
    """What was written stays when the caller's memory changes after `write` returned.

    If this fails, check that `write` copies, or waits until the copy is done.
    """
    for dtype in _stored(device):
        type_ = TensorType(dtype, (33,))
        array = random_bytes(dtype, (33,), "source")
        source = array.copy()
        handle = device.empty(type_)
        try:
            device.session.write(handle, type_, as_memory(source))
            source.reshape(-1).view(np.uint8)[:] = 0
            wrong = _differs(device.read(handle, type_), array)
        finally:
            device.free([handle])
        yield Finding(dtype.short, wrong, dtype.name)


@probe("memory")
def buffers_are_separate(device: Device) -> Iterator[Finding]:
    """Buffers alive at the same time share no bytes, also after others were freed.

    If this fails, check that a buffer is as large as `buffer_bytes` said, and is handed out once.
    """
    for dtype in _stored(device):
        types = [TensorType(dtype, shape) for shape in ((17,), (33,), (5, 5))]
        arrays = [random_bytes(dtype, t.static_shape, f"separate-{n}") for n, t in enumerate(types)]
        handles = [device.upload(x, t) for x, t in zip(arrays, types, strict=True)]
        device.free([handles[1]])
        handles[1] = device.upload(arrays[1], types[1])
        found = [device.read(h, t) for h, t in zip(handles, types, strict=True)]
        device.free(handles)
        wrong = [w for g, a in zip(found, arrays, strict=True) if (w := _differs(g, a))]
        yield Finding(dtype.short, wrong[0] if wrong else "", dtype.name)


@probe("memory")
def copying(device: Device) -> Iterator[Finding]:
    """`copy` makes a second tensor that lives its own life.

    If this fails, check that `copy` copies the elements and not the handle.
    """
    for dtype in _stored(device):
        type_ = TensorType(dtype, (3, 33))
        array = random_bytes(dtype, (3, 33), "copy")
        other = random_bytes(dtype, (3, 33), "copy-other")
        source, target = device.upload(array, type_), device.empty(type_)
        try:
            device.session.copy(source, target, type_)
            wrong = _differs(device.read(target, type_), array)
            device.write(source, type_, other)
            wrong = wrong or _differs(device.read(target, type_), array)
        finally:
            device.free([source, target])
        yield Finding(dtype.short, wrong, dtype.name)


@probe("memory")
def viewing(device: Device) -> Iterator[Finding]:
    """A `view`, where there is one, shows the tensor's bytes.

    If this fails, check that the view covers the elements only, without padding.
    """
    for dtype in _stored(device):
        type_ = TensorType(dtype, (33,))
        array = random_bytes(dtype, (33,), "view")
        handle = device.upload(array, type_)
        try:
            view = device.session.view(handle, type_)
            if view is None:
                yield Finding(dtype.short, skipped="the session gives no views", dtype=dtype.name)
                continue
            wrong = _differs(np.frombuffer(view, np.uint8), array)
            del view
        finally:
            device.free([handle])
        yield Finding(dtype.short, wrong, dtype.name)


@probe("memory")
def sizes(device: Device) -> Iterator[Finding]:
    """Buffers are at least as large as their elements, and empty ones are legal.

    If this fails, check `buffer_bytes` and `allocate(0)`.
    """
    for dtype in _stored(device):
        small = [
            s
            for s in SHAPES
            if device.session.buffer_bytes(TensorType(dtype, s)) < TensorType(dtype, s).nbytes
        ]
        yield Finding(dtype.short, f"too small for {small[0]}" if small else "", dtype.name)
    handle = device.session.allocate(0)
    device.session.free(handle)
    yield Finding("nothing")


def resident_bytes() -> int | None:
    """Memory of this process that is in use, if the system says so."""
    path = Path("/proc/self/statm")
    if not path.exists():
        return None
    return int(path.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@probe("memory")
def freeing(device: Device) -> Iterator[Finding]:
    """Freed buffers can be used again: many short-lived ones need no more memory than a few.

    If this fails, check that `free` gives the memory back and that no table keeps the handle.
    """
    before = resident_bytes()
    if before is None:
        yield Finding(skipped="the system does not tell how much memory a process uses")
        return
    type_ = (
        TensorType("uint8", (_LEAK_BLOCK,))
        if _has_bytes(device)
        else TensorType("float32", (_LEAK_BLOCK // 4,))
    )
    array = np.ones(type_.static_shape, type_.dtype.numpy)
    for _ in range(_LEAK_TURNS):
        device.free([device.upload(array, type_)])
    grown = (resident_bytes() or 0) - before
    wrong = (
        ""
        if grown < _LEAK_ALLOWED
        else f"{_LEAK_TURNS} buffers of 4 MiB left {grown >> 20} MiB behind"
    )
    yield Finding(wrong=wrong)


def _has_bytes(device: Device) -> bool:
    return any(d.name == "uint8" for d in device.capabilities.storage)
