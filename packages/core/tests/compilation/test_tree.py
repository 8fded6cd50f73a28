"""Trees: nested tuples, lists, dicts, dataclasses and named tuples of leaves."""

import pickle
from dataclasses import dataclass
from typing import NamedTuple

import pytest
from realta import tree
from realta.errors import ArgumentError


class Pair(NamedTuple):
    first: int
    second: int


@dataclass(frozen=True)
class Point:
    x: int
    y: object


TREES = {
    "leaf": 1,
    "none": None,
    "empty": [(), [], {}],
    "nested": [1, (2, {"k": [3]}), Pair(4, 5), Point(6, [7])],
    "dict": {"b": 1, "a": {"d": 2, "c": 3}},
    "numbers": {2: "two", 1: "one"},
}


@pytest.mark.parametrize("name", TREES)
def test_round_trip(name):
    leaves, definition = tree.flatten(TREES[name])
    assert tree.unflatten(definition, leaves) == TREES[name]
    assert definition.count == len(leaves)
    again = pickle.loads(pickle.dumps(definition))
    assert again == definition
    assert tree.unflatten(again, leaves) == TREES[name]


def test_leaves_come_from_left_to_right():
    assert tree.leaves(TREES["nested"]) == [1, 2, 3, 4, 5, 6, 7]
    paths = ["0", "1.0", "1.1.k.0", "2.first", "2.second", "3.x", "3.y.0"]
    assert tree.paths(TREES["nested"]) == paths
    assert tree.paths(5) == [""]


def test_dicts_of_the_same_keys_are_the_same_tree():
    (first, one), (second, two) = tree.flatten({"a": 1, "b": 2}), tree.flatten({"b": 2, "a": 1})
    assert one == two
    assert hash(one) == hash(two)
    assert first == second == [1, 2]
    assert list(tree.unflatten(two, second)) == ["b", "a"]
    assert tree.flatten({"a": 1, "c": 2})[1] != one


def test_map_over_several_trees():
    found = tree.map(lambda a, b: a * b, {"x": 2, "y": [3]}, {"y": [5], "x": 4})
    assert found == {"x": 8, "y": [15]}
    with pytest.raises(ArgumentError, match=r"trees \[\*\] and \(\*,\) differ"):
        tree.map(lambda a, b: a, [1], (1,))
    with pytest.raises(ArgumentError, match="a tree of 2 leaves got 1"):
        tree.unflatten(tree.flatten([1, 2])[1], [1])


def test_depth_is_no_matter():
    value = 1
    for _ in range(20_000):
        value = [value]
    leaves, definition = tree.flatten(value)
    assert leaves == [1]
    back = tree.unflatten(definition, [2])
    for _ in range(20_000):
        (back,) = back
    assert back == 2
