"""Control: branches, loops, effects, custom functions and windows used wrongly."""

import numpy as np
import realta
from realta import F, Tensor, TensorType, lazy
from realta.functional import assert_
from realta.graph import load_graph_file, save_graph

from tests.errors.catalogue import Place, wrong


def _x() -> Tensor:
    return Tensor([1.0, -2.0, 3.0])


@wrong("branches that return different types")
def _(place: Place) -> object:
    x = _x()
    return F.cond(F.sum(x) > 0, None, lambda: x, lambda: x.cast("int32"))


@wrong("branches that return different numbers of tensors")
def _(place: Place) -> object:
    x = _x()
    return F.cond(F.sum(x) > 0, None, lambda: (x, x), lambda: x)


@wrong("a branch that does not return what out_types says")
def _(place: Place) -> object:
    x = _x()
    return F.cond(F.sum(x) > 0, [TensorType("int32", (3,))], lambda: x, lambda: x)


@wrong("a predicate that is no bool")
def _(place: Place) -> object:
    x = _x()
    return F.cond(F.sum(x), None, lambda: x, lambda: -x)


@wrong("a loop that changes the type of a value")
def _(place: Place) -> object:
    return F.while_loop((0, _x()), lambda i, x: i < 3, lambda i, total: (i + 1, F.sum(total)))


@wrong("a loop that forgets a value")
def _(place: Place) -> object:
    return F.while_loop((0, _x()), lambda i, x: i < 3, lambda i, x: i + 1)


@wrong("a loop that asks for more than one bool")
def _(place: Place) -> object:
    return F.while_loop(_x(), lambda x: x > 0, lambda x: x - 1)


@wrong("a predicate that stores")
def _(place: Place) -> object:
    x = _x()

    def predicate(i):
        x[0] = 0.0
        return i < 3

    return F.while_loop(0, predicate, lambda i: i + 1)


@wrong("a value asked for inside of a branch")
def _(place: Place) -> object:
    x = _x()
    return F.cond(True, None, lambda: x if F.sum(x) > 0 else -x, lambda: x)


@wrong("an assertion that does not hold")
def _(place: Place) -> object:
    assert_(_x() > 0, "x must be positive")


@wrong("an assertion that does not hold in front of a value")
def _(place: Place) -> object:
    x = _x()
    with lazy():
        assert_(F.all(x > 0))
        later = x + 1
    return later.numpy()


@wrong("an assertion about numbers")
def _(place: Place) -> object:
    assert_(_x())


@wrong("a print with a label that is no text")
def _(place: Place) -> object:
    F.print(_x(), 3)


@wrong("a custom function that is not registered")
def _(place: Place) -> object:
    x = _x()
    return F.custom("catalogue.missing", x.device, [x], [x.type])


@wrong("a custom function that returns another dtype")
def _(place: Place) -> object:
    F.register_custom("catalogue.wide")(lambda x: x.astype(np.float64))
    x = _x()
    return F.custom("catalogue.wide", x.device, [x], [x.type])


@wrong("a custom function that raises")
def _(place: Place) -> object:
    F.register_custom("catalogue.broken")(lambda x: 1 // 0)
    x = _x()
    return F.custom("catalogue.broken", x.device, [x], [x.type])


@wrong("a custom function with a name of the library's")
def _(place: Place) -> object:
    F.register_custom("scale")


@wrong("a graph file with code")
def _(place: Place) -> object:
    def coded(x):
        return F.custom("catalogue.coded", x.device, [x], [x.type], source="kernel")[0]

    save_graph(realta.stage(coded)(_x().type).graph, place.folder / "coded.graph")
    return load_graph_file(place.folder / "coded.graph")


@wrong("a window that leaves a tensor")
def _(place: Place) -> object:
    return F.dynamic_update_slice(_x(), Tensor([1.0, 2.0]), 2)


@wrong("a window that leaves a tensor, known when it runs")
def _(place: Place) -> object:
    return F.dynamic_update_slice(_x(), Tensor([1.0, 2.0]), Tensor(2)).numpy()


@wrong("a window that is too long")
def _(place: Place) -> object:
    return F.dynamic_update_slice(_x(), Tensor([1.0, 2.0, 3.0, 4.0]), 0)
