"""The op registry: one `define()` per op, read by everything that knows about ops."""

from realta.ops import families
from realta.ops.constant_data import ConstantData
from realta.ops.opdef import (
    NO_ATTRS,
    Algebra,
    Attr,
    Attributes,
    Emitter,
    OpDef,
    OpKind,
    Sample,
    all_ops,
    as_arrays,
    define,
    find_op,
    get_op,
    undefine,
)

__all__ = [
    "NO_ATTRS", "Algebra", "Attr", "Attributes", "ConstantData", "Emitter", "OpDef", "OpKind",
    "Sample", "all_ops", "as_arrays", "define", "families", "find_op", "get_op", "undefine",
]  # fmt: skip
