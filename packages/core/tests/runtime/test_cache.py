import pytest
from realta.runtime import ExecutableCache


class Thing:
    """Stands for a program: the cache looks at keys only."""


def test_the_least_recently_used_goes_first():
    cache = ExecutableCache(limit=2)
    first = cache.get_or_make("a", Thing)
    cache.get_or_make("b", Thing)
    assert cache.find("a") is first
    cache.get_or_make("c", Thing)
    assert cache.find("b") is None
    assert cache.find("a") is first
    stats = cache.stats()
    assert (stats.entries, stats.limit, stats.misses, stats.evictions) == (2, 2, 3, 1)


def test_hits_are_counted():
    cache = ExecutableCache()
    cache.get_or_make("a", Thing)
    cache.find("a")
    cache.get_or_make("a", Thing)
    assert cache.stats().hits == 2


def test_a_failure_is_not_kept():
    cache = ExecutableCache()
    with pytest.raises(ZeroDivisionError):
        cache.get_or_make("a", lambda: 1 / 0)
    made = Thing()
    assert cache.get_or_make("a", lambda: made) is made
    assert cache._making == {}


def test_clear_forgets():
    cache = ExecutableCache()
    cache.get_or_make("a", Thing)
    cache.clear()
    assert cache.find("a") is None
