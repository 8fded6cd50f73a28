"""group_norm: each group by itself, in all modes, within the bound, refusals."""

import numpy as np
import pytest
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.types import BY_NAME, as_dtype


@pytest.mark.usefixtures("each_device")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_group_norm(modes, dtype):
    random = np.random.default_rng(0)
    x, weight, bias = (
        random.normal(size=shape).astype(BY_NAME[dtype].numpy) for shape in ((2, 6, 5, 7), 6, 6)
    )
    found = modes(lambda *t: F.group_norm(*t, 3, 1e-3), x, weight, bias)
    wide = [v.astype(np.float64) for v in (x, weight, bias)]
    groups = wide[0].reshape(2, 3, 70)
    spread = groups.var(axis=2, keepdims=True) + 1e-3
    scaled = ((groups - groups.mean(axis=2, keepdims=True)) / np.sqrt(spread)).reshape(x.shape)
    expected = scaled * wide[1][:, None, None] + wide[2][:, None, None]
    attrs = {"groups": 3, "eps": 1e-3}
    allowed = allowance(get_op("group_norm"), wide, attrs, expected, as_dtype(dtype))
    assert (np.abs(found.astype(np.float64) - expected) <= allowed).all()


def test_parameters_may_be_left_out():
    x = Tensor(np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32))
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    plain = F.group_norm(x, num_groups=2).numpy()
    np.testing.assert_array_equal(plain, F.group_norm(x, ones, zeros, 2).numpy())
    assert F.group_norm(Tensor(np.arange(8).reshape(2, 4))).shape == (2, 4)


@pytest.mark.parametrize(
    ("error", "shape", "args", "message"),
    [
        (ShapeError, (4,), (), "group_norm of f32[4]"),
        (ShapeError, (2, 4), (np.ones(3),), "a parameter of shape (3,) for 4 channels"),
        (ShapeError, (2, 4), (None, None, 3), "4 channels do not divide into 3 groups"),
        (ArgumentError, (2, 4), (None, None, 0), "num_groups=0"),
        (ArgumentError, (2, 4), (None, None, True), "num_groups=True"),
    ],
)
def test_refusals(error, shape, args, message):
    with pytest.raises(error) as found:
        F.group_norm(Tensor(np.ones(shape, np.float32)), *args)
    assert message in str(found.value)
    assert found.value.fix
