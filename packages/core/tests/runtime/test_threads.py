import pytest
from realta.errors import ArgumentError
from realta.runtime import num_threads, on_thread_count, set_num_threads
from realta.runtime import threads as module


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(module, "_chosen", {})
    monkeypatch.setattr(module, "_listeners", [])
    monkeypatch.delenv("REALTA_NUM_THREADS", raising=False)


def test_the_environment_says_how_many(monkeypatch):
    monkeypatch.setenv("REALTA_NUM_THREADS", "3")
    assert num_threads() == 3


def test_what_is_set_counts_and_listeners_hear_of_it():
    heard = []
    on_thread_count(heard.append)
    set_num_threads(5)
    assert (num_threads(), heard) == (5, [5])


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "2"])
def test_what_is_no_count_is_refused(count):
    with pytest.raises(ArgumentError, match="a number of threads is an int >= 1"):
        set_num_threads(count)


def test_a_bad_variable_is_named(monkeypatch):
    monkeypatch.setenv("REALTA_NUM_THREADS", "many")
    with pytest.raises(ArgumentError) as caught:
        num_threads()
    assert caught.value.where == "REALTA_NUM_THREADS"


def test_a_control_group_limits_the_default(monkeypatch, tmp_path):
    quota = tmp_path / "cpu.max"
    monkeypatch.setattr(module, "_CGROUP", quota)
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    quota.write_text("300000 100000\n")
    assert num_threads() == 3
    module._chosen.clear()
    quota.write_text("max 100000\n")
    assert num_threads() == 8
