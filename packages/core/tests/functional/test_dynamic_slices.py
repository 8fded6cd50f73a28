"""Windows stored at run-time places: one program for all, in place, checked or clamped."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.plugins import open_device

X = np.arange(12, dtype=np.float32).reshape(4, 3)
NEW = np.array([[10.0, 20.0]], np.float32)


def placed(row, column):
    found = X.copy()
    found[row : row + 1, column : column + 2] = NEW
    return found


@pytest.fixture(params=["reference", "numpy"])
def programs(request):
    with realta.default_device(request.param):
        yield open_device(f"{request.param}:0").programs


@pytest.mark.parametrize("row", [0, 2, 3, -1, -4])
def test_a_window_at_known_and_unknown_places_in_every_mode(modes, row):
    wanted = placed(row % 4, 1)
    known = modes(lambda x, new: F.dynamic_update_slice(x, new, (row, 1)), X, NEW)
    np.testing.assert_array_equal(known, wanted)

    def unknown(x, new, row):
        return F.dynamic_update_slice(x, new, (row, 1))

    np.testing.assert_array_equal(modes(unknown, X, NEW, np.int64(row)), wanted)
    np.testing.assert_array_equal(modes(unknown, X, NEW, np.int32(row)), wanted)


@pytest.mark.parametrize("row", [-9, -5, 4, 9])
def test_clip_moves_the_window_inside(modes, row):
    wanted = placed(0 if row < 0 else 3, 1)

    def clipped(x, new, row):
        return F.dynamic_update_slice(x, new, (row, 1), mode="clip")

    np.testing.assert_array_equal(modes(clipped, X, NEW, np.int64(row)), wanted)
    known = F.dynamic_update_slice(Tensor(X), Tensor(NEW), (row, 1), mode="clip")
    np.testing.assert_array_equal(known.numpy(), wanted)


def test_all_places_share_a_program(programs):
    x, new = Tensor(X), Tensor(NEW)
    F.dynamic_update_slice(x, new, (1, 1))
    F.dynamic_update_slice(x, new, (Tensor(1), Tensor(1)))
    before = programs.stats().misses
    for row in range(4):
        for column in range(2):
            wanted = placed(row, column)
            for places in ((row, column), (Tensor(row), Tensor(column))):
                found = F.dynamic_update_slice(x, new, places)
                np.testing.assert_array_equal(found.numpy(), wanted)
    assert programs.stats().misses == before


def test_a_window_that_leaves_raises():
    x, new = Tensor(X), Tensor(NEW)
    with pytest.raises(IndexBoundsError, match="a window of length 2 at 2 leaves axis 1 of ext"):
        F.dynamic_update_slice(x, new, (0, 2))
    with pytest.raises(IndexBoundsError, match="a window of length 1 at -5 leaves axis 0"):
        F.dynamic_update_slice(x, new, (-5, 0))
    for places, text in (
        ((Tensor(4), 0), "index 4 is out of bounds for axis 0 with size 4"),
        ((Tensor(-5), 0), "index -5 is out of bounds for axis 0 with size 4"),
        ((0, Tensor(2)), "index 3 is out of bounds for axis 1 with size 3"),
    ):
        found = F.dynamic_update_slice(x, new, places)
        with pytest.raises(IndexBoundsError, match=text) as caught:
            found.numpy()
        assert "dynamic_update_slice(f32[4,3]" in str(caught.value)
        assert "test_dynamic_slices.py" in str(caught.value)


def test_edges():
    x = Tensor(X)
    empty = Tensor(np.zeros((0, 3), np.float32))
    assert F.dynamic_update_slice(x, empty, (Tensor(99), 0)).tolist() == X.tolist()
    assert F.dynamic_update_slice(Tensor(1.0), Tensor(2.0), ()).item() == 2
    assert F.dynamic_update_slice(x, Tensor(-X), (Tensor(0), 0)).tolist() == (-X).tolist()
    ints = F.dynamic_update_slice(Tensor([1, 2, 3]), Tensor([7.9]), (1,))
    assert ints.tolist() == [1, 7, 3]


def test_wrong_arguments():
    x, new = Tensor(X), Tensor(NEW)
    with pytest.raises(ShapeError, match=r"a window of shape \(5, 3\) does not fit f32\[4,3\]"):
        F.dynamic_update_slice(x, Tensor(np.zeros((5, 3), np.float32)), (0, 0))
    with pytest.raises(ShapeError, match=r"a window of shape \(2,\) does not fit"):
        F.dynamic_update_slice(x, new[0], (0, 0))
    with pytest.raises(ArgumentError, match=r"1 start\(s\) are given for 2 axes"):
        F.dynamic_update_slice(x, new, 0)
    with pytest.raises(DTypeError, match="start 0 is float, which is no integer"):
        F.dynamic_update_slice(x, new, (1.0, 0))
    with pytest.raises(DTypeError, match=r"start 0 is f32\[\]"):
        F.dynamic_update_slice(x, new, (Tensor(1.0), 0))
    with pytest.raises(ArgumentError, match="dynamic_update_slice has no mode 'wrap'"):
        F.dynamic_update_slice(x, new, (0, 0), mode="wrap")


def test_plain_stores_that_move_share_a_program():
    programs = open_device("numpy:0").programs
    t = F.zeros((50, 4), device="numpy").realize()
    row = Tensor(np.ones((2, 3), np.float32), device="numpy")
    for n in range(4):
        t[n : n + 2, 1:] = row
    before = programs.stats().misses
    for n in range(4, 40):
        t[n : n + 2, 1:] = row * 1 if n == 4 else row
    assert programs.stats().misses <= before + 1  # row * 1
    for n in range(20):
        t[n, :2] = float(n)
    before = programs.stats().misses
    for n in range(20, 40):
        t[n, :2] = float(n)
    assert programs.stats().misses == before
    wanted = np.zeros((50, 4), np.float32)
    wanted[:41, 1:] = 1
    wanted[:40, :2] = np.arange(40)[:, None]
    np.testing.assert_array_equal(t.numpy(), wanted)


def test_plain_stores_that_move_are_in_place():
    t = F.zeros((1000, 1000), device="numpy").realize()
    row = Tensor(np.ones((1, 1000), np.float32), device="numpy")

    def address():
        return t.numpy().__array_interface__["data"][0]

    first = address()
    for n in range(6):
        t[n : n + 1] = row
        assert address() == first
    held = t.numpy()
    t[9:10] = row
    assert held[9, 0] == 0
    assert address() != first
