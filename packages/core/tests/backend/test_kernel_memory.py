"""Memory inside runs: cells are shared by what is never needed at once; one arena for all runs."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.backend.kernel_memory import Span, Workspace, share_cells
from realta.fusion import Limits

SPANS = st.lists(
    st.tuples(st.integers(1, 500), st.integers(0, 20), st.integers(0, 20)).map(
        lambda t: Span(t[0], min(t[1:]), max(t[1:]))
    ),
    max_size=30,
)


def test_values_one_after_the_other_share_a_cell():
    cells, sizes = share_cells([Span(8, 0, 1), Span(8, 1, 2), Span(8, 2, 3), Span(8, 3, 4)])
    assert len(sizes) == 2
    assert cells[0] == cells[2]
    assert cells[1] == cells[3]


def test_a_value_is_not_overwritten_by_the_step_that_reads_it():
    cells, sizes = share_cells([Span(8, 0, 1), Span(8, 1, 1)])
    assert cells[0] != cells[1]
    assert sizes == [8, 8]


def test_the_smallest_cell_that_fits_is_taken():
    spans = [Span(100, 0, 1), Span(10, 0, 1), Span(9, 2, 3), Span(90, 2, 3)]
    cells, sizes = share_cells(spans)
    assert sizes == [100, 10]
    assert cells == [0, 1, 1, 0]


def test_a_cell_grows_rather_than_a_new_one_being_made():
    _, sizes = share_cells([Span(10, 0, 1), Span(100, 2, 3)])
    assert sizes == [100]


def test_nothing_needs_nothing():
    assert share_cells([]) == ([], [])


@given(SPANS)
def test_no_two_values_that_live_at_once_share_a_cell(spans):
    cells, sizes = share_cells(spans)
    assert len(cells) == len(spans)
    assert sizes == sorted(sizes, reverse=True)
    for n, one in enumerate(spans):
        assert one.nbytes <= sizes[cells[n]]
        for m, other in enumerate(spans[:n]):
            if cells[n] == cells[m]:
                assert one.last < other.first or other.last < one.first


class Buffers:
    """Counts buffers; slices remember what they are cut from."""

    def __init__(self, *, can_slice, most=1 << 20):
        self.can_slice = can_slice
        self.limits = Limits(alignment=128)
        self.live = []
        self.most = most

    def allocate(self, nbytes):
        if nbytes > self.most:
            raise MemoryError
        handle = np.empty(nbytes, np.uint8)
        self.live.append(handle)
        return handle

    def free(self, handle):
        self.live = [other for other in self.live if other is not handle]

    def slice(self, handle, offset, nbytes):
        return SimpleNamespace(base=handle, offset=offset, nbytes=nbytes)


def test_one_arena_is_cut_into_aligned_cells():
    session = Buffers(can_slice=True)
    workspace = Workspace(session)
    handles = workspace.bind(1, [300, 100, 4])
    assert [h.offset for h in handles] == [0, 384, 512]
    assert len(session.live) == 1
    assert workspace.nbytes == 640


def test_executables_use_the_same_memory_until_it_grows():
    session = Buffers(can_slice=True)
    workspace = Workspace(session)
    workspace.bind(1, [1000])
    arena = session.live[0]
    (second,) = workspace.bind(2, [500])
    assert second.base is arena
    assert set(workspace.bound) == {1, 2}
    workspace.bind(3, [2000])
    assert set(workspace.bound) == {3}, "handles into memory that was given up"
    assert len(session.live) == 1


def test_without_slices_each_rank_has_a_buffer():
    session = Buffers(can_slice=False)
    workspace = Workspace(session)
    first = workspace.bind(1, [1000, 10])
    second = workspace.bind(2, [500, 8])
    assert first[0] is second[0]
    assert first[1] is second[1]
    workspace.bind(3, [500, 400])
    assert [handle.size for handle in session.live] == [1000, 400]


@pytest.mark.parametrize("can_slice", [True, False])
def test_memory_that_does_not_fit_changes_nothing(can_slice):
    session = Buffers(can_slice=can_slice, most=4000)
    workspace = Workspace(session)
    workspace.bind(1, [1000])
    with pytest.raises(MemoryError):
        workspace.bind(2, [5000])
    assert set(workspace.bound) == {1}
    assert len(session.live) == 1


def test_clear_gives_all_back():
    session = Buffers(can_slice=False)
    workspace = Workspace(session)
    workspace.bind(1, [1000, 10])
    workspace.forget(7)
    workspace.clear()
    assert session.live == []
    assert workspace.bound == {}
    assert workspace.nbytes == 0


def test_no_cells_need_no_memory():
    session = Buffers(can_slice=True)
    assert Workspace(session).bind(1, []) == []
    assert session.live == []
