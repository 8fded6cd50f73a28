"""Kernels: one function per op that is not elementwise, over whole arrays.

A kernel is called as ``kernel(inputs, outputs)`` with arrays of the storage dtypes in row-major
order. It writes all of its outputs and nothing else; an output may be the same array as an input
only for the ops in `IN_PLACE`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.graph import Node
from realta.runtime import contract_arrays
from realta.types import int64

from realta_numpy import indexing, movement, sorting
from realta_numpy.convolution import Convolution, convolve
from realta_numpy.philox import philox_bits, philox_key
from realta_numpy.reduction import reduce_array
from realta_numpy.registers import cast, narrow, widen
from realta_numpy.scan import scan
from realta_numpy.windows import Windows, reduce_windows

__all__ = ["IN_PLACE", "Kernel", "kernel_names", "kernel_of"]

Array = NDArray[Any]
Kernel = Callable[[Sequence[Array], Sequence[Array]], None]
IN_PLACE: Final = frozenset({"update_slice", "dynamic_update_slice", "scatter"})
"""Ops whose result may be written over their first operand."""


def _constant(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    outputs[0][...] = node.attrs["value"].array


def _iota(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    out, axis, dtype = outputs[0], node.attrs["axis"], node.types[0].dtype
    count = np.arange(out.shape[axis])
    line = np.empty(count.shape, np.float32 if dtype.is_half else dtype.numpy)
    cast(count, int64, dtype, line)
    shape = [-1 if n == axis else 1 for n in range(out.ndim)]
    out[...] = narrow(line, dtype).reshape(shape)


def _view(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    movement.copy_blocks(movement.moved(node, inputs[0]), outputs[0])


def _pad(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    movement.pad(inputs[0], inputs[1], node.attrs["low"], outputs[0])


def _concat(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    np.concatenate(inputs, axis=node.attrs["axis"], out=outputs[0])


def _reduce(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    dtype = node.types[0].dtype
    total = reduce_array(node.op.name, widen(inputs[0], dtype), node.attrs["axes"])
    outputs[0][...] = narrow(total, dtype).reshape(outputs[0].shape)


def _argument(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    find = np.argmax if node.op.name == "argmax" else np.argmin
    x = widen(inputs[0], node.operands[0].type.dtype)
    outputs[0][...] = find(x, axis=node.attrs["axis"])


def _scan(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    dtype, attrs = node.types[0].dtype, node.attrs
    x = widen(inputs[0], dtype)
    out = np.empty_like(x) if dtype.is_half else outputs[0]
    scan(node.op.name, x, out, attrs["axis"], attrs["exclusive"], attrs["reverse"])
    if dtype.is_half:
        outputs[0][...] = out.astype(dtype.numpy)


def _sort(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    dtype, axis = node.operands[0].type.dtype, node.attrs["axis"]
    lines = np.ascontiguousarray(np.moveaxis(widen(inputs[0], dtype), axis, -1))
    order = sorting.sort_lines if node.op.name == "sort" else sorting.argsort_lines
    found = order(lines, node.attrs["descending"])
    np.copyto(np.moveaxis(outputs[0], axis, -1), found, casting="unsafe")


def _searchsorted(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    dtype, right = node.operands[0].type.dtype, node.attrs["right"]
    row, values = widen(inputs[0], dtype), widen(inputs[1], dtype)
    outputs[0][...] = np.searchsorted(row, values, side="right" if right else "left")


def _gather(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    indexing.gather(inputs[0], inputs[1], node.attrs["axis"], outputs[0])


def _scatter(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    x, indices, updates = inputs
    dtype, attrs = node.types[0].dtype, node.attrs
    axis, reduce, mode = attrs["axis"], attrs["reduce"], attrs["mode"]
    if not dtype.is_half or reduce == "set":
        indexing.scatter(x, indices, updates, axis, reduce, mode, outputs[0])
        return
    wide = widen(x, dtype)
    indexing.scatter(wide, indices, widen(updates, dtype), axis, reduce, mode, wide)
    outputs[0][...] = narrow(wide, dtype)


def _update_slice(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    x, value = inputs
    out, attrs = outputs[0], node.attrs
    if out is not x:
        movement.copy_blocks(x, out)
    out[movement.basic_slices(attrs["start"], attrs["stop"], attrs["step"])] = value


def _dynamic_update_slice(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    x, value, *starts = inputs
    out = outputs[0]
    if out is not x:
        movement.copy_blocks(x, out)
    where = []
    for start, whole, part in zip(starts, out.shape, value.shape, strict=True):
        first = min(max(int(start[()]), 0), whole - part)
        where.append(slice(first, first + part))
    out[tuple(where)] = value


def _check_bounds(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    indexing.check_bounds(inputs[0], node.attrs["extent"], node.attrs["axis"], 0, outputs[0])


def _dot_general(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    dtype, a = node.types[0].dtype, node.attrs
    x, y = (widen(v, dtype) for v in inputs)
    out = np.empty(outputs[0].shape, np.float32) if dtype.is_half else outputs[0]
    contract_arrays(x, y, out, a["x_batch"], a["y_batch"], a["x_contract"], a["y_contract"])
    if dtype.is_half:
        outputs[0][...] = out.astype(dtype.numpy)


def _conv_general(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    convolve(inputs[0], inputs[1], node.types[0].dtype, Convolution(**node.attrs), outputs[0])


def _reduce_window(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    sizes = {name: size for name, size in node.attrs.items() if name != "reduce"}
    windows = Windows(sizes.pop("window"), **sizes)
    reduce_windows(node.attrs["reduce"], inputs[0], node.types[0].dtype, windows, outputs[0])


def _philox_bits(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    if prod(outputs[0].shape):
        philox_bits(inputs[0], outputs[0])


def _philox_branch(node: Node, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    state, iteration = inputs
    key = philox_key(state, int(iteration[()]), node.attrs["path"])
    outputs[0][...] = [node.attrs["draw"], 0, *key]


_Function = Callable[[Node, Sequence[Array], Sequence[Array]], None]
_KERNELS: Final[Mapping[str, _Function]] = {
    "constant": _constant, "iota": _iota, "reshape": _view, "permute": _view,
    "broadcast": _view, "slice": _view, "barrier": _view, "pad": _pad, "concat": _concat,
    "sum": _reduce, "prod": _reduce, "max": _reduce, "min": _reduce, "any": _reduce,
    "all": _reduce, "argmax": _argument, "argmin": _argument, "cumsum": _scan, "cumprod": _scan,
    "cummax": _scan, "cummin": _scan, "sort": _sort, "argsort": _sort, "gather": _gather,
    "scatter": _scatter, "update_slice": _update_slice, "check_bounds": _check_bounds,
    "dot_general": _dot_general, "conv_general": _conv_general, "reduce_window": _reduce_window,
    "searchsorted": _searchsorted, "philox_bits": _philox_bits,
    "philox_branch": _philox_branch, "dynamic_update_slice": _dynamic_update_slice,
}  # fmt: skip


def kernel_names() -> frozenset[str]:
    """The ops with a kernel here."""
    return frozenset(_KERNELS)


def kernel_of(node: Node) -> Kernel | None:
    """The kernel of a node, None if there is none."""
    function = _KERNELS.get(node.op.name)
    if function is None:
        return None

    def kernel(inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        function(node, inputs, outputs)

    return kernel
