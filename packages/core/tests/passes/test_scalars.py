import numpy as np
import pytest
from realta.passes.scalars import is_number, splat
from realta.types import bool_, float32, int8, uint8


def test_a_splat_is_seen_through_rearrangements(write):
    b, x = write(f32=(2, 3))
    value = b.permute(b.reshape(b.const(2.5, like=x), shape=(3, 2)), axes=(1, 0))
    assert splat(value) == np.float32(2.5)
    assert splat(value).dtype == np.float32


def test_values_that_are_not_one_number_are_no_splats(write):
    b, x = write(f32=(2,))
    several = b.constant(np.array([1.0, 1.0]), x.type)
    assert splat(several) is None
    assert splat(x) is None
    assert splat(b.neg(b.const(1.0, like=x))) is None


@pytest.mark.parametrize(
    ("value", "number", "dtype", "same"),
    [
        (0.0, 0, float32, True),
        (-0.0, 0.0, float32, False),
        (-0.0, -0.0, float32, True),
        (-np.inf, "lowest", float32, True),
        (-128, "lowest", int8, True),
        (255, "highest", uint8, True),
        (0, "lowest", uint8, True),
        (True, "highest", bool_, True),
        (1, None, int8, False),
    ],
)
def test_numbers_are_compared_by_their_bits(value, number, dtype, same):
    assert is_number(np.array(value, dtype.numpy), number, dtype) is same
