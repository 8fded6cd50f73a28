"""Random bits: the published vectors, lanes in order, the same bits in any block."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.runtime import num_threads, set_num_threads
from realta.types import tensor_type, uint32, uint64
from realta_numpy.philox import _lanes


def _bits(runner, state, shape, dtype):
    builder = Builder()
    operand = builder.input(tensor_type(uint32, (4,)))
    graph = builder.finish(builder.philox_bits(operand, shape=shape, dtype=dtype, device=""))
    return runner.run(graph, [np.array(state, np.uint32)])[0]


# kat_vectors of Random123: counter, key, result of philox4x32 with 10 rounds.
VECTORS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "expected"), VECTORS)
def test_published_vectors(counter, key, expected):
    block = counter[0] | counter[1] << 32
    lanes = _lanes(block, 1, [counter[2], counter[3], *key])
    assert lanes[0].tolist() == list(expected)


def test_elements_are_lanes_in_order(runner):
    assert tuple(_bits(runner, (0, 0, 0, 0), (4,), uint32)) == VECTORS[0][2]
    wide = _bits(runner, (1, 2, 3, 4), (2, 501), uint64).reshape(-1)
    narrow = _bits(runner, (1, 2, 3, 4), (2004,), uint32).astype(np.uint64)
    assert np.array_equal(wide, narrow[0::2] | narrow[1::2] << np.uint64(32))


@pytest.mark.parametrize("count", [0, 1, 3, 5, 65_537, 300_001])
def test_a_part_is_the_beginning_of_the_whole(count, runner):
    whole = _bits(runner, (9, 8, 7, 6), (300_001,), uint32)
    before = num_threads()
    for number in (1, 2, 5):
        set_num_threads(number)
        try:
            assert np.array_equal(_bits(runner, (9, 8, 7, 6), (count,), uint32), whole[:count])
        finally:
            set_num_threads(before)
