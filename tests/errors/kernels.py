"""Kernels: settings of the cache on disk and of profiles that say nothing."""

from realta import Tensor
from realta.runtime import shared_kernel_cache

from tests.errors.catalogue import Place, wrong


@wrong("a switch of the kernel cache that is neither on nor off")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_CACHE", "0")
    return shared_kernel_cache()


@wrong("a profile that the kernel interpreter does not have")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_INTERP_PROFILE", "tpu")
    return Tensor([1.0], device="interp")
