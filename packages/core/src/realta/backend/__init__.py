"""The contract that backends import: everything a plugin needs, and nothing else of core."""

from typing import TYPE_CHECKING, Any

from realta.backend.declaring import declare
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
from realta.types import (
    DTYPES,
    DType,
    TensorType,
    as_dtype,
    bfloat16,
    bool_,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    tensor_type,
    uint8,
    uint16,
    uint32,
    uint64,
)

if TYPE_CHECKING:
    from realta.backend.kernel_executable import KernelExecutable
    from realta.backend.kernel_session import KernelSession
    from realta.codegen.rendering import KernelSignature
    from realta.runtime.host_memory import allocate_block

__all__ = [
    "DTYPES", "EMPTY", "SPEC", "ArgumentError", "Backend", "BackendUnavailable", "Capabilities",
    "CompilationError", "DType", "DeviceFault", "DeviceInfo", "Executable", "Graph", "Handle",
    "KernelExecutable", "KernelReport", "KernelSession", "KernelSignature", "Limits", "Node",
    "Numerics", "OpByOpBackend", "OpByOpSession", "Options", "OutOfMemory", "Refusal", "Session",
    "TensorType", "Unavailable", "UnsupportedOp", "Value", "allocate_block", "as_dtype",
    "bfloat16", "bool_", "declare", "float8_e4m3fn", "float8_e5m2", "float16", "float32",
    "float64", "hookimpl", "int8", "int16", "int32", "int64", "tensor_type", "uint8", "uint16",
    "uint32", "uint64",
]  # fmt: skip

# Only devices that run generated kernels need the kernel toolkit; few need memory of the host.
_kernel_tier = on_demand(
    __name__,
    {
        "kernel_executable": ("KernelExecutable",),
        "kernel_session": ("KernelSession", "KernelSignature"),
    },
)
_host_memory = on_demand("realta.runtime", {"host_memory": ("allocate_block",)})


def __getattr__(name: str) -> Any:
    return _host_memory(name) if name == "allocate_block" else _kernel_tier(name)
