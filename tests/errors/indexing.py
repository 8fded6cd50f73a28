"""Indexing: positions outside their axes, known and computed, and indices of the wrong kind."""

import realta
from realta import F, Tensor

from tests.errors.catalogue import Place, wrong


@wrong("an int outside its axis")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[0, 3]


@wrong("a row outside its axis")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[-3]


@wrong("more indices than axes")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[0, 0, 0]


@wrong("two ellipses")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[..., 0, ...]


@wrong("a slice with step 0")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[::0]


@wrong("a float as an index")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[1.0]


@wrong("storing what does not fit")
def _(place: Place) -> object:
    tensor = realta.zeros((2, 3))
    tensor[0] = realta.ones((4,))
    return tensor


@wrong("storing outside the axis")
def _(place: Place) -> object:
    tensor = realta.zeros((2, 3))
    tensor[5] = 1.0
    return tensor


@wrong("known indices outside the axis")
def _(place: Place) -> object:
    return F.gather(realta.zeros((2, 3)), [0, 7], axis=1)


@wrong("computed indices outside the axis")
def _(place: Place) -> object:
    indices = Tensor([0, 4]) + 1
    return F.gather(realta.zeros((2, 3)), indices, axis=1).numpy()


@wrong("computed positions of updates outside the axis")
def _(place: Place) -> object:
    indices = Tensor([0, 4]) + 1
    return F.scatter(realta.zeros((3,)), realta.ones((2,)), indices, axis=0).numpy()


@wrong("float indices")
def _(place: Place) -> object:
    return F.gather(realta.zeros((2, 3)), realta.zeros((2,)), axis=0)


@wrong("an unknown index mode")
def _(place: Place) -> object:
    return F.gather(realta.zeros((2, 3)), [0], axis=0, mode="reflect")
