"""Basic indexing, read and written, against NumPy in all modes."""

import numpy as np
import pytest
import realta
from hypothesis import given, settings
from hypothesis import strategies as st
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.testing import assert_same_bits

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
KEYS = [
    0, -1, (0, 1), (1, -3, 2), slice(None), slice(1, None), slice(None, -1), slice(None, None, 2),
    slice(None, None, -1), slice(2, 0, -1), slice(-1, -4, -2), slice(5, None), slice(0, 100),
    slice(2, 1), slice(-100, 1), slice(1, 1, -1), (slice(1), 2), (slice(None), slice(0, 3, 2), -1),
    Ellipsis, (Ellipsis, 0), (0, Ellipsis), (Ellipsis, slice(1, 3), 0), (0, Ellipsis, 1),
    None, (None, 0), (0, None), (Ellipsis, None), (None, Ellipsis, None, 1), (None, None), (),
    (0, 0, 0), (slice(None, None, -1), slice(None, None, -2), slice(None, None, -3)),
    (1, None, slice(0, 0)), np.int64(1), (np.int8(-1), np.array(2)), slice(np.int64(1), None),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_read(modes, key):
    assert_same_bits(modes(lambda t: t[key], X), X[key].copy())


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_write(modes, key):
    wanted = X.copy()
    wanted[key] = -wanted[key] - 0.25

    def body(t):
        u = +t
        u[key] = -t[key] - 0.25
        return u

    assert_same_bits(modes(body, X), wanted)
    # The second store of a kind runs the remembered program, in place.
    t = Tensor(X)
    for value in (1.0, 2.5, 3.5, -0.0):
        t[key] = value
        wanted[key] = value
    check = X.copy()
    check[key] = -0.0
    assert_same_bits(t, check)


index = st.one_of(
    st.integers(-5, 5), st.none(), st.just(Ellipsis),
    st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.none() | st.integers(-3, 3)),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    shape=st.lists(st.integers(0, 4), max_size=3).map(tuple),
    key=st.lists(index, max_size=5).map(tuple),
)
def test_any_basic_key_is_numpys(shape, key):
    x = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    t = Tensor(x)
    try:
        expected = x[key].copy()
    except (IndexError, ValueError):
        with pytest.raises((IndexBoundsError, ArgumentError)) as caught:
            t[key]
        assert caught.value.where
        assert caught.value.fix
        return
    assert_same_bits(t[key], expected)
    t[key] = 7
    x[key] = 7
    assert_same_bits(t, x)


def test_zero_dimensional():
    t = Tensor(3.0)
    assert t[...].item() == 3.0
    assert t[()].item() == 3.0
    assert t[None].tolist() == [3.0]
    t[...] = 4.0
    t[()] = 5.0
    assert t.item() == 5.0
    for key in (0, slice(None), (None, 0)):
        with pytest.raises(IndexBoundsError, match="too many indices: 1 for a tensor of 0 axes"):
            t[key]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (2, "index 2 is out of bounds for axis 0 of extent 2"),
        (-3, "index -3 is out of bounds for axis 0"),
        ((0, 3), "index 3 is out of bounds for axis 1 of extent 3"),
        ((Ellipsis, -5), "index -5 is out of bounds for axis 2"),
        ((0, 0, 0, 0), "too many indices: 4 for a tensor of 3 axes"),
    ],
)
def test_out_of_range_raises_at_the_call(key, text):
    t = Tensor(X)
    for call in (lambda: t[key], lambda: t.__setitem__(key, 0.0)):
        with pytest.raises(IndexBoundsError, match=text) as caught:
            call()
        assert "test_indexing.py" in caught.value.where
    with realta.lazy(), pytest.raises(IndexError):
        t[key]
    assert_same_bits(t, X)


def test_an_empty_axis_has_no_index():
    with pytest.raises(IndexBoundsError, match="axis 0 of extent 0") as caught:
        F.zeros((0, 3))[0]
    assert caught.value.fix == "the axis is empty"


@pytest.mark.parametrize(
    "key",
    [1.5, "a", slice(1.5, None), slice(None, None, 0), (0, 2.0), slice("a"), (..., ...)],
    ids=str,
)
def test_keys_that_are_none(key):
    t = Tensor(X)
    for call in (lambda: t[key], lambda: t.__setitem__(key, 0.0)):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert "test_indexing.py" in caught.value.where
        assert caught.value.fix


def test_rows_are_read_by_one_program():
    t = Tensor(np.arange(64.0).reshape(8, 8))
    before = realta.plugins.open_device("reference:0").programs.stats()
    rows = [t[n] for n in range(8)] + [t[-n - 1] for n in range(8)]
    after = realta.plugins.open_device("reference:0").programs.stats()
    assert [r[0].item() for r in rows] == [8.0 * n for n in range(8)] + [
        56.0 - 8.0 * n for n in range(8)
    ]
    assert after.misses - before.misses <= 3


def test_a_slice_is_no_alias():
    t = Tensor(X)
    for part in (t[0], t[:, 1:], t[...], t[::-1], t.reshape(24), t.T):
        kept = part.numpy(copy=True)
        t[...] = t + 1.0
        assert_same_bits(part, kept)


class TestTensorsAsIndex:
    """A 0-d integer tensor is an index whose value need not be known."""

    def test_read(self, modes):
        place = np.int64(1)
        assert_same_bits(modes(lambda t, i: t[i], X, place), X[1])
        assert_same_bits(modes(lambda t, i: t[:, i], X, place), X[:, 1])
        assert_same_bits(modes(lambda t, i: t[i, ..., -1], X, place), X[1, :, -1])
        assert_same_bits(modes(lambda t, i: t[i, i, i], X, place), X[1, 1, 1])
        assert_same_bits(modes(lambda t, i: t[None, i, None, ::2], X, place), X[None, 1, None, ::2])
        assert_same_bits(modes(lambda t, i: t[i], X, np.int32(-1)), X[-1])
        assert_same_bits(modes(lambda t, i: t[i], X, np.uint8(1)), X[1])

    def test_write(self, modes):
        def body(t, i, v):
            u = +t
            u[:, i] = v
            u[i, 0, ::2] = 7.0
            return u

        wanted = X.copy()
        wanted[:, 1] = np.arange(4)
        wanted[1, 0, ::2] = 7.0
        assert_same_bits(modes(body, X, np.int64(1), np.arange(4.0, dtype=np.float32)), wanted)

    def test_one_program_serves_every_value(self):
        compiled = realta.compile(lambda t, i: t[i])(
            Tensor(X).type, realta.TensorType("int64", (), "reference:0")
        )
        for n in (0, 1, -1):
            assert_same_bits(compiled(Tensor(X), Tensor(n)), X[n])

    def test_out_of_range_raises_at_the_next_wait(self):
        t, place = Tensor(X), Tensor(7)
        for value in (t[place], F.functional(lambda a, i: a[i] + 1)(t, place)):
            with pytest.raises(
                IndexBoundsError, match="index 7 is out of bounds for axis 0"
            ) as caught:
                value.numpy()
            assert "test_indexing.py" in caught.value.where
        with realta.lazy():
            pending = t[:, Tensor(-4)]
        with pytest.raises(IndexBoundsError, match="index -4 is out of bounds for axis 1"):
            pending.numpy()
        assert_same_bits(t, X)

    def test_two_positions(self, modes):
        def body(t, i, j):
            u, v = +t, +t
            u[i, j] = 7.0
            v[i, :, j] = 1.0
            return u, v

        expected = [X.copy(), X.copy()]
        expected[0][1, 2], expected[1][1, :, 2] = 7.0, 1.0
        found = modes(body, X, np.int64(1), np.int64(2))
        for result, wanted in zip(found, expected, strict=True):
            assert_same_bits(result, wanted)


class TestStores:
    def test_values_broadcast(self, modes):
        row = np.array([1, 2, 3, 4], np.float32)
        column = np.array([[1], [2], [3]], np.float32)

        def body(t, r, c):
            u, v, w = +t, +t, +t
            u[0] = r
            v[1:] = c
            w[..., 0] = r[0]
            return u, v, w

        expected = [X.copy() for _ in range(3)]
        expected[0][0], expected[1][1:], expected[2][..., 0] = row, column, 1
        for result, wanted in zip(modes(body, X, row, column), expected, strict=True):
            assert_same_bits(result, wanted)

    def test_values_that_do_not_fit_change_nothing(self):
        t = Tensor(X)
        same = t
        for key, value in (
            (0, np.ones(5)),
            (slice(1), np.ones((2, 3, 4))),
            ((0, 0, 0), np.ones(2)),
        ):
            with pytest.raises(ShapeError, match="does not fit a slice") as caught:
                t[key] = value
            assert "store into f32[2,3,4]" in caught.value.where
        assert same is t
        assert_same_bits(t, X)
        t[0] = 1.0
        assert t[0].tolist() == np.ones((3, 4)).tolist()

    def test_values_take_the_dtype(self):
        t = Tensor([1, 2, 3], dtype="int8")
        t[0] = 2.0
        t[1] = True
        t[2] = Tensor(7.9)
        assert t.tolist() == [2, 1, 7]
        assert t.dtype is realta.int8
        for value, kind in ((300, OverflowError), (0.5, DTypeError), (float("nan"), DTypeError)):
            with pytest.raises(kind):
                t[0] = value
        assert t.tolist() == [2, 1, 7]

    def test_other_numbers_do_not_compile(self):
        t = F.zeros((4, 4))
        t[1:, 0] = 0.125
        before = realta.plugins.open_device("reference:0").programs.stats()
        for n in range(10):
            t[1:, 0] = 0.3 + n
        assert realta.plugins.open_device("reference:0").programs.stats().misses == before.misses
        assert t[1, 0].item() == pytest.approx(9.3)

    def test_the_handle_moves_and_nothing_else(self):
        t = Tensor([1, 2, 3])
        other, view, later = +t, t[:2], t + 10
        t[:1] = 9
        assert t.tolist() == [9, 2, 3]
        assert [other.tolist(), view.tolist(), later.tolist()] == [[1, 2, 3], [1, 2], [11, 12, 13]]

    @pytest.mark.parametrize("repeat", range(3))
    def test_overlapping_stores_read_the_old_value(self, repeat):
        d = F.arange(6)
        d[1:] += d[:-1]
        assert d.tolist() == [0, 1, 3, 5, 7, 9]
        d = F.arange(4)
        d[::-1] = d
        assert d.tolist() == [3, 2, 1, 0]
        x = F.arange(10000).reshape((100, 100))
        x += x.T
        assert F.sum(x).item() == 99990000

    def test_a_store_with_a_step_lands(self):
        t = Tensor([0, 0, 0, 0, 0])
        t.realize()
        t[::2] = 1
        assert t.tolist() == [1, 0, 1, 0, 1]

    def test_a_lazy_reader_keeps_what_it_read(self):
        x = Tensor([1, 2])
        with realta.lazy():
            reader = x + 10
        x[:1] = 9
        assert reader.tolist() == [11, 12]
        with realta.lazy():
            y = x * 1
            early = y + 1
            y[0] = 0
            late = y + 1
        assert (early.tolist(), late.tolist()) == ([10, 3], [1, 3])

    def test_buffer_store(self):
        t = Tensor([[1, 2], [3, 4]])
        F.buffer_store(t, Tensor([5, 6]))
        assert t.tolist() == [[5, 6], [5, 6]]
        F.buffer_store_slice(t, 0, [slice(None), 1])
        assert t.tolist() == [[5, 0], [5, 0]]
        assert F.slice_tensor(t, [0, slice(None)]).tolist() == [5, 0]


class TestMasks:
    def test_write(self, modes):
        mask = X % 3 == 0
        rows = np.array([True, False])

        def body(t, m, r):
            u, v, w = +t, +t, +t
            u[m] = -1.0
            v[r] = t[0, 0]
            w[m[..., 0]] = 2.5
            return u, v, w

        expected = [X.copy() for _ in range(3)]
        expected[0][mask], expected[1][rows], expected[2][mask[..., 0]] = -1, X[0, 0], 2.5
        for result, wanted in zip(modes(body, X, mask, rows), expected, strict=True):
            assert_same_bits(result, wanted)

    def test_arrays_and_lists_of_bools(self):
        t = Tensor([1, 2, 3])
        t[np.array([True, False, True])] = 0
        t[[False, True, False]] = 9
        assert t.tolist() == [0, 9, 0]
        for truth, value in ((False, [[5, 5, 5]]), (True, [[1, 2, 3]])):
            t[Tensor(truth)] = np.array(value)
        assert t.tolist() == [1, 2, 3]

    def test_a_value_for_each_element(self):
        t = Tensor([[1, 2], [3, 4]])
        t[Tensor([[True, False], [True, False]])] = Tensor([7, 8])
        assert t.tolist() == [[7, 2], [8, 4]]
        with pytest.raises(ShapeError, match="does not fit"):
            t[Tensor([True, False, True])] = 0
        t[Tensor([True, False])] = Tensor([7, 9])
        assert t.tolist() == [[7, 9], [8, 4]]
