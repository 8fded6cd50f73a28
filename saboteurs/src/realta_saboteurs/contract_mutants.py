"""Contract mutants: each method of the contract, wrong in each way that fits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from realta.backend import DeviceInfo, Refusal, UnsupportedOp

from realta_saboteurs.fault import Fault
from realta_saboteurs.healthy import Buffer, Executable, Saboteur, Session

__all__ = ["CONTRACT_MUTANTS", "ContractMutant", "MutatedBackend"]

Method = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class ContractMutant:
    """One method that is wrong in one way.

    Args:
        method: ``Session.read`` and the like.
        operator: the way.
        tells: what goes wrong.
        change: ``change(right, self, *arguments)``; ``right`` is the healthy method.
    """

    method: str
    operator: str
    tells: str
    change: Method

    @property
    def id(self) -> str:
        """Its name in reports."""
        return f"contract/{self.method}/{self.operator}"


class MutatedBackend(Saboteur):
    """A healthy backend with one method exchanged.

    Args:
        mutant: which, and by what.
    """

    def __init__(self, mutant: ContractMutant) -> None:
        super().__init__(Fault())
        self.mutant = mutant
        self.name = "mutant"
        owner, _, name = mutant.method.partition(".")
        kinds = {"Session": Session, "Executable": Executable}
        self._session: Any = Session
        self._executable: Any = Executable
        if owner == "Backend":
            right = getattr(Saboteur, name)
            setattr(self, name, lambda *a: mutant.change(right, self, *a))
            return
        base = kinds[owner]
        right = getattr(base, name, None)

        def changed(this: Any, *arguments: Any, **named: Any) -> Any:
            return mutant.change(right, this, *arguments, **named)

        made = type(f"Mutated{owner}", (base,), {name: changed})
        if owner == "Session":
            self._session = made
        else:
            self._executable = made

    def open(self, device: DeviceInfo) -> Session:
        session: Session = self._session(self)
        if self._executable is not Executable:
            kind = self._executable
            session.compile = lambda graph, options: kind(session, graph)  # type: ignore[method-assign]
        return session


def _probe_once(right: Method, this: Any) -> Any:
    count = this.__dict__["count"] = this.__dict__.get("count", 0) + 1
    return right(this) if count == 1 else ()


def _few(memory: Any) -> Any:
    """Bytes without the last one."""
    return memory[:-1] if len(memory) else memory


def _write_short(right: Method, this: Any, dst: Any, type_: Any, src: Any) -> None:
    data = np.frombuffer(src, np.uint8)
    dst.memory[: max(data.size - 1, 0)] = _few(data)


def _write_swapped(right: Method, this: Any, dst: Any, type_: Any, src: Any) -> None:
    data = np.frombuffer(src, np.uint8)
    size = type_.dtype.itemsize
    dst.memory[: data.size] = data.reshape(-1, size)[:, ::-1].reshape(-1)


def _write_kept(right: Method, this: Any, dst: Any, type_: Any, src: Any) -> None:
    dst.memory = np.frombuffer(src, np.uint8)


def _write_once(right: Method, this: Any, dst: Any, type_: Any, src: Any) -> None:
    if not dst.memory.any():
        right(this, dst, type_, src)


def _read_short(right: Method, this: Any, src: Any, type_: Any, dst: Any) -> None:
    out = np.frombuffer(dst, np.uint8)
    out[: max(out.size - 1, 0)] = _few(src.memory[: type_.nbytes])


def _read_stale(right: Method, this: Any, src: Any, type_: Any, dst: Any) -> None:
    seen = this.__dict__.setdefault("seen", {})
    known = seen.setdefault(id(src), src.memory.copy())
    np.frombuffer(dst, np.uint8)[:] = known[: type_.nbytes]


def _read_order(right: Method, this: Any, src: Any, type_: Any, dst: Any) -> None:
    array = src.memory[: type_.nbytes].view(type_.dtype.numpy).reshape(type_.static_shape)
    data = np.asfortranarray(array).reshape(-1, order="F")
    np.frombuffer(dst, np.uint8)[:] = np.ascontiguousarray(data).view(np.uint8)


def _copy_short(right: Method, this: Any, src: Any, dst: Any, type_: Any) -> None:
    dst.memory[: max(type_.nbytes - 1, 0)] = _few(src.memory[: type_.nbytes])


def _copy_shares(right: Method, this: Any, src: Any, dst: Any, type_: Any) -> None:
    dst.memory = src.memory


def _copy_back(right: Method, this: Any, src: Any, dst: Any, type_: Any) -> None:
    src.memory[:] = dst.memory


def _allocate_again(right: Method, this: Any, nbytes: int) -> Any:
    held = this.__dict__.setdefault("held", {})
    return held.setdefault(nbytes, right(this, nbytes))


def _allocate_something(right: Method, this: Any, nbytes: int) -> Any:
    if nbytes == 0:
        raise ValueError("no bytes")
    return right(this, nbytes)


def _allocate_shared(right: Method, this: Any, nbytes: int) -> Any:
    arena = this.__dict__.setdefault("arena", np.zeros(1 << 22, np.uint8))
    buffer = Buffer(0)
    buffer.memory = arena[:nbytes] if nbytes <= arena.size else np.zeros(nbytes, np.uint8)
    return buffer


def _free_keeps(right: Method, this: Any, handle: Any) -> None:
    this.__dict__.setdefault("kept", []).append(handle.memory)


def _free_raises(right: Method, this: Any, handle: Any) -> None:
    right(this, handle)
    raise RuntimeError("freed")


def _free_others(right: Method, this: Any, handle: Any) -> None:
    last = this.__dict__.get("last")
    this.__dict__["last"] = handle
    if last is not None:
        right(this, last)


def _view_copy(right: Method, this: Any, handle: Any, type_: Any) -> Any:
    return memoryview(handle.memory[: type_.nbytes].copy())


def _supports_restless(right: Method, this: Any, node: Any) -> Any:
    count = this.__dict__["count"] = this.__dict__.get("count", 0) + 1
    return Refusal("not now") if count % 2 else None


def _supports_raises(right: Method, this: Any, node: Any) -> Any:
    raise KeyError(node.op.name)


def _compile_first(right: Method, this: Any, graph: Any, options: Any) -> Any:
    kept = this.__dict__.setdefault("kept", {})
    key = (len(graph.inputs), len(graph.outputs), graph.name)
    return kept.setdefault(key, right(this, graph, options))


def _compile_refuses(right: Method, this: Any, graph: Any, options: Any) -> Any:
    raise UnsupportedOp("nothing can be compiled", fix="none")


def _run_swapped(right: Method, this: Any, inputs: Any, outputs: Any, **named: Any) -> None:
    given = list(inputs)
    for n in range(len(given) - 1):
        if given[n].memory.size == given[n + 1].memory.size > 1:
            given[n], given[n + 1] = given[n + 1], given[n]
            break
    right(this, given, outputs, **named)


def _run_early(right: Method, this: Any, inputs: Any, outputs: Any, **named: Any) -> None:
    kept = [x.memory.copy() for x in list(outputs)[-1:]]
    right(this, inputs, outputs, **named)
    for handle, memory in zip(list(outputs)[-1:], kept, strict=True):
        handle.memory[:] = memory


def _run_stale(right: Method, this: Any, inputs: Any, outputs: Any, **named: Any) -> None:
    right(this, inputs, outputs, **named)
    first = this.memory.setdefault("first", [x.memory.copy() for x in outputs])
    for handle, memory in zip(outputs, first, strict=True):
        handle.memory[:] = memory


def _run_aliases(right: Method, this: Any, inputs: Any, outputs: Any, **named: Any) -> None:
    right(this, inputs, outputs, **named)
    for source, target in zip(inputs, outputs, strict=False):
        if source.memory.size == target.memory.size and source.memory.flags.writeable:
            source.memory[:] = target.memory


def _run_keeps(right: Method, this: Any, inputs: Any, outputs: Any, **named: Any) -> None:
    memory = this.memory.setdefault("outputs", [x.memory for x in outputs])
    for handle, held in zip(outputs, memory, strict=True):
        handle.memory = held
    right(this, inputs, outputs, **named)


def _named_storage(right: Method, this: Any, device: Any) -> Session:
    session: Session = right(this, device)
    names: Any = frozenset({"float32"})
    session.capabilities = replace(session.capabilities, storage=names)
    return session


CONTRACT_MUTANTS: Final = tuple(
    ContractMutant(method, operator, tells, change)
    for method, operator, tells, change in (
        ("Backend.probe", "off-by-one", "devices are numbered from 1",
         lambda right, this: (DeviceInfo(1, "mutant", kind="host"),)),
        ("Backend.probe", "stale-cache", "the second probe finds nothing",
         _probe_once),
        ("Backend.open", "dtype", "the session declares a dtype by its name",
         _named_storage),
        ("Session.buffer_bytes", "off-by-one", "one byte too few",
         lambda right, this, type_: max(right(this, type_) - 1, 0)),
        ("Session.buffer_bytes", "neutral-element", "a scalar takes no bytes",
         lambda right, this, type_: right(this, type_) if type_.rank else 0),
        ("Session.allocate", "stale-cache", "a size is allocated once", _allocate_again),
        ("Session.allocate", "aliasing", "all buffers lie at one place", _allocate_shared),
        ("Session.allocate", "neutral-element", "no bytes are refused", _allocate_something),
        ("Session.free", "stale-cache", "freed memory is kept", _free_keeps),
        ("Session.free", "off-by-one", "the buffer before is freed", _free_others),
        ("Session.free", "rounding", "freeing raises", _free_raises),
        ("Session.write", "off-by-one", "the last byte is not written", _write_short),
        ("Session.write", "dtype", "bytes are in the other order", _write_swapped),
        ("Session.write", "aliasing", "the caller's memory is kept", _write_kept),
        ("Session.write", "stale-cache", "what was written stays", _write_once),
        ("Session.read", "off-by-one", "the last byte is not read", _read_short),
        ("Session.read", "stale-cache", "what was read stays", _read_stale),
        ("Session.read", "axis", "elements come in column order", _read_order),
        ("Session.copy", "off-by-one", "the last byte is not copied", _copy_short),
        ("Session.copy", "aliasing", "both buffers share memory", _copy_shares),
        ("Session.copy", "comparison-direction", "the target is copied", _copy_back),
        ("Session.view", "aliasing", "the view is of a copy", _view_copy),
        ("Session.supports", "stale-cache", "every second answer is another", _supports_restless),
        ("Session.supports", "rounding", "it raises", _supports_raises),
        ("Session.compile", "stale-cache", "graphs of a form are one", _compile_first),
        ("Session.compile", "neutral-element", "nothing can be compiled", _compile_refuses),
        ("Executable.run", "operand-order", "two operands come in the other order", _run_swapped),
        ("Executable.run", "off-by-one", "the last result is not written", _run_early),
        ("Executable.run", "stale-cache", "the first results stay", _run_stale),
        ("Executable.run", "aliasing", "results are written over operands", _run_aliases),
        ("Executable.run", "dtype", "results are in the buffers of the first call", _run_keeps),
    )
)  # fmt: skip
"""The mutants of the contract's methods."""
