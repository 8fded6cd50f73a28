"""The contract that backends import: everything a plugin needs, and nothing else of core."""

from realta.backend.op_by_op import OpByOpBackend, OpByOpSession
from realta.errors import CompilationError, DeviceFault, OutOfMemory, UnsupportedOp
from realta.fusion.limits import Limits
from realta.graph import Graph, Node, Value
from realta.hooks import hookimpl
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

__all__ = [
    "EMPTY", "SPEC", "Backend", "Capabilities", "CompilationError", "DType", "DeviceFault",
    "DeviceInfo", "Executable", "Graph", "Handle", "KernelReport", "Limits", "Node", "Numerics",
    "OpByOpBackend", "OpByOpSession", "Options", "OutOfMemory", "Refusal", "Session", "TensorType",
    "Unavailable", "UnsupportedOp", "Value", "hookimpl",
]  # fmt: skip
