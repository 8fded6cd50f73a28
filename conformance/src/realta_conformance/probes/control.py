"""Control probes: branches, loops, draws inside of them, stores and effects in every mode."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import realta
from realta import F

from realta_conformance.device import Device
from realta_conformance.formats import Array
from realta_conformance.oracle import same_bits
from realta_conformance.probes.probe import Finding, probe

_VALUES: Final = np.array([1.5, -2.0, 3.0, 0.25], np.float32)
_NEEDED: Final = ("add", "mul", "neg", "less", "select")
Function = Callable[..., Any]


def _lacks(device: Device) -> str:
    table = device.capabilities.ops
    missing = [op for op in _NEEDED if realta.float32 not in table.get(op, frozenset())]
    if realta.int32 not in table.get("add", frozenset()):
        missing.append("add of int32")
    return f"no {', '.join(missing)}" if missing else ""


def _modes(function: Function, *tensors: realta.Tensor) -> Iterator[tuple[str, Any]]:
    """The results of a function in each mode, all from the same random state."""
    types = [t.type for t in tensors]
    runs: dict[str, Function] = {
        "eager": function,
        "lazy": realta.lazy()(function),
        "region": F.functional(function),
        "compiled": realta.compile(function)(*types),
    }
    for mode, run in runs.items():
        realta.set_seed(17)
        yield mode, run(*tensors)


def _compare(found: Any, wanted: Array) -> str:
    got = found.numpy()
    return "" if same_bits(got, wanted) else f"got {got.tolist()}, must be {wanted.tolist()}"


@probe("contexts", unless=_lacks)
def branches(device: Device) -> Iterator[Finding]:
    """Of two branches the one runs that the predicate says, in every mode.

    If this fails on a device with `control_flow`, look at how it reads the predicate; on others
    core runs the branch, and the fault is in core.
    """

    def chosen(yes: Any, x: Any) -> Any:
        return F.cond(yes, None, lambda: x * x + x, lambda: -x)[0]

    x = realta.Tensor(_VALUES, device=device.name)
    for yes, wanted in ((True, _VALUES * _VALUES + _VALUES), (False, -_VALUES)):
        for mode, found in _modes(chosen, realta.Tensor(yes, device=device.name), x):
            yield Finding(f"{str(yes).lower()}-{mode}", _compare(found, wanted))


@probe("contexts", unless=_lacks)
def loops(device: Device) -> Iterator[Finding]:
    """A loop asks before each step and carries every value, in every mode.

    If this fails, look for a step too many or too few, and for a carried value that is read before
    it is written.
    """

    def doubled(count: Any, x: Any) -> Any:
        def body(i: Any, x: Any, before: Any) -> Any:
            return i + 1, x + x, x

        return F.while_loop((count - count, x, -x), lambda i, *_: i < count, body)[1:]

    x = realta.Tensor(_VALUES, device=device.name)
    for count in (0, 1, 5):
        number = realta.Tensor(np.int32(count), device=device.name)
        last = -_VALUES if count == 0 else _VALUES * np.float32(2 ** (count - 1))
        for mode, (value, before) in _modes(doubled, number, x):
            wrong = _compare(value, _VALUES * np.float32(2**count)) or _compare(before, last)
            yield Finding(f"{count}-{mode}", wrong)


@probe("contexts")
def draws_inside(device: Device) -> Iterator[Finding]:
    """Draws inside of a loop differ from step to step and agree in every mode.

    If this fails, look at `philox_branch`: the key of a draw inside is the Philox block at
    (iteration, path, counter) of the loop's own state.
    """
    reason = _lacks(device)
    words = device.capabilities.ops.get("broadcast", frozenset())
    if reason or realta.uint32 not in words:
        yield Finding(skipped=reason or "no uint32, of which the state of draws is made")
        return

    def drawn(x: Any) -> Any:
        def body(i: Any, x: Any, last: Any) -> Any:
            new = realta.random.uniform((4,), device=device.name)
            return i + 1, x + new, new

        zero = F.full((), 0, dtype="int32", device=device.name)
        return F.while_loop((zero, x, x), lambda i, *_: i < 3, body)[1:]

    x = realta.Tensor(_VALUES, device=device.name)
    first: list[Array] = []
    for mode, results in _modes(drawn, x):
        arrays = [t.numpy() for t in results]
        first = first or arrays
        same = all(same_bits(a, b) for a, b in zip(arrays, first, strict=True))
        yield Finding(mode, "" if same else "other draws than eager")
        counters = realta.seed().tolist()
        yield Finding(f"{mode}-counter", "" if counters == [17, 1] else f"left at {counters}")
    steps = first[0] - _VALUES - first[1]
    yield Finding("anew", "every step drew the same" if np.allclose(steps, 2 * first[1]) else "")


@probe("contexts")
def stores_inside(device: Device) -> Iterator[Finding]:
    """Stores in a branch that runs move the tensor; readers from before keep the old version.

    If this fails, look at `update_slice` and at donation between the steps of a loop.
    """
    reason = _lacks(device)
    table = device.capabilities.ops
    if reason or realta.float32 not in table.get("update_slice", frozenset()):
        yield Finding(skipped=reason or "no update_slice for float32")
        return
    for mode in ("eager", "compiled"):
        cache = realta.Tensor(np.zeros(4, np.float32), device=device.name)
        before = realta.Tensor(cache)
        x = realta.Tensor(_VALUES, device=device.name)

        def stored(cache: Any, x: Any) -> Any:
            def body(i: Any, x: Any) -> Any:
                cache[1:3] = x[1:3]
                return i + 1, x + x

            zero = F.full((), 0, dtype="int32", device=device.name)
            return F.while_loop((zero, x), lambda i, _: i < 2, body)[1]

        run = realta.compile(stored)(cache.type, x.type) if mode == "compiled" else stored
        run(cache, x)
        wanted = np.array([0, *(2 * _VALUES[1:3]), 0], np.float32)
        yield Finding(mode, _compare(cache, wanted) or _compare(before, np.zeros_like(_VALUES)))


@probe("contexts", unless=_lacks)
def effects(device: Device) -> Iterator[Finding]:
    """Effects run once, in order, with the values they had.

    If this fails, the fault is in core unless the values printed are wrong.
    """

    def noisy(x: Any) -> Any:
        y = x * x
        F.print(y, "first")
        F.print(-x, "second")
        return y + x

    x = realta.Tensor(_VALUES, device=device.name)
    wanted = [f"first: {realta.Tensor(x * x)!r}", f"second: {-x!r}"]
    runs: dict[str, Function] = {
        "eager": F.functional(noisy),
        "lazy": realta.lazy()(noisy),
        "compiled": realta.compile(noisy)(x.type),
    }
    for mode, run in runs.items():
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            result = run(x)
            wrong = _compare(result, _VALUES * _VALUES + _VALUES)
        printed = out.getvalue().splitlines()
        yield Finding(mode, wrong or ("" if printed == wanted else f"printed {printed}"))
