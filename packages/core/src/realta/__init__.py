"""Realta: tensors that become real when you decide, on what you decide.

One `Tensor`; three realization contexts (eager regions that bound fusion, lazy, ahead-of-time
graph); a graph IR that is a written spec; backends that are plugins. Importing touches no backend
and no driver.
"""

# Before anything of ours: later, the collector would walk over our modules again and again while
# those of NumPy are made, which takes a fifth longer.
import numpy as _numpy  # noqa: F401  # isort: skip

from typing import TYPE_CHECKING

from realta import tensor
from realta.context import TracedGraph as Graph
from realta.context import lazy
from realta.on_demand import on_demand
from realta.plugins import (
    CPU,
    Accelerator,
    Device,
    backends,
    default_device,
    default_dtype,
    defaults,
    devices,
    set_default_device,
)
from realta.runtime import SPEC
from realta.tensor import Tensor, TensorType, print_options
from realta.types import (
    DType,
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
    uint8,
    uint16,
    uint32,
    uint64,
)
from realta.types import (
    bool_ as bool,
)

if TYPE_CHECKING:
    from realta import array_api, nn, random, testing, tree
    from realta import functional as F
    from realta.compilation import CompiledFunction, StagedGraph, compile, load, load_graph, stage
    from realta.explaining import explain
    from realta.functional import (
        arange,
        empty,
        empty_like,
        eye,
        full,
        full_like,
        functional,
        linspace,
        ones,
        ones_like,
        zeros,
        zeros_like,
    )
    from realta.interchange import asarray, from_dlpack, from_numpy
    from realta.random import seed, set_seed
    from realta.runtime import memory_stats, profile, set_num_threads, synchronize
    from realta.weights import load_tensors, save_tensors

__version__ = "0.1.0"

__all__ = [
    "CPU", "SPEC", "Accelerator", "CompiledFunction", "DType", "Device", "F", "Graph",
    "StagedGraph", "Tensor", "TensorType", "arange", "array_api", "asarray", "backends", "bfloat16",
    "bool", "bool_", "compile", "default_device", "default_dtype", "defaults", "devices", "empty",
    "empty_like", "explain", "eye", "float8_e4m3fn", "float8_e5m2", "float16", "float32", "float64",
    "from_dlpack", "from_numpy", "full", "full_like", "functional", "int8", "int16", "int32",
    "int64", "lazy", "linspace", "load", "load_graph", "load_tensors", "memory_stats", "nn", "ones",
    "ones_like", "print_options", "profile", "random", "save_tensors", "seed", "set_default_device",
    "set_num_threads", "set_seed", "stage", "synchronize", "tensor", "testing", "tree", "uint8",
    "uint16", "uint32", "uint64", "zeros", "zeros_like",
]  # fmt: skip

__getattr__ = on_demand(
    __name__,
    {
        "array_api": (),
        "compilation": (
            "CompiledFunction",
            "StagedGraph",
            "compile",
            "load",
            "load_graph",
            "stage",
        ),
        "explaining": ("explain",),
        "functional": (
            "arange",
            "empty",
            "empty_like",
            "eye",
            "full",
            "full_like",
            "functional",
            "linspace",
            "ones",
            "ones_like",
            "zeros",
            "zeros_like",
        ),
        "interchange": ("asarray", "from_dlpack", "from_numpy"),
        "nn": (),
        "random": ("random", "seed", "set_seed"),
        "realization_context": (),
        "runtime": ("memory_stats", "profile", "set_num_threads", "synchronize"),
        "testing": (),
        "tree": (),
        "weights": ("load_tensors", "save_tensors"),
    },
    modules={"F": "functional"},
)
