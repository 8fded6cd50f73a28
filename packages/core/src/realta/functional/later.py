"""Later: functions that are imported when they are first asked for, by the module that has them.

Importing the library must stay cheap, and few programs convolve, sort boxes or resize images.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["LATER"]

LATER: Final[Mapping[str, tuple[str, ...]]] = {
    "bands": ("band_part",),
    "control": ("cond", "while_loop"),
    "convolution": ("conv1d", "conv2d", "conv2d_transpose", "conv3d"),
    "custom_functions": ("custom", "inplace_custom", "register_custom"),
    "drawing": ("gaussian", "gaussian_like", "normal", "normal_like", "uniform", "uniform_like"),
    "dynamic_slices": ("dynamic_update_slice",),
    "effects": ("assert_", "print"),
    "folding": ("fold", "unfold"),
    "group_normalization": ("group_norm",),
    "nd_indexing": (
        "gather_nd",
        "scatter_nd",
        "scatter_nd_add",
        "scatter_nd_max",
        "scatter_nd_min",
        "scatter_nd_mul",
    ),
    "places": ("argwhere", "masked_scatter", "nonzero"),
    "pooling": ("avg_pool2d", "max_pool2d"),
    "regions_of_interest": ("roi_align",),
    "repeating": ("repeat_interleave",),
    "resizing": ("resize", "resize_bicubic", "resize_linear", "resize_nearest"),
    "searching": ("searchsorted",),
    "shape_values": ("rebind", "shape_to_tensor", "transfer_to"),
    "spectral": ("as_interleaved_complex", "complex_mul", "hann_window", "irfft"),
    "suppression": ("non_maximum_suppression",),
    "weights": ("constant_external",),
    "uniqueness": ("unique_all", "unique_counts", "unique_inverse", "unique_values"),
}
"""By module of this package, the names of `F` that it has."""
