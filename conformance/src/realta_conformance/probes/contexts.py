"""Contexts probes: states, versions and calls of the user's API behave the same on every device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import realta
from realta import F
from realta.errors import RealizationError
from realta.runtime import resolve_device

from realta_conformance.device import Device
from realta_conformance.formats import Array
from realta_conformance.probes.probe import Finding, probe

_VALUES: Final = np.arange(12, dtype=np.float32).reshape(3, 4)


def _tensor(device: Device, array: Array = _VALUES) -> realta.Tensor:
    return realta.Tensor(array, device=device.name)


def _adds(device: Device) -> bool:
    table = device.capabilities.ops
    return all(realta.float32 in table.get(op, frozenset()) for op in ("add", "mul"))


def _wrong(got: object, wanted: object, what: str) -> str:
    same = np.array_equal(np.asarray(got), np.asarray(wanted))
    return "" if same else f"{what}: got {got!r}, must be {wanted!r}"


@probe("contexts")
def metadata(device: Device) -> Iterator[Finding]:
    """A tensor knows its shape, dtype and device, and asking realizes nothing.

    If this fails, the fault is in core unless other devices pass.
    """
    if not _adds(device):
        yield Finding(skipped="no add and mul for float32")
        return
    with realta.lazy():
        t = _tensor(device) + 1.0
        known = (tuple(t.shape), t.dtype, str(t.device), t.ndim, t.size)
        yield Finding("pending", "the tensor became real" if t.is_real else "")
    wanted = ((3, 4), realta.float32, device.name, 2, 12)
    yield Finding("values", "" if known == wanted else f"{known}, must be {wanted}")
    result = t.numpy()
    right = result.dtype == np.float32 and result.shape == (3, 4)
    yield Finding("result", "" if right else f"{result.dtype}{result.shape}")


@probe("contexts")
def laziness(device: Device) -> Iterator[Finding]:
    """In a lazy block nothing is launched until a value is used, and then only what it needs.

    If this fails, look at `explain()` of the block.
    """
    if not _adds(device):
        yield Finding(skipped="no add and mul for float32")
        return
    x = _tensor(device)
    opened = resolve_device(device.name)
    before = opened.launches
    with realta.lazy():
        wanted = x * x
        other = x + x
    yield Finding("nothing", "launched too early" if opened.launches != before else "")
    yield Finding("values", _wrong(wanted.numpy(), _VALUES * _VALUES, "x * x"))
    yield Finding("other", "an unrelated tensor became real" if other.is_real else "")
    yield Finding("later", _wrong(other.numpy(), _VALUES + _VALUES, "x + x"))


@probe("contexts")
def versions(device: Device) -> Iterator[Finding]:
    """A store moves its handle to a new version; whoever read before keeps what they read.

    If this fails, look at `update_slice` and at donation: the old buffer may have been written.
    """
    table = device.capabilities.ops
    if not _adds(device) or realta.float32 not in table.get("update_slice", frozenset()):
        yield Finding(skipped="no add or update_slice for float32")
        return
    x = _tensor(device)
    with realta.lazy():
        reader = x + 10.0
    x[:1] = 9.0
    yield Finding("reader", _wrong(reader.numpy(), _VALUES + 10, "a lazy read before the store"))
    stored = _VALUES.copy()
    stored[:1] = 9
    yield Finding("store", _wrong(x.numpy(), stored, "after the store"))
    y = _tensor(device)
    kept = y
    y += 1.0
    yield Finding("augmented", _wrong(kept.numpy(), _VALUES, "the object that y was before y += 1"))
    z = _tensor(device, np.arange(6, dtype=np.float32))
    z[1:] = z[:-1] + z[1:]
    yield Finding("overlap", _wrong(z.numpy(), [0, 1, 3, 5, 7, 9], "an overlapping store"))


@probe("contexts")
def sources(device: Device) -> Iterator[Finding]:
    """A tensor made of an array does not change with it, and `numpy()` gives nothing to write to.

    If this fails, check that `write` copies, and what `view` gives out.
    """
    array = _VALUES.copy()
    t = _tensor(device, array)
    array[:] = -1
    yield Finding("from-array", _wrong(t.numpy(), _VALUES, "after the array was overwritten"))
    yield Finding("read-only", "numpy() is writable" if t.numpy().flags.writeable else "")
    copied = t.numpy(copy=True)
    copied[:] = 7
    yield Finding("copy", _wrong(t.numpy(), _VALUES, "after the copy was overwritten"))


@probe("contexts")
def regions(device: Device) -> Iterator[Finding]:
    """Using a value inside its own region is an error, and leaves everything usable.

    If this fails, the fault is in core unless other devices pass.
    """
    if not _adds(device):
        yield Finding(skipped="no add and mul for float32")
        return
    x = _tensor(device)

    @realta.functional
    def asks(t: realta.Tensor) -> realta.Tensor:
        total = t + t
        total.numpy()
        return total

    try:
        asks(x)
        wrong = "no error"
    except RealizationError:
        wrong = ""
    yield Finding("error", wrong)
    yield Finding("after", _wrong((x + x).numpy(), _VALUES + _VALUES, "x + x after the error"))


@probe("contexts")
def compiled_calls(device: Device) -> Iterator[Finding]:
    """A compiled function computes anew at each call and never touches what it returned before.

    If this fails, check that an executable keeps no output between calls.
    """
    if not _adds(device):
        yield Finding(skipped="no add and mul for float32")
        return
    x = _tensor(device)
    add_one = realta.compile(lambda t: t + 1.0)(x.type)
    first = add_one(x)
    second = add_one(_tensor(device, _VALUES + 1))
    yield Finding("first", _wrong(first.numpy(), _VALUES + 1, "the first result, later"))
    yield Finding("second", _wrong(second.numpy(), _VALUES + 2, "the second result"))
    same = realta.compile(lambda t: t)(x.type)(x)
    x_before = x.numpy(copy=True)
    same_before = same.numpy(copy=True)
    yield Finding("identity", _wrong(same_before, x_before, "the argument returned"))


@probe("contexts")
def random_draws(device: Device) -> Iterator[Finding]:
    """With the same seed, draws are equal bit for bit in every mode; calls differ.

    If this fails, check Philox, and that its state is an operand and not part of the graph.
    """
    try:
        realta.set_seed(7)
        eager = realta.random.uniform((5,), device=device.name).numpy(copy=True)
    except (NotImplementedError, RuntimeError) as error:
        yield Finding(skipped=f"no uniform draws: {error}".splitlines()[0])
        return
    realta.set_seed(7)
    with realta.lazy():
        pending = realta.random.uniform((5,), device=device.name)
    yield Finding("lazy", _wrong(pending.numpy(), eager, "lazy draw"))
    draw = realta.compile(lambda: realta.random.uniform((5,), device=device.name))()
    realta.set_seed(7)
    first, second = draw(), draw()
    yield Finding("compiled", _wrong(first.numpy(), eager, "compiled draw"))
    differs = not np.array_equal(first.numpy(), second.numpy())
    yield Finding("fresh", "" if differs else "two calls drew the same numbers")


@probe("contexts")
def indices(device: Device) -> Iterator[Finding]:
    """An index outside its axis raises `IndexError`, and later work is unaffected.

    If this fails, check `check_bounds`, and that core reads its status.
    """
    table = device.capabilities.ops
    needed = ("gather", "check_bounds")
    if any(realta.int64 not in table.get(op, frozenset()) for op in needed):
        yield Finding(skipped="no gather or check_bounds for int64")
        return
    x = realta.Tensor(np.arange(5), device=device.name)
    for index in (5, -6):
        try:
            got = F.gather(x, realta.Tensor([index], device=device.name), axis=0).numpy()
            wrong = f"index {index} gave {got!r}"
        except IndexError:
            wrong = ""
        yield Finding(f"outside{index}", wrong)
    last = F.gather(x, realta.Tensor([-1, 4], device=device.name), axis=0).numpy()
    yield Finding("after", _wrong(last, [4, 4], "gather after the errors"))


@probe("contexts")
def memory(device: Device) -> Iterator[Finding]:
    """Small eager ops whose results are dropped leave no bytes behind.

    If this fails, look for a graph or a table that keeps results alive.
    """
    if not _adds(device):
        yield Finding(skipped="no add and mul for float32")
        return
    x = _tensor(device)
    (x + x).numpy()
    before = realta.memory_stats(device.name)[device.name].live
    for _ in range(200):
        x + x
    after = realta.memory_stats(device.name)[device.name].live
    yield Finding(wrong="" if after <= before else f"live bytes grew from {before} to {after}")
