"""Display: how tensors print, and the options for it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.records import Record
from realta.runtime.showing import show_with
from realta.types import TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PrintOptions", "html_of", "print_options", "text_of", "text_of_unrealized"]


class PrintOptions(Record):
    """How values print.

    Args:
        precision: digits after the point of floats.
        threshold: elements beyond which only the edges print.
        edgeitems: elements at each edge of an abbreviated axis.
        linewidth: columns.
    """

    __slots__ = ("precision", "threshold", "edgeitems", "linewidth")  # noqa: RUF023  as arguments

    precision: int
    threshold: int
    edgeitems: int
    linewidth: int

    def __init__(
        self, precision: int = 4, threshold: int = 1000, edgeitems: int = 3, linewidth: int = 88
    ) -> None:
        self._set(precision, threshold, edgeitems, linewidth)


_DEFAULT: Final = PrintOptions()
_options: Final[ContextVar[PrintOptions]] = ContextVar("realta_print", default=_DEFAULT)


@contextmanager
def print_options(**changes: int) -> Iterator[PrintOptions]:
    """Changes how tensors print inside the block.

    Args:
        changes: any of ``precision threshold edgeitems linewidth``.
    """
    options = _options.get()
    changed = PrintOptions(**{n: getattr(options, n) for n in options.__slots__} | changes)
    token = _options.set(changed)
    try:
        yield changed
    finally:
        _options.reset(token)


def _array_text(array: NDArray[Any], prefix: str) -> str:
    options = _options.get()
    shown = array.astype(np.float32) if array.dtype.kind not in "biuf" else array
    return np.array2string(
        shown, precision=options.precision, threshold=options.threshold,
        edgeitems=options.edgeitems, max_line_width=options.linewidth, separator=", ",
        prefix=prefix,
    )  # fmt: skip


def text_of(array: NDArray[Any], type: TensorType) -> str:
    """The text of a real tensor: values in NumPy's manner, dtype and device."""
    body = _array_text(array, "Tensor(")
    shape = f", shape={array.shape}" if array.size == 0 and array.ndim != 1 else ""
    return f"Tensor({body}{shape}, dtype={type.dtype}, device={type.device})"


def text_of_unrealized(type: TensorType, what: str) -> str:
    """The text of a tensor without values."""
    shape = ", ".join(map(str, type.shape)) + ("," if len(type.shape) == 1 else "")
    return f"Tensor({what}, shape=({shape}), dtype={type.dtype}, device={type.device})"


def html_of(text: str, type: TensorType) -> str:
    """The text in a frame for notebooks, with the type as a caption."""
    escape = importlib.import_module("html").escape  # only notebooks pay its import
    return (
        f'<figure style="margin:0"><figcaption><code>{escape(str(type))}</code></figcaption>'
        f"<pre>{escape(text)}</pre></figure>"
    )


show_with(lambda storage: text_of(storage.numpy(), storage.type))
