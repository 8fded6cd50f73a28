"""Integer arrays and masks in an index, alone and mixed, read and written, against NumPy."""

import numpy as np
import pytest
import realta
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from realta import F, Tensor
from realta.errors import (
    ArgumentError,
    DTypeError,
    IndexBoundsError,
    RealizationError,
    ShapeError,
)
from realta.testing import assert_same_bits
from realta.types import float32

X = np.arange(120.0, dtype=np.float32).reshape(2, 3, 4, 5)
M = np.arange(6).reshape(2, 3) % 2 == 0
ROW = np.array([True, False, False, True, True])
at = np.s_
KEYS = [
    [0, 1], [[0, 1], [1, 0]], at[0, [1, 2]], at[[1, 0], 2], at[[0, 1], [2, 1]],
    at[[[0], [1]], [0, 2]], at[:, [0, -1]], at[:, [0, 2], :, [1, 4]], at[:, [0, 1], 3],
    at[0, :, [1, 3]], at[..., [4, 0, 0]], at[..., [1, 2], 0], at[[0, 1], ..., [3, 4]],
    at[[1], None, [0]], at[None, [1, 0], None, [0, 2]], at[:, None, [0, 1], [1, 2], None],
    at[::-1, [2, 0], 1:4:2, ::-2], at[:1, [[1, 2]]], [], at[[], []], at[:, [0], []],
    np.array([1, 0], np.uint8), at[range(2), (2, 0)], M, ~M, at[M, 2], at[M, 1:3],
    at[M, [0, 1, 3]], at[:, :, [True, False] * 2], at[..., ROW], at[0, M[0]], at[[0, 1], M[0]],
    at[:, M[0], None, [0, 1]], X > 60, at[X[..., 0] > 60, 1], at[M, None, None], M & False,
    True, False, at[True, 0], at[:, True], at[None, True, [1, 0]], np.bool_(True), at[True, True],
    at[np.int64(1), np.array(2), [0, 1]], at[:, np.array(1), :, [0, 1]],
]  # fmt: skip
NUMBERED = pytest.mark.parametrize("key", KEYS, ids=[f"key {n}" for n in range(len(KEYS))])


def as_tensors(key):
    """The key with a tensor for every array and list in it."""
    items = key if isinstance(key, tuple) else (key,)
    found = []
    for item in items:
        if isinstance(item, (np.ndarray, list, range, np.bool_)):
            array = np.asarray(item)
            item = Tensor(
                array.astype(np.int64) if array.size == 0 and array.dtype == float else array
            )
        found.append(item)
    return tuple(found)


@NUMBERED
def test_read(modes, key):
    expected = X[key].copy()
    assert_same_bits(modes(lambda t: t[key], X), expected)
    assert_same_bits(Tensor(X)[as_tensors(key)], expected)


@NUMBERED
def test_write(modes, key):
    part = X[key]
    values = -np.arange(1.0, part.size + 1, dtype=np.float32).reshape(part.shape)
    for value in (np.float32(-1), values, values[..., :1]):
        wanted = X.copy()
        wanted[key] = value

        def body(t, v):
            u = +t
            u[key] = v
            return u

        assert_same_bits(modes(body, X, value), wanted)
        t = Tensor(X)
        t[as_tensors(key)] = Tensor(value)
        assert_same_bits(t, wanted)


@pytest.mark.parametrize(
    "arrays",
    [
        lambda i, j: at[i], lambda i, j: at[i, j], lambda i, j: at[:, i], lambda i, j: at[i, 0, j],
        lambda i, j: at[i, :, j], lambda i, j: at[:, i, ::2, j], lambda i, j: at[i[0], j],
        lambda i, j: at[i[0], 1:, j[1]], lambda i, j: at[i[0], j[1]],
        lambda i, j: at[i[:, None], None, j], lambda i, j: at[i[:0], j[:0]],
        lambda i, j: at[i, [1, 2]], lambda i, j: at[i[0], [0, 2], j],
    ],
)  # fmt: skip
def test_indices_that_are_not_known(modes, arrays):
    i, j = np.array([1, -2]), np.array([-1, 2], np.int32)
    assert_same_bits(modes(lambda t, a, b: t[arrays(a, b)], X, i, j), X[arrays(i, j)].copy())
    wanted = X.copy()
    wanted[arrays(i, j)] = 7.0

    def body(t, a, b):
        u = +t
        u[arrays(a, b)] = 7.0
        return u

    assert_same_bits(modes(body, X, i, j), wanted)


def test_few_elements_of_many(modes):
    x = np.arange(4000, dtype=np.int32).reshape(10, 20, 20)
    key = ([1, 9], slice(None, None, 7), [-1, 3])
    assert_same_bits(modes(lambda t: t[key], x), x[key].copy())
    i, j = np.array([1, 9]), np.array([-1, 3])
    assert_same_bits(modes(lambda t, a, b: t[a, ::7, b], x, i, j), x[key].copy())


@st.composite
def expressions(draw):
    """A shape and an index of it: every kind of item, mostly within bounds."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)))
    kinds = ["slice", "int", "array", "array", "mask", "none", "truth", "end"]
    common = draw(st.sampled_from([(), (2,), (3,), (2, 2), (1,), (0,)]))
    items, axis = [], 0
    while axis < len(shape):
        kind = draw(st.sampled_from(kinds))
        extent = shape[axis]
        if kind == "end":
            break
        if kind == "slice":
            bound = st.none() | st.integers(-5, 5)
            step = draw(st.sampled_from([None, 1, 2, -1, -2]))
            items.append(slice(draw(bound), draw(bound), step))
        elif kind == "int" and extent:
            items.append(draw(st.integers(-extent, extent - 1)))
        elif kind == "array" and extent:
            part = common[draw(st.integers(0, len(common))) :]
            part = tuple(1 if draw(st.integers(0, 4)) == 0 else d for d in part)
            count = int(np.prod(part))
            indices = draw(
                st.lists(st.integers(-extent, extent - 1), min_size=count, max_size=count)
            )
            items.append(np.array(indices, np.int64).reshape(part))
        elif kind == "mask":
            span = draw(st.integers(1, len(shape) - axis))
            extents = shape[axis : axis + span]
            count = int(np.prod(extents))
            bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            items.append(np.array(bits, bool).reshape(extents))
            axis += span - 1
        elif kind == "none":
            items.append(None)
            continue
        elif kind == "truth":
            if draw(st.integers(0, 3)) == 0:
                items.append(draw(st.booleans()))
            continue
        else:
            continue
        axis += 1
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    return shape, tuple(items)


@settings(max_examples=300, deadline=None)
@given(expression=expressions(), data=st.data())
def test_any_index_is_numpys(expression, data):
    shape, key = expression
    # NumPy does not look at the extent of a mask without elements; here it must fit too.
    empty = [isinstance(k, np.ndarray) and k.dtype == bool and not k.size for k in key]
    assume(not any(empty) or not any(k is Ellipsis for k in key))
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    try:
        expected = x[key].copy()
    except IndexError:
        with pytest.raises((IndexBoundsError, ShapeError, ArgumentError)) as caught:
            Tensor(x)[key]
        assert caught.value.fix
        return
    for given_key in (key, as_tensors(key)):
        assert_same_bits(Tensor(x)[given_key], expected)
    cut = data.draw(st.integers(0, expected.ndim))
    shape = tuple(1 if data.draw(st.booleans()) else d for d in expected.shape[cut:])
    value = -np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    wanted = x.copy()
    wanted[key] = value
    for given_key in (key, as_tensors(key)):
        t = Tensor(x)
        t[given_key] = value
        assert_same_bits(t, wanted)
        if given_key is key:
            with realta.lazy():
                u = Tensor(x) + 0
                u[key] = Tensor(value)
            assert_same_bits(u, wanted)


class TestMasksOfUnknownValues:
    """Reading under a mask demands it; storing does not."""

    MASK = X % 3 == 0

    def test_a_read_runs_what_a_lazy_mask_needs(self):
        t = Tensor(X)
        with realta.lazy():
            mask = t % 3 == 0
            other = t * 2
            found = t[mask] + 1
            assert mask.is_real
            assert not other.is_real
            assert not found.is_real
        assert_same_bits(found, X[self.MASK] + 1)

    def test_a_region_follows_on_sync(self):
        def body(t):
            return t[t % 3 == 0] + 1

        with pytest.raises(RealizationError, match="realized inside it") as caught:
            F.functional(body)(Tensor(X))
        assert "test_array_index.py" in caught.value.where
        split = F.functional(on_sync="split")(body)(Tensor(X))
        assert_same_bits(split, X[self.MASK] + 1)

    def test_a_graph_names_what_to_write(self):
        with pytest.raises(RealizationError, match="depends on values") as caught:
            realta.compile(lambda t: t[t > 1])(Tensor(X).type)
        assert "size=" in caught.value.fix
        assert "fill_value=" in caught.value.fix
        assert "test_array_index.py" in caught.value.where
        with pytest.raises(RealizationError, match="depends on values"):
            realta.compile(lambda t: t.__setitem__(((t > 1)[:, 0, 0, 0], [0]), 0.0))(Tensor(X).type)

    @pytest.mark.parametrize(
        "value",
        [np.float32(5), np.arange(40, dtype=np.float32), np.array([7], np.float32)],
        ids=str,
    )
    def test_a_store_is_static(self, modes, value):
        def body(t, v):
            u = +t
            u[t % 3 == 0] = v
            return u

        wanted = X.copy()
        wanted[self.MASK] = value
        assert_same_bits(modes(body, X, value), wanted)

    def test_a_store_beside_ints_and_slices_is_static(self, modes):
        keep = np.array([[True, False, True, True], [False] * 4, [True] * 4])
        value = np.arange(14.0, dtype=np.float32).reshape(2, 7)

        def body(t, m, v):
            u, w, z = +t, +t, +t
            u[::-1, m, 2] = v
            w[1, ..., m[:, 0], None, :2, 0] = v[0, :2, None, None]
            z[:, m, 1] = v[:, :1]
            return u, w, z

        expected = [X.copy() for _ in range(3)]
        expected[0][::-1, keep, 2] = value
        expected[1][1, ..., keep[:, 0], None, :2, 0] = value[0, :2, None, None]
        expected[2][:, keep, 1] = value[:, :1]
        for result, wanted in zip(modes(body, X, keep, value), expected, strict=True):
            assert_same_bits(result, wanted)

    @pytest.mark.parametrize("count", [0, 2, 4])
    def test_the_number_of_values_must_be_that_of_masked_elements(self, count):
        t, mask = Tensor([1.0, 2.0, 3.0, 4.0]), Tensor([True, False, True, True])
        values = F.zeros((count,))
        with pytest.raises(ShapeError, match=f"shape \\({count},"):
            t[mask] = values
        assert t.tolist() == [1.0, 2.0, 3.0, 4.0]

        def store(x, m, v):
            x = +x
            x[m] = v
            return x

        with realta.lazy():
            pending = store(t, mask, values)
        compiled = realta.compile(store)(t.type, mask.type, values.type)(t, mask, values)
        for found in (pending, compiled, F.functional(store)(t, mask, values)):
            with pytest.raises(IndexBoundsError):
                found.numpy()
        nothing = Tensor([False] * 4)
        if not count:
            assert_same_bits(F.functional(store)(t, nothing, values), t)
        assert t.tolist() == [1.0, 2.0, 3.0, 4.0]


class TestStores:
    def test_the_last_of_doubles_wins(self, modes):
        def body(t, i, v):
            u, w = +t, +t
            u[i] = v
            w[[0, 0, 2]] = v
            return u, w

        found = modes(body, np.zeros(3, np.float32), np.array([0, 0, 2]), np.array([1.0, 2, 3]))
        assert [f.tolist() for f in found] == [[2, 0, 3], [2, 0, 3]]
        t = F.zeros((2, 2, 2))
        t[[1, 1, 0], :, [0, 0, 1]] = Tensor([[1.0, 2], [3, 4], [5, 6]])
        assert t.tolist() == [[[0, 5], [0, 6]], [[3, 0], [4, 0]]]

    def test_overlapping_self_assignment_reads_the_old_value(self, modes):
        x = np.arange(6)

        def body(t):
            u = +t
            u[[1, 2, 3]] = u[[0, 1, 2]]
            u[u > 3] = u[u[:2] + 4]
            return u

        wanted = x.copy()
        wanted[[1, 2, 3]] = x[[0, 1, 2]]
        wanted[wanted > 3] = wanted[wanted[:2] + 4].copy()
        assert_same_bits(Tensor(body(Tensor(x))), wanted)
        assert_same_bits(modes(lambda t: body_of_indices(t), x), np.array([5, 4, 3, 2, 1, 0]))

    def test_readers_keep_the_old_version(self):
        t = F.arange(5)
        other, later = +t, t + 10
        t[[0, -1]] = 9
        t[t > 8] = Tensor([7, 8])
        assert t.tolist() == [7, 1, 2, 3, 8]
        assert (other.tolist(), later.tolist()) == ([0, 1, 2, 3, 4], [10, 11, 12, 13, 14])

    def test_values_with_leading_ones(self, modes):
        def body(t, v):
            u, w = +t, +t
            u[0, 1] = v
            w[[0, 1], 1, 1] = v[..., :1, :]
            return u, w

        value = np.arange(20.0, dtype=np.float32).reshape(1, 1, 4, 5)
        expected = [X.copy(), X.copy()]
        expected[0][0, 1] = value
        expected[1][[0, 1], 1, 1] = value[0, 0, :1]
        for result, wanted in zip(modes(body, X, value), expected, strict=True):
            assert_same_bits(result, wanted)

    def test_a_failed_store_changes_nothing(self):
        t = Tensor(X)
        stores = [
            ([0, 2], 0.0, IndexBoundsError), (([0, 1], [0, 1, 2]), 0.0, ShapeError),
            ([0, 1], np.ones(7), ShapeError), (np.ones(3, bool), 0.0, ShapeError),
            (M, np.ones((2, 4, 5)), ShapeError), ((M, [0, 1]), 0.0, ShapeError),
            ([0.5], 0.0, ArgumentError), ([0, 1], "text", DTypeError),
        ]  # fmt: skip
        for key, value, kind in stores:
            with pytest.raises(kind) as caught:
                t[key] = value
            assert "test_array_index.py" in caught.value.where
            assert caught.value.fix
        assert_same_bits(t, X)


def body_of_indices(t):
    u = +t
    u[[0, 1, 2, 3, 4, 5]] = u[[5, 4, 3, 2, 1, 0]]
    return u


@pytest.mark.parametrize(
    ("key", "kind", "text"),
    [
        ([0, 2], IndexBoundsError, "index 2 is out of bounds for axis 0 of extent 2"),
        (at[:, [[0], [-4]]], IndexBoundsError, "index -4 is out of bounds for axis 1"),
        (at[[0, 1], 3], IndexBoundsError, "index 3 is out of bounds for axis 1 of extent 3"),
        (at[3, [0, 1]], IndexBoundsError, "index 3 is out of bounds for axis 0 of extent 2"),
        (at[5, :, [0, 1]], IndexBoundsError, "index 5 is out of bounds for axis 0 of extent 2"),
        ([[2**70]], IndexBoundsError, "beyond the integers of 64 bits"),
        (np.array([2**63], np.uint64), IndexBoundsError, f"index {2**63} is out of bounds"),
        (at[[0, 1], [0, 1, 2]], ShapeError, r"\(2,\) and \(3,\) do not broadcast together"),
        (np.ones((3, 2), bool), ShapeError, r"a mask of shape \(3, 2\) does not fit"),
        (at[:, np.ones(2, bool)], ShapeError, "from axis 1 on"),
        (at[M, 0, 0, 0], IndexBoundsError, "too many indices: 5 for a tensor of 4 axes"),
        ([0.5], ArgumentError, "got an array of float64"),
        (["a"], ArgumentError, "got an array of <U1"),
        ([[0], [1, 2]], ArgumentError, "got a ragged list"),
        ([Tensor(0), 1], ArgumentError, "a list with tensors in it"),
        (Tensor([0.5]), ArgumentError, "got a tensor of float32"),
    ],
    ids=[f"error {n}" for n in range(16)],
)
def test_errors(key, kind, text):
    with pytest.raises(kind, match=text) as caught:
        Tensor(X)[key]
    assert "test_array_index.py" in caught.value.where
    assert caught.value.fix


def test_unknown_indices_out_of_range_raise_at_the_next_wait():
    t, places = Tensor(X), Tensor([0, 7])
    for value in (
        t[:, places],
        t[places, :, [0, 1]],
        F.functional(lambda a, i: a[i] + 1)(t, places),
    ):
        with pytest.raises(IndexBoundsError, match="index 7 is out of bounds for axis"):
            value.numpy()
    u = +t
    u[places, [0, 1]] = 0.0
    with pytest.raises(IndexBoundsError, match="index 7 is out of bounds for axis 0"):
        u.numpy()
    assert_same_bits(t, X)


def test_other_indices_of_the_same_shape_do_not_compile():
    t = Tensor(X)
    device = realta.plugins.open_device("reference:0")
    for n in (0, 1):
        t[[n, 1], n, 1 - n]
        t[[n, 1 - n], n] = 0.3 + n
    before = device.programs.stats().misses
    for n in range(3):
        assert_same_bits(Tensor(X)[[0, 1], n, [n, 0]], X[[0, 1], n, [n, 0]].copy())
        t[[1, n % 2], n] = 3.3 + n
    assert device.programs.stats().misses - before <= 1


def test_symbolic_extents_beside_arrays():
    compiled = realta.compile(lambda t: (t[:, [0, -1]], t[..., [1, 2], [0, 1]], t[:, None, [1]]))(
        realta.TensorType(float32, ("batch", 3, 3), "reference:0")
    )
    for batch in (1, 4):
        x = np.arange(9.0 * batch, dtype=np.float32).reshape(batch, 3, 3)
        first, second, third = compiled(Tensor(x))
        assert_same_bits(first, x[:, [0, -1]].copy())
        assert_same_bits(second, x[..., [1, 2], [0, 1]].copy())
        assert_same_bits(third, x[:, None, [1]].copy())
    with pytest.raises(ShapeError, match="symbolic extent batch"):
        realta.compile(lambda t: t[[0]])(realta.TensorType(float32, ("batch", 3), "reference:0"))
