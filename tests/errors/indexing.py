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


@wrong("a known index array outside the axis")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[:, [0, 3]]


@wrong("index arrays that do not broadcast")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[[0, 1], [0, 1, 2]]


@wrong("a mask that does not fit")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[Tensor([True, False, True])]


@wrong("floats in an index array")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[[0.5, 1.0]]


@wrong("tensors in a list as an index")
def _(place: Place) -> object:
    return realta.zeros((2, 3))[[Tensor(0), Tensor(1)]]


@wrong("a value for each masked element, of another number")
def _(place: Place) -> object:
    tensor = realta.zeros((3,))
    tensor[Tensor([True, False, True])] = Tensor([1.0, 2.0, 3.0])
    return tensor


@wrong("a value that fits no number of masked elements")
def _(place: Place) -> object:
    tensor = realta.zeros((3, 2))
    tensor[Tensor([True, False, True])] = realta.zeros((2, 3))
    return tensor


@wrong("a read under a mask in a graph")
def _(place: Place) -> object:
    return realta.compile(lambda t: t[t > 0])(realta.zeros((3,)).type)


@wrong("nonzero in a graph")
def _(place: Place) -> object:
    return realta.compile(lambda t: F.nonzero(t)[0])(realta.zeros((3,)).type)


@wrong("distinct elements inside a region")
def _(place: Place) -> object:
    return F.functional(lambda t: F.unique_values(t + 1))(realta.zeros((3,)))


@wrong("nonzero of a 0-d tensor")
def _(place: Place) -> object:
    return F.nonzero(realta.zeros(()))


@wrong("nonzero with a dim to name")
def _(place: Place) -> object:
    return F.nonzero(realta.zeros((3,)), out_dim="count")


@wrong("a padded size below 0")
def _(place: Place) -> object:
    return F.unique_values(realta.zeros((3,)), size=-1)


@wrong("index vectors longer than there are axes")
def _(place: Place) -> object:
    return F.gather_nd(realta.zeros((2, 3)), [[0, 0, 0]])


@wrong("index vectors outside the axis")
def _(place: Place) -> object:
    return F.scatter_nd(realta.zeros((2, 3)), 1.0, [[0, 1], [2, 0]])


@wrong("more masked elements than updates")
def _(place: Place) -> object:
    mask = Tensor([True, True, True])
    return F.masked_scatter(realta.zeros((3,)), mask, Tensor([1.0])).numpy()


@wrong("boxes and scores that do not fit")
def _(place: Place) -> object:
    return F.non_maximum_suppression(realta.zeros((1, 5, 4)), realta.zeros((1, 2, 6)), 3, 0.5, 0.0)


@wrong("a search in rows of several axes")
def _(place: Place) -> object:
    return F.searchsorted(realta.zeros((2, 3)), 1.0)


@wrong("a running sum without an axis")
def _(place: Place) -> object:
    return F.cumulative_sum(realta.zeros((2, 3)))
