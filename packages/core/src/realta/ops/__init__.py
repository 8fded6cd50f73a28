"""The op registry: one `define()` per op, read by everything that knows about ops."""

from realta.on_demand import on_demand
from realta.ops.constant_data import ConstantData
from realta.ops.conversion import convert
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
    defines_more,
    find_op,
    get_op,
    undefine,
)

# The bounds of spec 5a are in `realta.ops.tolerances`, which nothing that computes has to import.
__all__ = [
    "NO_ATTRS", "Algebra", "Attr", "Attributes", "ConstantData", "Emitter", "OpDef", "OpKind",
    "Sample", "all_ops", "as_arrays", "convert", "define", "families", "find_op", "get_op",
    "undefine",
]  # fmt: skip

__getattr__ = on_demand(__name__, {"families": ()})

defines_more("realta.ops.families")
defines_more("realta.ops.more_families")
