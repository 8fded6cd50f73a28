"""Realizing: values that are wanted where there are none, regions, contexts and compiled calls."""

import realta
from realta import F, Tensor
from realta.realization_context import (
    EagerRealizationContext,
    GraphRealizationContext,
    set_default_realization_context,
)

from tests.errors.catalogue import Place, wrong


@wrong("a value inside a graph")
def _(place: Place) -> object:
    graph = realta.Graph("model", [realta.TensorType("float32", (3,))])
    with graph:
        return graph.inputs[0].tensor.numpy()


@wrong("branching on a value inside a graph")
def _(place: Place) -> object:
    return realta.stage(lambda x: x if F.sum(x) > 0 else -x)(realta.TensorType("float32", (3,)))


@wrong("a value inside an open region")
def _(place: Place) -> object:
    @F.functional
    def scaled(x: Tensor) -> Tensor:
        y = x * 2.0
        return y / y.sum().item()

    return scaled(realta.ones((3,)))


@wrong("branching in an open region")
def _(place: Place) -> object:
    @F.functional
    def relu(x: Tensor) -> Tensor:
        return x * 2.0 if F.any(x * 2.0 > 1.0) else x

    return relu(realta.ones((3,)))


@wrong("a tensor whose region was left by an exception")
def _(place: Place) -> object:
    x = realta.ones((3,))
    try:
        with EagerRealizationContext("attempt"):
            y = x * 2.0
            raise KeyError("lost")
    except KeyError:
        return y + 1.0


@wrong("printing the values of an abandoned tensor")
def _(place: Place) -> object:
    x = realta.ones((3,))
    try:
        with EagerRealizationContext("attempt"):
            y = x * 2.0
            raise KeyError("lost")
    except KeyError:
        return y.tolist()


@wrong("a tensor of a graph outside it")
def _(place: Place) -> object:
    context = GraphRealizationContext(name="model")
    with context:
        y = realta.ones((3,)) * 2.0
    return y + 1.0


@wrong("a region that is opened twice")
def _(place: Place) -> object:
    region = EagerRealizationContext("twice")
    with region, region:
        return None


@wrong("contexts that are left out of order")
def _(place: Place) -> object:
    outer, inner = EagerRealizationContext("outer"), EagerRealizationContext("inner")
    outer.__enter__()
    inner.__enter__()
    try:
        return outer.__exit__(None, None, None)
    finally:
        inner.__exit__(None, None, None)
        outer.__exit__(None, None, None)


@wrong("a region that must be one kernel and cannot")
def _(place: Place) -> object:
    @F.functional(fuse="must")
    def both(x: Tensor) -> Tensor:
        return F.sort(x * 2.0, axis=0) + 1.0

    return both(realta.ones((3,), device="numpy:0"))


@wrong("an unknown policy")
def _(place: Place) -> object:
    return F.functional(fuse="always")(F.exp)


@wrong("an async region")
def _(place: Place) -> object:
    @F.functional
    async def later(x: Tensor) -> Tensor:
        return x

    return later


@wrong("a default context that is none")
def _(place: Place) -> object:
    return set_default_realization_context(lambda: 3)


@wrong("a draw's graph value without a context")
def _(place: Place) -> object:
    return realta.ones((3,)).graph_value


@wrong("explaining what is real already")
def _(place: Place) -> object:
    return realta.explain(realta.ones((3,)))


@wrong("staging with tensors")
def _(place: Place) -> object:
    return realta.stage(F.exp)(realta.ones((3,)))


@wrong("a compiled call with another dtype")
def _(place: Place) -> object:
    call = realta.compile(lambda x: x + 1)(realta.TensorType("float32", (3,)))
    return call(realta.zeros((3,), dtype="int32"))


@wrong("a compiled call with another shape")
def _(place: Place) -> object:
    call = realta.compile(lambda x: x + 1)(realta.TensorType("float32", (3,)))
    return call(realta.zeros((4,)))


@wrong("a compiled call where a name would be two numbers")
def _(place: Place) -> object:
    vector = realta.TensorType("float32", ("n",))
    call = realta.compile(lambda x, y: x + y, name="total")(vector, vector)
    return call(realta.zeros((4,)), realta.zeros((5,)))


@wrong("a compiled call with too many arguments")
def _(place: Place) -> object:
    call = realta.compile(lambda x: x + 1)(realta.TensorType("float32", (3,)))
    return call(realta.zeros((3,)), realta.zeros((3,)))


@wrong("a compiled call with another static argument")
def _(place: Place) -> object:
    call = realta.compile(lambda x, *, axis: x.sum(axis))(
        realta.TensorType("float32", (3,)), axis=0
    )
    return call(realta.zeros((3,)), axis=-1)


@wrong("a compiled function that returns what is no tensor")
def _(place: Place) -> object:
    return realta.compile(lambda x: {x})(realta.TensorType("float32", (3,)))


@wrong("extents that cannot be compared yet")
def _(place: Place) -> object:
    vector = realta.TensorType("float32", ("n",))
    return realta.stage(lambda x: x if x.shape[0] > 3 else -x)(vector)


@wrong("an extent that is no expression")
def _(place: Place) -> object:
    return realta.TensorType("float32", ("n +",))


@wrong("a donated tensor that is used again")
def _(place: Place) -> object:
    x = realta.zeros((3,)) + 1.0
    call = realta.compile(lambda x: x + 1, donate=(0,))(x.type)
    call(x)
    return x + 1.0
