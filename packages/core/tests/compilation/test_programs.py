"""Programs for many extents: bounded, the least recently used go, said once (corpus G7)."""

import pytest
from realta import F, TensorType, compile
from realta.compilation import programs

SYMBOLIC = TensorType("float32", ("n",))


@pytest.fixture
def specialized(monkeypatch):
    """The extents that graphs were specialized for since it was emptied."""
    found = []
    original = programs.specialize

    def note(graph, names):
        found.append(names["n"])
        return original(graph, names)

    monkeypatch.setattr(programs, "specialize", note)
    return found


def test_the_least_recently_used_goes(specialized):
    compiled = compile(lambda x: {"y": x + 1})(SYMBOLIC)
    for extent in range(64):
        compiled(F.zeros(extent))
    assert specialized == list(range(64))
    specialized.clear()
    compiled(F.zeros(0))
    with pytest.warns(RuntimeWarning, match="more than 64 sets of extents") as caught:
        compiled(F.zeros(100))
    assert caught[0].filename == __file__
    compiled(F.zeros(0))
    assert specialized == [100]
    compiled(F.zeros(1))
    assert specialized == [100, 1]
    assert len(compiled._programs._found) == 64


def test_g7_two_thousand_lengths(specialized):
    compiled = compile(lambda x: x + 1, name="plus")(SYMBOLIC)

    def call():
        return [compiled(F.zeros(extent)).shape for extent in range(2000)]

    with pytest.warns(RuntimeWarning) as caught:
        shapes = call()
    assert shapes == [(extent,) for extent in range(2000)]
    assert len(caught) == 1
    assert str(caught[0].message).startswith("plus was called with more than 64 sets of extents")
    assert len(compiled._programs._found) == 64
    assert len(compiled._quick) == 64
    specialized.clear()
    compiled(F.zeros(1999))
    assert specialized == []
