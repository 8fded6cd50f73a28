"""Graphs with named extents are planned once; their bits are those of one for the numbers."""

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType
from realta.compilation.compiled import CompiledFunction
from realta.runtime import open_program
from realta.testing import assert_same_bits


@pytest.fixture(autouse=True)
def _on_numpy(monkeypatch):
    monkeypatch.setattr(open_program, "_LEAST_OPS", 0)
    with realta.default_device("numpy:0"):
        yield


def tensor(rng, *shape):
    return Tensor(rng.standard_normal(shape).astype(np.float32))


def softmax_of_scores(x, y):
    rows, width = x.shape
    h = F.reshape(F.gelu(x * 3.0 + y[0]), (rows, 1, width))
    return F.softmax(F.permute(h, (1, 0, 2)), axis=-1)[0] + F.max(x, axis=0)


def heads(x, y):
    rows, width = x.shape
    h = F.permute(F.reshape(F.concat([x, y], axis=1), (rows, 2, width)), (1, 0, 2))
    return F.sum(F.relu(h @ F.permute(h, (0, 2, 1))), axis=(0, 2)) * x[:, 0]


def movements(x, y):
    z = F.concat([F.transpose(x, 0, 1), F.transpose(y, 0, 1)], axis=0)
    wide = F.reshape(F.pad(x, ((1, 0), (0, 2))), (-1,))
    return F.cumsum(z, axis=1) * 2.0, F.argsort(y, axis=0), wide + 1.0, F.max(z, axis=1)


def picked(x, y):
    rows = F.arange(x.shape[0])
    at = F.clip(rows, 0, 3)
    table = Tensor(np.arange(20, dtype=np.float32).reshape(4, 5))
    return F.gather(table, at, axis=0) * 2.0, x * F.cast(F.unsqueeze(rows, 1), x.dtype) + y


def halves(x, y):
    z = F.cast(x, "float16") * F.cast(y, "float16") + 1.0
    return F.sum(z, axis=0), F.where(z > 0.5, z, -z), F.exp(F.max(z))


def whole(x, y):
    d = x - y
    return F.sum(d * d), F.sqrt(F.sum(F.exp(d), axis=0)), F.maximum(d, 0.5)


def layers(x, y):
    layer = realta.nn.as_subgraph(lambda x: F.softmax(x * 2.0 + 1.0, axis=-1) + x)
    return layer(layer(layer(x) + y))


def branches(x, y):
    z = F.cond(F.sum(x) > 0.0, None, lambda: F.exp(x) * y, lambda: F.cumsum(x, axis=0) - y)[0]
    _, found = F.while_loop([Tensor(0), z], lambda n, v: n < 3, lambda n, v: [n + 1, F.tanh(v) * x])
    return found, z


def means(x, y):
    half = F.cast(y, "float16")
    return F.mean(x), F.var(x, axis=1) + F.mean(y, axis=1), F.mean(half, axis=0) * F.sum(x, axis=0)


FUNCTIONS = (
    means,
    layers, branches, softmax_of_scores, heads, movements, picked, halves, whole,
)  # fmt: skip
EXTENTS = ((5, 7), (4, 1), (9, 3), (31, 33), (4, 4), (300, 700), (5, 8), (2100, 130))


def peer(function):
    """The same function, compiled for the numbers at every call."""
    made = CompiledFunction(function.staged)
    made._programs._open_program._opens = False
    return made


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_bits_are_those_of_a_compilation_for_the_numbers(function):
    rng = np.random.default_rng(0)
    type = TensorType("float32", ("rows", "width"))
    compiled = realta.compile(function)(type, type)
    other = peer(compiled)
    for extents in EXTENTS:
        given = tensor(rng, *extents), tensor(rng, *extents)
        found, wanted = compiled(*given), other(*given)
        for a, b in zip(realta.tree.leaves(found), realta.tree.leaves(wanted), strict=True):
            assert_same_bits(a, b)
    assert compiled._programs._open_program._forms


def test_what_is_known_is_only_bound(monkeypatch):
    type = TensorType("float32", ("rows", "width"))
    compiled = realta.compile(softmax_of_scores)(type, type)
    rng = np.random.default_rng(0)
    compiled(tensor(rng, 6, 7), tensor(rng, 6, 7))

    def never(*args, **kwargs):
        raise AssertionError("compiled again")

    watched = (
        "realta.runtime.compiling.cut", "realta.passes.normal_form.normalize",
        "realta_numpy.open_executable.plan", "realta_numpy.open_calls.build_program",
        "realta_numpy.calls.kernel_of_group",
    )  # fmt: skip
    given = tensor(rng, 8, 9), tensor(rng, 8, 9)
    wanted = softmax_of_scores(*given)
    for name in watched:
        monkeypatch.setattr(name, never)
    assert_same_bits(compiled(*given), wanted)


@pytest.mark.parametrize("function", [whole, means, layers])
def test_no_elements(function):
    type = TensorType("float32", ("rows", "width"))
    compiled = realta.compile(function)(type, type)
    rng = np.random.default_rng(0)
    for rows in (0, 3, 0):
        given = tensor(rng, rows, 4), tensor(rng, rows, 4)
        pairs = [realta.tree.leaves(f(*given)) for f in (compiled, peer(compiled))]
        for a, b in zip(*pairs, strict=True):
            assert_same_bits(a, b)


def test_extents_that_contradict_an_op_are_refused_as_when_compiled_for_them():
    def shortened(x, y):
        z = F.rebind(x, ("width", "width")) + F.max(y, axis=0)
        return F.exp(z) * 2.0 + z

    type = TensorType("float32", ("rows", "width"))
    compiled = realta.compile(shortened)(type, type)
    rng = np.random.default_rng(0)
    same = tensor(rng, 3, 3), tensor(rng, 3, 3)
    compiled(*same)
    given = tensor(rng, 3, 4), tensor(rng, 3, 4)
    with pytest.raises(realta.errors.ShapeError, match="rebind") as found:
        compiled(*given)
    with pytest.raises(realta.errors.ShapeError) as wanted:
        peer(compiled)(*given)
    assert str(found.value) == str(wanted.value)
    with pytest.raises(realta.errors.ShapeError, match="rows"):
        compiled(tensor(rng, 3, 3), tensor(rng, 4, 3))


def test_an_index_out_of_bounds_is_named_with_numbers():
    def rows(x, at):
        return F.gather(x, at, axis=0) * 2.0 + 1.0

    compiled = realta.compile(rows)(
        TensorType("float32", (4, "width")), TensorType("int64", ("picked",))
    )
    rng = np.random.default_rng(0)
    compiled(tensor(rng, 4, 2), Tensor(np.array([1, 2], np.int64)))
    assert compiled._programs._open_program._forms
    with pytest.raises(realta.errors.IndexBoundsError, match="axis 0 with size 4") as found:
        compiled(tensor(rng, 4, 3), Tensor(np.array([1, 2, 7], np.int64))).numpy()
    assert "gather(f32[4,3]@numpy:0, i64[3]@numpy:0)" in str(found.value)


def test_a_store_is_in_place_for_every_extent():
    def store(cache, x):
        cache[:] = cache + (F.exp(x) * 2.0 - 1.0)
        return F.sum(cache)

    type = TensorType("float32", ("rows", 600))
    compiled = realta.compile(store)(type, type)
    rng = np.random.default_rng(0)
    for rows in (60, 70, 80, 400):
        cache, x = tensor(rng, rows, 600), tensor(rng, rows, 600)
        wanted = cache + (F.exp(x) * 2.0 - 1.0)
        wanted.realize()
        compiled(cache, x)
        assert_same_bits(cache, wanted)
    assert compiled._programs._open_program._forms


def test_reports_have_numbers():
    type = TensorType("float32", ("rows", 8))
    compiled = realta.compile(lambda x: F.sum(F.exp(x) * x, axis=1))(type)
    x = tensor(np.random.default_rng(0), 5, 8)
    with realta.profile() as found:
        compiled(x)
    assert [k.bytes_read for k in found.runs[0].kernels] == [5 * 8 * 4]
    assert found.runs[0].kernels[0].bytes_written == 5 * 4
