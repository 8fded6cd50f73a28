"""Habits: what people write from other libraries, answered with what to write here."""

import realta
from realta import F

from tests.errors.catalogue import Place, wrong


@wrong("dim for axis")
def _(place: Place) -> object:
    return F.sum(realta.ones((2, 3)), dim=1)


@wrong("keepdim for keepdims")
def _(place: Place) -> object:
    return realta.ones((2, 3)).mean(axis=1, keepdim=True)


@wrong("cuda()")
def _(place: Place) -> object:
    return realta.ones((3,)).cuda()


@wrong("cat")
def _(place: Place) -> object:
    return F.cat([realta.ones((3,))])


@wrong("permute of separate numbers")
def _(place: Place) -> object:
    return realta.ones((2, 3)).permute(1, 0)


@wrong("backward")
def _(place: Place) -> object:
    return realta.ones((3,)).sum().backward()


@wrong("grad of a tensor")
def _(place: Place) -> object:
    return realta.ones((3,)).grad


@wrong("grad of a function")
def _(place: Place) -> object:
    return F.grad(F.exp)


@wrong("astype")
def _(place: Place) -> object:
    return realta.ones((3,)).astype("float64")


@wrong("view")
def _(place: Place) -> object:
    return realta.ones((6,)).view(2, 3)


@wrong("an unknown keyword")
def _(place: Place) -> object:
    return F.softmax(realta.ones((3,)), axes=0)
