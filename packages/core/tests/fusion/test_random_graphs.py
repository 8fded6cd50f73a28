"""Random graphs: normal forms and plans of them compute the same bits as the graphs."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from realta.fusion import Limits, Rules, plan
from realta.graph import Builder, Region, verify
from realta.passes import Decompose, evaluate_node, normalize
from realta.passes.evaluate import evaluate_graph
from realta.types import float32, int32, tensor_type

UNARY = ("neg", "abs", "floor", "exp", "sqrt", "relu", "sigmoid", "sign")
INTEGER_UNARY = ("neg", "abs", "sign")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
REDUCTIONS = ("sum", "max", "min", "prod")
NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, float("nan"), float("inf"), float("-inf"), 3.0)
SHAPES = ((), (3,), (2, 3), (3, 2), (1, 3), (2, 1), (2, 2), (2, 3, 2))


class Writer:
    """Writes a random graph; values are small floats, some integers, some bool."""

    def __init__(self, draw):
        self.draw = draw
        self.builder = Builder("random")
        self.values = [
            self.builder.input(tensor_type(dtype, draw(st.sampled_from(SHAPES))))
            for dtype in draw(
                st.lists(st.sampled_from([float32, float32, int32]), min_size=1, max_size=3)
            )
        ]
        policies = draw(st.lists(st.sampled_from(["may", "never"]), max_size=2))
        self.regions = [None, *(Region(f"r{n}", fuse=p) for n, p in enumerate(policies))]

    def pick(self, values):
        # The last ones more often, so that graphs are deep.
        recent = values[-4:]
        return self.draw(st.sampled_from(values + recent + recent))

    def step(self):
        builder = self.builder
        builder.region = self.draw(st.sampled_from(self.regions))
        x = self.pick(self.values)
        kinds = [self.unary, self.binary, self.binary, self.number, self.broadcast, self.permute]
        kinds += [self.reshape, self.slice, self.reduce, self.reduce, self.back, self.composite]
        kinds += [self.other, self.select, self.matmul]
        made = self.draw(st.sampled_from(kinds))(x)
        if made is not None and len(made.type.shape) <= 4 and made.type.size <= 200:
            self.values.append(made)

    def unary(self, x):
        names = UNARY if x.type.dtype.is_float else INTEGER_UNARY
        return getattr(self.builder, self.draw(st.sampled_from(names)))(x)

    def binary(self, x):
        return getattr(self.builder, self.draw(st.sampled_from(BINARY)))(x, self.like(x))

    def like(self, x):
        return self.pick([v for v in self.values if v.type is x.type])

    def number(self, x):
        number = self.draw(st.sampled_from(NUMBERS if x.type.dtype.is_float else (0, 1, -1, 2)))
        name = self.draw(st.sampled_from(BINARY))
        return getattr(self.builder, name)(x, self.builder.const(number, like=x))

    def broadcast(self, x):
        shape = tuple(self.draw(st.sampled_from([2, 3])) if d == 1 else d for d in x.type.shape)
        return self.builder.broadcast(x, shape=(*self.draw(st.sampled_from([(), (2,)])), *shape))

    def permute(self, x):
        axes = tuple(self.draw(st.permutations(range(x.type.rank))))
        return self.builder.permute(x, axes=axes)

    def reshape(self, x):
        shape = tuple(d for d in x.type.shape if d != 1)
        options = [shape, (1, *shape), (*shape, 1), (x.type.size,), x.type.shape[::-1]]
        return self.builder.reshape(x, shape=self.draw(st.sampled_from(options)))

    def slice(self, x):
        if not x.type.shape:
            return None
        parts = [
            self.draw(
                st.sampled_from([(0, d, 1), (d - 1, -1, -1), (0, max(d - 1, 1), 1), (0, d, 2)])
            )
            for d in x.type.shape
        ]
        start, stop, step = zip(*parts, strict=True)
        return self.builder.slice(x, start=start, stop=stop, step=step)

    def reduce(self, x):
        if not x.type.shape:
            return None
        axes = self.draw(st.sets(st.integers(0, x.type.rank - 1), min_size=1))
        if self.draw(st.integers(0, 5)) == 0:
            made = self.builder.argmax(x, axis=min(axes))
            return self.builder.cast(made, dtype=int32)
        name = self.draw(st.sampled_from(REDUCTIONS))
        return getattr(self.builder, name)(x, axes=tuple(sorted(axes)))

    def back(self, x):
        """Rows broadcast back over what they may come from."""
        wide = [v for v in self.values if v.type.rank == x.type.rank + 1]
        wide = [v for v in wide if v.type.dtype is x.type.dtype]
        if not wide:
            return None
        like = self.pick(wide)
        for axis in range(like.type.rank):
            shape = like.type.shape
            if (*shape[:axis], *shape[axis + 1 :]) == x.type.shape:
                kept = self.builder.reshape(x, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
                return self.builder.sub(like, self.builder.broadcast(kept, shape=shape))
        return None

    def composite(self, x):
        if not x.type.shape or not x.type.dtype.is_float:
            return None
        axis = self.draw(st.integers(0, x.type.rank - 1))
        name = self.draw(st.sampled_from(["softmax", "mean", "logsumexp", "var"]))
        if name == "softmax":
            return self.builder.softmax(x, axis=axis)
        extra = {"correction": 0.0} if name == "var" else {}
        return getattr(self.builder, name)(x, axes=(axis,), **extra)

    def other(self, x):
        b = self.builder
        if not x.type.shape:
            return b.barrier(x)
        zeros = (0,) * x.type.rank
        fill = b.constant(1, x.type.with_shape(()))
        makers = [
            lambda: b.barrier(x),
            lambda: b.sort(x, axis=0),
            lambda: b.cumsum(x, axis=x.type.rank - 1),
            lambda: b.concat(x, self.like(x), axis=0),
            lambda: b.pad(x, fill, low=(1,) * x.type.rank, high=zeros),
            lambda: b.cast(x, dtype=int32 if x.type.dtype.is_float else float32),
            lambda: b.cast(b.iota(shape=x.type.shape, axis=0, dtype=int32), dtype=x.type.dtype),
        ]
        return self.draw(st.sampled_from(makers))()

    def select(self, x):
        y = self.like(x)
        return self.builder.select(self.builder.less(x, y), y, self.like(x))

    def matmul(self, x):
        if x.type.rank != 2 or not x.type.dtype.is_float:
            return None
        return self.builder.matmul(x, self.builder.permute(self.like(x), axes=(1, 0)))


@st.composite
def graphs(draw):
    """A graph and arrays for its inputs."""
    writer = Writer(draw)
    for _ in range(draw(st.integers(1, 24))):
        writer.step()
    outputs = draw(st.lists(st.sampled_from(writer.values[-6:]), min_size=1, max_size=3))
    graph = writer.builder.finish(*outputs)
    random = np.random.default_rng(draw(st.integers(0, 99)))
    arrays = [
        np.asarray(
            random.integers(-6, 7, v.type.shape) / (2 if v.type.dtype.is_float else 1)
        ).astype(v.type.dtype.numpy)
        for v in graph.inputs
    ]
    return graph, arrays


def expanded(graph):
    """The graph with primitives only and nothing else done to it."""
    return Decompose(lambda node: False).run(graph)


PATIENT = settings(
    deadline=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@PATIENT
@given(graphs())
def test_the_normal_form_computes_the_same_bits(same_bits, case):
    graph, arrays = case
    normal = normalize(graph, keeps=lambda node: False, evaluate=evaluate_node, debug=True)
    assert [v.type for v in normal.outputs] == [v.type for v in graph.outputs]
    with np.errstate(all="ignore"):
        want, got = evaluate_graph(expanded(graph), arrays), evaluate_graph(normal, arrays)
    for one, other in zip(want, got, strict=True):
        assert same_bits(one, other)


LIMITS = st.sampled_from([Limits(), Limits(arguments=2), Limits(arguments=4), Limits(arguments=7)])
RULES = st.sampled_from(
    [
        Rules(),
        Rules(siblings=False),
        Rules(members=3),
        Rules(row_elements=1),
        Rules(view_chain=1),
        Rules(alone=frozenset({"add", "reshape"})),
        Rules(joins=frozenset({("elementwise", "elementwise")})),
    ]
)


@PATIENT
@given(graphs(), LIMITS, RULES)
def test_a_plan_computes_the_same_bits(check_plan, run_plan, same_bits, case, limits, rules):
    graph, arrays = case
    normal = normalize(graph, keeps=lambda node: False)
    made = plan(normal, limits, rules=rules)
    check_plan(made)
    with np.errstate(all="ignore"):
        want, got = evaluate_graph(normal, arrays), run_plan(made, arrays)
    for one, other in zip(want, got, strict=True):
        assert same_bits(one, other)


@PATIENT
@given(graphs())
def test_a_plan_of_the_recorded_graph_verifies_too(check_plan, case):
    graph, _ = case
    verify(graph)
    check_plan(plan(graph))
