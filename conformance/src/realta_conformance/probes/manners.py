"""Manners probes: promotion, scalars, shapes and creation through the user's API, in each mode.

They are the public faults of the corpus that live above the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import realta
from realta import F, Tensor
from realta.errors import DTypeError, ShapeError

from realta_conformance.device import Device
from realta_conformance.probes.probe import Finding, probe

_NOTHING: Final = "the device does not have the ops that this needs"
Make = Callable[..., Any]


def _modes(make: Make, *tensors: Tensor) -> Iterator[tuple[str, Any]]:
    """A result in every mode of the API."""
    yield "eager", make(*tensors)
    with realta.lazy():
        pending = make(*tensors)
    yield "lazy", pending
    yield "region", realta.functional(make)(*tensors)
    yield "compiled", realta.compile(make)(*[t.type for t in tensors])(*tensors)


def _compare(name: str, wanted: Any, dtype: Any, make: Make, *tensors: Tensor) -> Iterator[Finding]:
    try:
        for mode, result in _modes(make, *tensors):
            got = result.numpy()
            wrong = "" if result.dtype is dtype else f"{result.dtype}, must be {dtype}"
            expected = np.asarray(wanted, got.dtype)
            if not wrong and not np.array_equal(got, expected, equal_nan=got.dtype.kind == "f"):
                wrong = f"{got.tolist()}, must be {expected.tolist()}"
            yield Finding(f"{name}-{mode}", wrong)
    except NotImplementedError:
        yield Finding(name, skipped=_NOTHING)


def _raises(name: str, kind: type[Exception], make: Make, *tensors: Tensor) -> Finding:
    try:
        make(*tensors).numpy()
    except kind:
        return Finding(name)
    except NotImplementedError:
        return Finding(name, skipped=_NOTHING)
    except Exception as error:
        return Finding(name, f"{type(error).__name__}, must be {kind.__name__}: {error}")
    return Finding(name, f"no error, must be {kind.__name__}")


def _make(device: Device, values: Any, dtype: str) -> Tensor:
    return Tensor(np.array(values, dtype), device=device.name)


@probe("contexts")
def wide_accumulation(device: Device) -> Iterator[Finding]:
    """Sums and means of narrow integers are not accumulated in their own width.

    If this fails, check that the cast before the reduction is kept, in the compiled form as well.
    """
    narrow = _make(device, [0, 100, 200, 123], "uint8")
    yield from _compare("mean-u8", 105.75, realta.float32, F.mean, narrow)
    large = _make(device, [2**31 - 1, 2**31 - 1], "int32")
    yield from _compare("mean-i32", 2147483648.0, realta.float32, F.mean, large)
    yield from _compare(
        "prod-i8", 1000000, realta.int64, F.prod, _make(device, [100, 100, 100], "int8")
    )
    yield from _compare(
        "sum-bool", 2, realta.int64, F.sum, _make(device, [True, True, False], "bool")
    )


@probe("contexts")
def weak_scalars(device: Device) -> Iterator[Finding]:
    """Python numbers take the tensor's dtype where their kind allows, the same in every mode.

    If this fails, check that recording does not turn a scalar into a float64 tensor.
    """
    whole = _make(device, [1, 2, 3], "int32")
    yield from _compare("int-times-float", [2, 4, 6], realta.float32, lambda t: t * 2.0, whole)
    half = F.cast(_make(device, [1.0, 2.0], "float32"), realta.bfloat16)
    yield from _compare("bf16-times-half", [0.5, 1.0], realta.bfloat16, lambda t: t * 0.5, half)
    byte = _make(device, [200], "uint8")
    yield from _compare("u8-wraps", [72], realta.uint8, lambda t: t + 128, byte)
    yield _raises("u8-plus-256", OverflowError, lambda t: t + 256, byte)
    yield from _compare("u8-below-256", [True], realta.bool_, lambda t: t < 256, byte)
    truth = _make(device, [True, False], "bool")
    yield from _compare("bool-plus-bool", [True, False], realta.bool_, lambda t: t + t, truth)
    yield _raises("bool-minus-bool", DTypeError, lambda t: t - t, truth)
    yield _raises("negative-exponent", DTypeError, lambda t: t**-1, whole)


@probe("contexts")
def empty_operands(device: Device) -> Iterator[Finding]:
    """Only an empty *reduced* axis lacks an identity; shapes of nothing broadcast like others.

    If this fails, check that no extent is taken as at least 1.
    """
    wide, tall = (
        _make(device, np.zeros((0, 2)), "float32"),
        _make(device, np.zeros((2, 0)), "float32"),
    )
    yield from _compare("sum-wide", np.zeros(0), realta.float32, lambda t: F.sum(t, axis=1), wide)
    yield from _compare("sum-tall", [0, 0], realta.float32, lambda t: F.sum(t, axis=1), tall)
    yield from _compare("prod-tall", [1, 1], realta.float32, lambda t: F.prod(t, axis=1), tall)
    yield from _compare(
        "mean-tall", [np.nan] * 2, realta.float32, lambda t: F.mean(t, axis=1), tall
    )
    yield from _compare("max-wide", np.zeros(0), realta.float32, lambda t: F.max(t, axis=1), wide)
    yield _raises("max-tall", ValueError, lambda t: F.max(t, axis=1), tall)
    yield _raises("argmax-tall", ValueError, lambda t: F.argmax(t, axis=1), tall)
    column = _make(device, [[1.0], [2.0]], "float32")
    yield from _compare(
        "broadcast", np.zeros((2, 0)), realta.float32, lambda t, u: t + u, tall, column
    )
    three = _make(device, np.zeros((2, 3)), "float32")
    yield _raises("no-broadcast", ShapeError, lambda t: t + three, tall)
    yield _raises("reshape", ShapeError, lambda t: t.reshape([1, 0, -1]), tall)
    yield _raises("negative-extent", ShapeError, lambda: F.full((-1, 2), 1.0, device=device.name))


@probe("contexts")
def counting(device: Device) -> Iterator[Finding]:
    """`arange` counts exactly: each float is the rounded exact value.

    If this fails, check that the count is not made in float32.
    """
    start, stop = 16777210, 16777226
    try:
        whole = F.arange(start, stop, device=device.name).numpy()
        floats = F.arange(start, stop, dtype="float32", device=device.name).numpy()
    except NotImplementedError:
        yield Finding(skipped=_NOTHING)
        return
    exact = np.arange(start, stop)
    yield Finding("integers", "" if np.array_equal(whole, exact) else f"{whole.tolist()}")
    rounded = exact.astype(np.float32)
    yield Finding("floats", "" if np.array_equal(floats, rounded) else f"{floats.tolist()}")


@probe("contexts")
def exchange(device: Device) -> Iterator[Finding]:
    """Arrays of any layout come in as their values: reversed, read-only, 0-d, strided.

    If this fails, check strides and offsets where an array is shared instead of copied.
    """
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    frozen = base.copy()
    frozen.flags.writeable = False
    layouts = {
        "reversed": base[:, ::-1], "read-only": frozen, "0-d": np.array(3.5, np.float32),
        "strided": base[::2, 1::3], "transposed": base.T, "one": base[:1, 2:3],
    }  # fmt: skip
    for name, array in layouts.items():
        got = Tensor(array, device=device.name).numpy()
        yield Finding(name, "" if np.array_equal(got, array) else f"{got.tolist()}")


@probe("contexts")
def strided_stores(device: Device) -> Iterator[Finding]:
    """A store into every second element changes those and no others.

    If this fails, look at `update_slice`.
    """
    try:
        t = _make(device, [5.0, 5.0, 5.0, 5.0, 5.0], "float32")
        t[::2] = 1.0
        got = t.numpy().tolist()
    except NotImplementedError:
        yield Finding(skipped=_NOTHING)
        return
    yield Finding(wrong="" if got == [1, 5, 1, 5, 1] else f"{got}")


@probe("contexts")
def shared_chains(device: Device) -> Iterator[Finding]:
    """A value that is used twice at each of many steps is computed once at each.

    If this fails, look for a walk over the graph that forgets where it was.
    """
    try:
        t = _make(device, [1.0], "float32")
        with realta.lazy():
            for _ in range(100):
                t = t + t
        got = float(t.numpy()[0])
    except NotImplementedError:
        yield Finding(skipped=_NOTHING)
        return
    yield Finding(wrong="" if got == 2.0**100 else f"{got}")
