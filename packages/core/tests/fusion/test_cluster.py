from itertools import pairwise

from realta.fusion.cluster import NO_READER, Cluster, find, united
from realta.fusion.space import Space

SPACE = Space("elementwise", (4,))


def test_a_union_is_as_deep_as_the_deeper_and_bounded_by_the_nearer_reader():
    one, other = Cluster(SPACE, None, 1), Cluster(SPACE, None, 4)
    other.size = 5
    one.read_at(8)
    one.read_at(7)
    other.read_at(9)
    both = united(one, other, SPACE)
    assert find(one) is find(other) is both is other
    assert (both.depth, both.bound, both.size) == (4, 7, 6)


def test_a_long_row_of_unions_is_found_without_recursion():
    clusters = [Cluster(SPACE, None, 0) for _ in range(20_000)]
    for one, other in pairwise(clusters):
        one.parent = other
    assert find(clusters[0]) is clusters[-1]
    assert clusters[0].bound == NO_READER
