"""Standard: wrong uses of the array API's namespace, and memory that cannot be shared."""

import numpy as np
import realta
from realta import Tensor
from realta import array_api as xp

from tests.errors.catalogue import Place, wrong


def zeros(*shape: int) -> Tensor:
    return realta.zeros(shape)


@wrong("a version of the standard that there is not")
def _(place: Place) -> object:
    return zeros(2).__array_namespace__(api_version="2020.1")


@wrong("the inverse of a matrix that is not square")
def _(place: Place) -> object:
    return xp.linalg.inv(zeros(2, 3))


@wrong("the inverse of a singular matrix")
def _(place: Place) -> object:
    return xp.linalg.inv(zeros(2, 2)).numpy()


@wrong("a decomposition of a vector")
def _(place: Place) -> object:
    return xp.linalg.svd(zeros(3))


@wrong("a right side that does not fit")
def _(place: Place) -> object:
    return xp.linalg.solve(zeros(2, 2), zeros(3, 1))


@wrong("eigenvalues that are complex")
def _(place: Place) -> object:
    return xp.linalg.eigvals(zeros(2, 2))


@wrong("a norm that there is not")
def _(place: Place) -> object:
    return xp.linalg.matrix_norm(zeros(2, 2), ord=3)


@wrong("a cross product of two elements")
def _(place: Place) -> object:
    return xp.linalg.cross(zeros(4, 2), zeros(4, 2))


@wrong("a tensor product over extents that differ")
def _(place: Place) -> object:
    return xp.tensordot(zeros(2, 3), zeros(4, 2), axes=1)


@wrong("a grid of matrices")
def _(place: Place) -> object:
    return xp.meshgrid(zeros(2, 2))


@wrong("differences of bools")
def _(place: Place) -> object:
    return xp.diff(zeros(3) > 0)


@wrong("a sum along an axis that there is not")
def _(place: Place) -> object:
    return xp.sum(zeros(2, 3), axis=2)


@wrong("bits of floats")
def _(place: Place) -> object:
    return xp.bitwise_and(zeros(2), zeros(2))


@wrong("dtypes that do not promote")
def _(place: Place) -> object:
    return xp.add(xp.asarray([1], dtype=xp.int8), xp.asarray([1], dtype=xp.uint64))


@wrong("the limits of an integer dtype as a float's")
def _(place: Place) -> object:
    return xp.finfo(xp.int8)


@wrong("a kind of dtypes that there is not")
def _(place: Place) -> object:
    return xp.isdtype(xp.int8, "whole")


@wrong("sharing a list")
def _(place: Place) -> object:
    return xp.asarray([1, 2], copy=False)


@wrong("sharing strided memory")
def _(place: Place) -> object:
    return xp.from_dlpack(np.zeros((2, 4))[:, ::2], copy=False)


@wrong("an export to another device")
def _(place: Place) -> object:
    return zeros(2).__dlpack__(dl_device=(2, 0), max_version=(1, 0))


@wrong("an export that could be written")
def _(place: Place) -> object:
    return zeros(2).__dlpack__(copy=False)


@wrong("moving to a device by a stream")
def _(place: Place) -> object:
    return zeros(2).to_device("reference:0", stream=3)
