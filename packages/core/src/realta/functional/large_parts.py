"""Large parts: results of moving elements that are too large to be copied for nothing.

Those that lie in the operand's memory as they are share it: the array that shows it keeps the
operand's storage alive, so nobody writes there while the part lives, and the part has no buffer of
its own, so it is never written to either. Others are moved when they are first computed with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from realta.context import current
from realta.functional.array_parts import ArrayParts, Show, deferred_tensor, lies_in_order
from realta.runtime import Storage
from realta.runtime.deferred import Deferred
from realta.runtime.units import SMALL_BYTES
from realta.tensor import Tensor, real_tensor

if TYPE_CHECKING:
    from realta.runtime import Program

__all__ = ["item_in_memory", "large_part"]

Part = Callable[[Storage, Callable[..., Tensor], tuple[Any, ...]], Tensor]
_new: Final = object.__new__
_COPIED_BYTES: Final = 512
"""Parts up to this size are copied at once, which costs no more than to put it off."""


def large_part(program: Program, steps: Sequence[Show]) -> Part:
    """A function from a storage, the function of tensors and its other arguments to the result.

    Args:
        program: moves elements of its one input to its one output, on a host.
        steps: the same on arrays.
    """
    device, type_ = program.device, program.output_types[0]
    if lies_in_order(program.source.inputs[0].type, steps):
        launch = Deferred(partial(_shared, steps))
        return lambda storage, _general, _args: deferred_tensor(type_, device, launch, storage)
    return lambda storage, general, args: deferred_tensor(
        type_, device, _MOVED, (storage, general, args)
    )


def item_in_memory(x: Tensor, key: Any, parts: ArrayParts) -> Tensor | None:
    """``x[key]`` of a tensor in host memory, by a basic index; None if it is not that.

    A small part is copied, so that it does not keep all of the tensor's memory.
    """
    storage = x._held
    if storage.__class__ is not Storage:
        storage = x._storage
    array = storage.array
    if array is None or storage.launch is not None:
        array = storage.shown()
        if array is None:
            return None
    try:
        part = array[key]
    except (IndexError, TypeError, ValueError):
        return None
    if part.__class__ is np.ndarray:
        found = parts.types.get(part.shape) or parts.type_of(part.shape)
        if part.nbytes > _COPIED_BYTES:
            return deferred_tensor(found, parts.device, _ITEM, (storage, key))
        part = part.copy()
    else:
        part, found = np.asarray(part), parts.element
    result = _new(Tensor)
    result._held, result._type = part, found
    result._value = result._context = None
    return result


def _shared(steps: Sequence[Show], storage: Storage) -> tuple[Any, Any]:
    """Elements that lie in the operand's memory as they are."""
    array = storage.numpy()
    for step in steps:
        array = step(array)
    return _placed(storage, array)


def _item(source: tuple[Storage, Any]) -> tuple[Any, Any]:
    storage, key = source
    part = storage.numpy()[key]
    # A small part does not keep all of the tensor's memory.
    return _placed(storage, part.copy() if part.nbytes <= SMALL_BYTES else part)


def _placed(storage: Storage, array: Any) -> tuple[Any, Any]:
    """A handle and its block: the array itself where it lies in order and the session takes it."""
    if array.flags.c_contiguous:
        handle = cast("Any", storage.device.session).adopt(array)
        if handle is not None:
            return handle, None
    fresh = storage.device.empty(storage.type.with_shape(array.shape))
    np.copyto(cast("Any", fresh.shown()), array)
    return fresh.handle, fresh.block


def _moved(source: tuple[Storage, Callable[..., Tensor], tuple[Any, ...]]) -> tuple[Any, Any]:
    """Moves the elements as a bare call does, whatever context asks for them."""
    storage, general, args = source
    token = current.set(None)
    try:
        found = general(real_tensor(storage), *args)._storage
    finally:
        current.reset(token)
    found.wait()
    return found.handle, found.block


_ITEM: Final = Deferred(_item)
_MOVED: Final = Deferred(_moved)
