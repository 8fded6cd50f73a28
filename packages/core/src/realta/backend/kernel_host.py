"""Kernel host work: contractions of a device with host memory go to the host's BLAS, in tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from realta.errors import DeviceFault
from realta.fusion import Group
from realta.graph import Node, Value
from realta.runtime.contract import Handle
from realta.runtime.host_contraction import contract_arrays
from realta.types import TensorType, float32

if TYPE_CHECKING:
    from realta.backend.kernel_session import KernelSession

__all__ = ["HOST_SCHEDULE", "HostContraction", "host_contraction"]

Array = NDArray[Any]
HOST_SCHEDULE: Final = "tiles by shape, each by host BLAS"


def _sliced(x: Array, node: Node) -> Array:
    attrs = node.attrs
    parts = zip(attrs["start"], attrs["stop"], attrs["step"], strict=True)
    # There -1 as a stop means before the first element, where Python would count from the end.
    return x[
        tuple(
            [
                slice(a, None if b < 0 else b, s) if range(a, b, s) else slice(0, 0)
                for a, b, s in parts
            ]
        )
    ]


_VIEWS: Final[Mapping[str, Callable[[Array, Node], Array]]] = {
    "reshape": lambda x, node: x.reshape(node.attrs["shape"]),
    "permute": lambda x, node: x.transpose(node.attrs["axes"]),
    "broadcast": lambda x, node: np.broadcast_to(x, node.attrs["shape"]),
    "slice": _sliced,
    "barrier": lambda x, node: x,
}
"""What each index map shows of an array in host memory."""


class HostContraction(NamedTuple):
    """A contraction on the host.

    Args:
        node: the contraction.
        views: index maps over what it reads, operands first.
        reads: the stored values it reads.
    """

    node: Node
    views: tuple[Node, ...]
    reads: tuple[Value, ...]

    def call(self, session: KernelSession) -> Callable[..., None]:
        """What a run calls with the handles of `reads` and of the result."""
        types = [value.type for value in (*self.reads, self.node)]

        def call(*handles: Handle) -> None:
            # What was launched before may still be writing the operands.
            session.flush()
            session.wait(None)
            arrays = [
                _array(session, handle, type) for handle, type in zip(handles, types, strict=True)
            ]
            self._compute(arrays[:-1], arrays[-1])

        return call

    def _compute(self, stored: list[Array], out: Array) -> None:
        known: dict[Value, Array] = dict(zip(self.reads, stored, strict=True))
        for view in self.views:
            known[view] = _VIEWS[view.op.name](known[view.operands[0]], view)
        dtype, attrs = self.node.type.dtype, self.node.attrs
        register = float32.numpy if dtype.is_half else dtype.numpy
        x, y = [known[value].astype(register, copy=False) for value in self.node.operands]
        total = np.empty(out.shape, register) if dtype.is_half else out
        with np.errstate(all="ignore"):
            contract_arrays(
                x, y, total, attrs["x_batch"], attrs["y_batch"], attrs["x_contract"],
                attrs["y_contract"],
            )  # fmt: skip
            if total is not out:
                out[...] = total.astype(dtype.numpy)


def host_contraction(session: KernelSession, group: Group) -> HostContraction | None:
    """The contraction that a group consists of, if this session has the host do them."""
    if group.kind != "contraction" or not session.host_contractions:
        return None
    views = tuple([node for node in group.nodes if group.levels[node] == "view"])
    computed = [node for node in group.nodes if group.levels[node] != "view"]
    if len(computed) != 1 or any(view.op.name not in _VIEWS for view in views):
        return None
    if computed[0].op.name != "dot_general":  # BLAS has no others
        return None
    return HostContraction(computed[0], views, group.inputs)


def _array(session: KernelSession, handle: Handle, type: TensorType) -> Array:
    if not type.size:
        return np.empty(type.static_shape, type.dtype.numpy)
    memory = session.view(handle, type)
    if memory is None:
        raise DeviceFault(
            f"{session.dialect.name} shows no host memory of {type}",
            fix="this is a fault of the backend: its host_memory says it does; report it",
        )
    return np.frombuffer(memory, np.uint8).view(type.dtype.numpy).reshape(type.static_shape)
