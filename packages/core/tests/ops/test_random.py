"""Random bits: Random123's own test vectors, and the lanes of spec 6."""

import numpy as np
import pytest
from realta.errors import DTypeError, ShapeError
from realta.ops import get_op
from realta.ops.philox import philox_block
from realta.types import TensorType, float32, uint32, uint64

VECTORS = (
    # counter, key, words: kat_vectors of Random123, philox4x32 with 10 rounds
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


@pytest.mark.parametrize(("counter", "key", "words"), VECTORS)
def test_published_vectors(counter, key, words):
    block = tuple(np.array([word], np.uint64) for word in counter)
    assert tuple(philox_block(block, key)[0].tolist()) == words


def scalar_philox(counter, key):
    """The algorithm once more, one block at a time in Python integers."""
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k[1], a & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


STATE = np.array([7, 8, 9, 10], np.uint32)


def test_element_i_is_lane_i_mod_4_of_block_i_div_4(call):
    found = call("philox_bits", STATE, shape=(2, 9), dtype=uint32, device="").reshape(-1)
    expected = [scalar_philox((i // 4, 0, 7, 8), (9, 10))[i % 4] for i in range(18)]
    assert found.tolist() == expected


def test_64_bit_elements_take_two_lanes_low_first(call):
    found = call("philox_bits", STATE, shape=(5,), dtype=uint64, device="")
    for i, word in enumerate(found.tolist()):
        lanes = scalar_philox((i // 2, 0, 7, 8), (9, 10))[2 * (i % 2) :][:2]
        assert word == lanes[0] + (lanes[1] << 32)


def test_shapes_are_prefixes_of_one_stream(call):
    long = call("philox_bits", STATE, shape=(33,), dtype=uint32, device="")
    for size in (0, 1, 3, 17):
        short = call("philox_bits", STATE, shape=(size,), dtype=uint32, device="")
        assert short.tolist() == long[:size].tolist()
    assert call("philox_bits", STATE, shape=(), dtype=uint32, device="") == long[0]


def test_operand_and_dtype_are_checked():
    op = get_op("philox_bits")
    attrs = op.make_attrs({"shape": (2,), "dtype": uint32})
    with pytest.raises(ShapeError, match=r"the state has the shape \(2,\), not \(4,\)"):
        op.result_types((TensorType(uint32, (2,)),), attrs)
    with pytest.raises(DTypeError, match="the state must be uint32, got uint64"):
        op.result_types((TensorType(uint64, (4,)),), attrs)
    attrs = op.make_attrs({"shape": (2,), "dtype": float32})
    with pytest.raises(DTypeError, match="makes uint32 or uint64, not float32"):
        op.result_types((TensorType(uint32, (4,)),), attrs)
