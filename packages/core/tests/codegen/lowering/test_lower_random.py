"""Random graphs: whatever is fused with what, kernels compute the bits of the single ops."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from realta.graph import Builder
from realta.passes import normalize
from realta.passes.evaluate import evaluate_graph
from realta.types import bool_, float16, float32, int32, tensor_type

UNARY = ("neg", "abs", "floor", "exp", "sign", "sqrt")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
SHAPES = ((), (3,), (40,), (3, 40), (40, 3), (1, 40), (20, 20), (2, 5, 18))


class Writer:
    """Draws a graph; sums and products of floats are left out, whose order is the device's own."""

    def __init__(self, draw):
        self.draw = draw
        self.builder = Builder("random")
        dtypes = st.sampled_from([float32, float32, float16, int32])
        given = draw(st.lists(st.tuples(dtypes, st.sampled_from(SHAPES)), min_size=1, max_size=3))
        self.values = [self.builder.input(tensor_type(d, shape)) for d, shape in given]

    def pick(self, wanted=None):
        values = [v for v in self.values if wanted is None or v.type is wanted]
        return self.draw(st.sampled_from(values + values[-3:]))

    def step(self):
        name = self.draw(st.sampled_from(sorted(STEPS)))
        x = self.pick()
        made = STEPS[name](self, x)
        if made is not None and made.type.rank <= 4 and made.type.size <= 4000:
            self.values.append(made)

    def unary(self, x):
        names = UNARY if x.type.dtype.is_float else ("neg", "abs", "sign")
        return getattr(self.builder, self.draw(st.sampled_from(names)))(x)

    def binary(self, x):
        return getattr(self.builder, self.draw(st.sampled_from(BINARY)))(x, self.pick(x.type))

    def number(self, x):
        return self.builder.mul(x, self.builder.const(2, like=x))

    def cast(self, x):
        return self.builder.cast(x, dtype=self.draw(st.sampled_from([float32, float16, int32])))

    def broadcast(self, x):
        shape = tuple(self.draw(st.sampled_from([2, 17])) if d == 1 else d for d in x.type.shape)
        return self.builder.broadcast(x, shape=(*self.draw(st.sampled_from([(), (2,)])), *shape))

    def permute(self, x):
        return self.builder.permute(x, axes=tuple(self.draw(st.permutations(range(x.type.rank)))))

    def reshape(self, x):
        long = tuple(d for d in x.type.shape if d != 1)
        options = [long, (1, *long), (*long, 1), (x.type.size,), x.type.shape[::-1]]
        if x.type.size % 4 == 0:
            options.append((x.type.size // 4, 4))
        return self.builder.reshape(x, shape=self.draw(st.sampled_from(options)))

    def slice(self, x):
        parts = []
        for extent in x.type.shape:
            start = self.draw(st.integers(0, extent - 1))
            back = self.draw(st.booleans())
            parts.append((start, -1, -2) if back else (start, extent, 1))
        start, stop, step = zip(*parts, strict=True) if parts else ((), (), ())
        return self.builder.slice(x, start=start, stop=stop, step=step)

    def reduce(self, x):
        if not x.type.rank:
            return None
        names = ["max", "min"] + ([] if x.type.dtype.is_float else ["sum", "prod"])
        axes = sorted(self.draw(st.sets(st.integers(0, x.type.rank - 1), min_size=1)))
        return getattr(self.builder, self.draw(st.sampled_from(names)))(x, axes=tuple(axes))

    def centred(self, x):
        """A value less the greatest of its row, as in softmax."""
        if not x.type.rank:
            return None
        axis = self.draw(st.integers(0, x.type.rank - 1))
        small = tuple(1 if n == axis else d for n, d in enumerate(x.type.shape))
        top = self.builder.reshape(self.builder.max(x, axes=(axis,)), shape=small)
        return self.builder.sub(x, self.builder.broadcast(top, shape=x.type.shape))

    def argument(self, x):
        if not x.type.rank:
            return None
        axis = self.draw(st.integers(0, x.type.rank - 1))
        return self.builder.cast(self.builder.argmax(x, axis=axis), dtype=int32)

    def select(self, x):
        condition = self.builder.less(x, self.pick(x.type))
        assert condition.type.dtype is bool_
        return self.builder.select(condition, x, self.pick(x.type))

    def pad(self, x):
        low = tuple(self.draw(st.integers(0, 2)) for _ in x.type.shape)
        fill = self.builder.slice(
            self.builder.reshape(x, shape=(x.type.size,)), start=(0,), stop=(1,), step=(1,)
        )
        fill = self.builder.reshape(fill, shape=())
        return self.builder.pad(x, fill, low=low, high=low)

    def concat(self, x):
        return self.builder.concat(x, self.pick(x.type), axis=0) if x.type.rank else None


STEPS = {
    name: getattr(Writer, name)
    for name in (
        "argument", "binary", "broadcast", "cast", "centred", "concat", "number", "pad", "permute",
        "reduce", "reshape", "select", "slice", "unary",
    )
}  # fmt: skip


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_random_graphs_compute_the_bits_of_their_ops(device, same_bits, values_of, data):
    writer = Writer(data.draw)
    for _ in range(data.draw(st.integers(1, 10))):
        writer.step()
    made = [v for v in writer.values if v not in writer.builder.inputs]
    outputs = [*made[-3:], *data.draw(st.lists(st.sampled_from(made), max_size=2))] if made else []
    if not outputs:
        return
    graph = normalize(writer.builder.finish(*outputs), keeps=lambda node: False)
    random = np.random.default_rng(11)
    arrays = [values_of(v.type.dtype, v.type.static_shape, random) for v in graph.inputs]
    wanted = evaluate_graph(graph, arrays)
    for found, want in zip(device.run(graph, arrays), wanted, strict=True):
        assert same_bits(found, want)
