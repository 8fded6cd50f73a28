"""Session faults: buffers, calls and graphs go wrong, while every op computes what is right."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from realta.backend import DeviceInfo, Node, TensorType, UnsupportedOp, Value

from realta_saboteurs.fault import Array, Fault

__all__ = ["SESSION_FAULTS"]


def _made_by(executable: Any, value: Value, op: str) -> bool:
    """Whether a value is the result of a node of that op."""
    return any(v.op.name == op and value in v.outputs for v in executable.graph.nodes)


class OverwritesInput(Fault):
    """neg writes its result over its operand."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        if node.op.name == "neg" and operands[0].flags.writeable:
            operands[0][...] = results[0]
        return results


class AliasesInput(Fault):
    """The output of reshape is the memory of its operand."""

    def finish(self, executable: Any, number: int, value: Value, array: Array, buffer: Any) -> None:
        shared = _made_by(executable, value, "reshape")
        if shared and array.base is not None and array.flags.writeable:
            buffer.memory = array.reshape(-1).view(np.uint8)
            return
        super().finish(executable, number, value, array, buffer)

    def right(self, node: Node, operands: Sequence[Array]) -> tuple[Array, ...]:
        if node.op.name == "reshape":
            return (operands[0].reshape(node.types[0].static_shape),)
        return super().right(node, operands)


class AliasesOutputs(Fault):
    """One value that is returned twice shares the memory of both outputs."""

    def finish(self, executable: Any, number: int, value: Value, array: Array, buffer: Any) -> None:
        super().finish(executable, number, value, array, buffer)
        first = executable.graph.outputs.index(value)
        if first == number:
            executable.memory[number] = buffer
        else:
            buffer.memory = executable.memory[first].memory


class ReusesOutput(Fault):
    """mul returns the same memory at every call."""

    def finish(self, executable: Any, number: int, value: Value, array: Array, buffer: Any) -> None:
        if _made_by(executable, value, "mul"):
            buffer.memory = executable.memory.setdefault(number, buffer.memory)
        super().finish(executable, number, value, array, buffer)


class StaleSecondCall(Fault):
    """exp returns the first call's results at every later call."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        if node.op.name != "exp":
            return self.right(node, operands)
        if node not in executable.memory:
            executable.memory[node] = self.right(node, operands)
        return executable.memory[node]  # type: ignore[no-any-return]


_CALLS_BEFORE: Final = 3
"""The suite's third call has the operands of the first."""


class NotRepeatable(Fault):
    """A sum is split elsewhere now and then, so its last bits change from call to call."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        if node.op.name != "sum" or results[0].dtype != np.float32 or not operands[0].size:
            return results
        turn = executable.memory.setdefault(node, itertools.count(1))
        if next(turn) == _CALLS_BEFORE:
            results = (np.nextafter(results[0], np.float32(np.inf)),)
        return results


class OtherConstants(Fault):
    """exp of a constant is folded by other code than the kernel."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        folded = isinstance(node.operands[0], Node) if node.operands else False
        if node.op.name == "exp" and folded and results[0].dtype == np.float32:
            results = (np.nextafter(results[0], np.float32(0)),)
        return results


class DependsOnCompany(Fault):
    """exp in a graph with other ops uses another algorithm than alone."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        alone = len(executable.graph.nodes) == 1
        if node.op.name == "exp" and not alone and results[0].dtype == np.float32:
            results = (np.nextafter(results[0], np.float32(0)),)
        return results


class Contracts(Fault):
    """x*y + z is computed with one rounding."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        product = node.operands[0] if node.operands else None
        fused = isinstance(product, Node) and product.op.name == "mul" and node.op.name == "add"
        if not fused or operands[0].dtype != np.float32:
            return self.right(node, operands)
        x, y = [values[v].astype(np.float64) for v in product.operands]  # type: ignore[union-attr]
        return ((x * y + operands[1].astype(np.float64)).astype(np.float32),)


class FusesWrongIndex(Fault):
    """mul fused with a broadcast column reads it along the wrong axis."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        source = node.operands[-1] if node.operands else None
        fused = isinstance(source, Node) and source.op.name == "broadcast"
        if node.op.name != "mul" or not fused:
            return self.right(node, operands)
        small = values[source.operands[0]]  # type: ignore[union-attr]
        if small.size in (0, operands[0].size):
            return self.right(node, operands)
        return self.right(node, [operands[0], np.resize(small, operands[0].shape)])


class RoundsShared(Fault):
    """A value of a graph that has two users is rounded to half precision between them."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        if results[0].dtype != np.float32 or node.op.name != "exp":
            return results
        users = sum(node in other.operands for other in executable.graph.nodes)
        if users > 1:
            results = (results[0].astype(np.float16).astype(np.float32),)
        return results


class LeaksBuffers(Fault):
    """Freed buffers stay in a table."""

    def free(self, buffer: Any) -> None:
        kept.append(buffer.memory)

    def close(self) -> None:
        kept.clear()


kept: Final[list[Any]] = []


class LeaksTemporaries(Fault):
    """Every run keeps its intermediate values."""

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        results = self.right(node, operands)
        if results[0].nbytes > 1 << 20:
            executable.memory.setdefault("kept", []).append(results)
        return results


class KeepsSource(Fault):
    """write keeps the caller's memory instead of copying it."""

    def write(self, buffer: Any, type_: TensorType, source: Array) -> None:
        buffer.memory = source

    def copy(self, source: Any, target: Any) -> None:
        target.memory = source.memory.copy()


class CopiesHandle(Fault):
    """copy makes both buffers share their memory."""

    def copy(self, source: Any, target: Any) -> None:
        target.memory = source.memory


class QuietsNan(Fault):
    """Reading float32 goes through a conversion that loses the payloads of NaNs."""

    def read(self, buffer: Any, type_: TensorType) -> Array:
        data = super().read(buffer, type_).copy()
        if type_.dtype.name == "float32":
            numbers = data.view(np.float32)
            numbers[np.isnan(numbers)] = np.nan
        return data


class ClaimsTooMuch(Fault):
    """erf is declared and cannot be compiled."""

    def check(self, node: Node) -> None:
        if node.op.name == "erf":
            raise UnsupportedOp("there is no kernel for erf", fix="none")


class RefusesRudely(Fault):
    """What is not declared raises KeyError."""

    def refusal(self, node: Node) -> Exception | None:
        return KeyError(node.op.name) if node.op.name in self.lacks else super().refusal(node)


class ComputesUndeclared(Fault):
    """What is not declared runs nevertheless, though nobody vouches for it."""

    def refusal(self, node: Node) -> Exception | None:
        return None if node.op.name in self.lacks else super().refusal(node)


class ReportsNothing(Fault):
    """No kernel is reported for sqrt: it runs somewhere else."""

    def reports(self, node: Node) -> bool:
        return node.op.name != "sqrt"


class RestlessFingerprint(Fault):
    """The fingerprint is another one each time."""

    def fingerprint(self, text: str) -> str:
        return f"{text}-{next(_numbers)}"


_numbers: Final = itertools.count()


class NumbersDevices(Fault):
    """Devices are counted from 1."""

    def probe(self, infos: Sequence[DeviceInfo]) -> Sequence[DeviceInfo]:
        return [*infos, DeviceInfo(len(infos) + 1, "second", kind="host")]


def _made(kind: type[Fault], name: str, *fails: str, lacks: str = "") -> Fault:
    """A fault of a class, told by its docstring."""
    tells = inspect.cleandoc(kind.__doc__ or "").rstrip(".")
    return kind(name, tells, frozenset(fails), lacks=frozenset(filter(None, [lacks])))


def _all(check: str, *cases: str) -> list[str]:
    """One check of several ops or graphs of level core."""
    return [f"core/{case}/{check}" for case in cases]


def _both(*graphs: str) -> list[str]:
    """The checks on whole graphs: their values, and the comparison with their ops one by one."""
    return [f"fusion/{graph}/{check}" for graph in graphs for check in ("values", "fused")]


SESSION_FAULTS: Final[tuple[Fault, ...]] = (
    _made(OverwritesInput, "overwrites-input", "core/neg/inputs", "core/neg/alias"),
    _made(AliasesInput, "aliases-input", "core/reshape/alias"),
    _made(AliasesOutputs, "aliases-outputs", "core/outputs-twice/contract"),
    _made(ReusesOutput, "reuses-output", *_all("alias", "mul", "subnormals", "truth-plus-truth")),
    _made(StaleSecondCall, "stale-second-call", "core/exp/repeat"),
    _made(
        NotRepeatable,
        "not-repeatable",
        *_all("repeat", "sum", "sum-of-tenths", "nothing-to-reduce"),
    ),
    _made(OtherConstants, "other-constants", "core/exp/constants"),
    _made(DependsOnCompany, "depends-on-company", "core/exp/company"),
    _made(Contracts, "contracts", *_both("chain", "multiply-add")),
    _made(FusesWrongIndex, "fuses-wrong-index", *_both("broadcast-column")),
    _made(RoundsShared, "rounds-shared-value", *_both("shared-subexpression", "row-statistics")),
    _made(LeaksBuffers, "leaks-buffers", "memory/freeing/contract"),
    _made(LeaksTemporaries, "leaks-temporaries", "core/temporaries/contract"),
    _made(KeepsSource, "keeps-source", "memory/source-reusable/contract"),
    _made(CopiesHandle, "copies-handle", "memory/copying/contract"),
    _made(QuietsNan, "quiets-nan", "memory/round-trip/contract"),
    _made(ClaimsTooMuch, "claims-too-much", "math/erf/claims", "math/gelu/claims"),
    _made(RefusesRudely, "refuses-rudely", "math/erf/refusal", lacks="erf"),
    _made(ComputesUndeclared, "computes-undeclared", "math/erf/refusal", lacks="erf"),
    _made(ReportsNothing, "reports-nothing", "core/sqrt/launches"),
    _made(RestlessFingerprint, "restless-fingerprint", "manifest/fingerprint/contract"),
    _made(NumbersDevices, "numbers-devices", "manifest/probing/contract"),
)
"""Each with the checks that must catch it."""
