"""The contract that backends import: everything a plugin needs, and nothing else of core."""

from typing import TYPE_CHECKING

from realta.backend.op_by_op import OpByOpBackend, OpByOpSession
from realta.errors import (
    ArgumentError,
    BackendUnavailable,
    CompilationError,
    DeviceFault,
    OutOfMemory,
    UnsupportedOp,
)
from realta.fusion.limits import Limits
from realta.graph import Graph, Node, Value
from realta.hooks import hookimpl
from realta.on_demand import on_demand
from realta.runtime.contract import (
    EMPTY,
    SPEC,
    Backend,
    Capabilities,
    DeviceInfo,
    Executable,
    Handle,
    KernelReport,
    Numerics,
    Options,
    Refusal,
    Session,
    Unavailable,
)
from realta.types import DType, TensorType

if TYPE_CHECKING:
    from realta.backend.kernel_executable import KernelExecutable
    from realta.backend.kernel_session import KernelSession
    from realta.codegen.render import KernelSignature

__all__ = [
    "EMPTY", "SPEC", "ArgumentError", "Backend", "BackendUnavailable", "Capabilities",
    "CompilationError", "DType", "DeviceFault", "DeviceInfo", "Executable", "Graph", "Handle",
    "KernelExecutable", "KernelReport", "KernelSession", "KernelSignature", "Limits", "Node",
    "Numerics", "OpByOpBackend", "OpByOpSession", "Options", "OutOfMemory", "Refusal", "Session",
    "TensorType", "Unavailable", "UnsupportedOp", "Value", "hookimpl",
]  # fmt: skip

# Only devices that run generated kernels need the kernel toolkit.
__getattr__ = on_demand(
    __name__,
    {
        "kernel_executable": ("KernelExecutable",),
        "kernel_session": ("KernelSession", "KernelSignature"),
    },
)
