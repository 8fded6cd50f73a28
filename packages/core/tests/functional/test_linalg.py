"""Linear algebra, softmax and norms against float64, within the bounds, in all modes."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.testing import assert_same_bits
from realta.types import BY_NAME, as_dtype

FLOAT_DTYPES = ("float16", "bfloat16", "float32", "float64")


def drawn(dtype, *shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(BY_NAME[dtype].numpy)


def wide(x) -> np.ndarray:
    return np.asarray(x if x.dtype.kind in "biuf" else x.astype(np.float32), np.float64)


def check(name, result, operands, attrs, expected):
    dtype = as_dtype(result.dtype)
    allowed = allowance(
        get_op(name), [wide(o) for o in operands], attrs, np.asarray(expected), dtype
    )
    assert (np.abs(wide(result) - expected) <= allowed).all()


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((5,), (5,)), ((3, 5), (5,)), ((5,), (5, 2)), ((3, 5), (5, 2)), ((4, 3, 5), (5, 2)),
        ((4, 3, 5), (4, 5, 2)), ((1, 3, 5), (4, 5, 2)), ((2, 1, 3, 5), (4, 5, 2)), ((3, 0), (0, 2)),
        ((0, 5), (5, 2)), ((5,), (4, 5, 2)), ((17, 33), (33, 65)),
    ],
)  # fmt: skip
def test_matmul(modes, dtype, x, y):
    a, b = drawn(dtype, *x), drawn(dtype, *y, seed=1)
    result = modes(F.matmul, a, b)
    expected = np.matmul(wide(a), wide(b))
    assert result.shape == expected.shape
    assert as_dtype(result.dtype).name == dtype
    check("matmul", result, [a, b], {}, expected)
    assert (Tensor(a) @ Tensor(b)).shape == expected.shape


def test_matmul_of_integers_wraps(modes):
    x = np.array([[100, 2], [3, 4]], np.int8)
    np.testing.assert_array_equal(modes(F.matmul, x, x), x @ x)
    assert F.matmul(Tensor([[1, 2]]), Tensor([[0.5], [1.0]])).tolist() == [[2.5]]


def test_dot_and_outer(modes):
    x, y = np.array([1.0, 2.0], np.float32), np.array([3.0, 5.0], np.float32)
    dot, outer = modes(lambda a, b: (F.dot(a, b), F.outer(a, b)), x, y)
    assert dot == 13.0
    np.testing.assert_array_equal(outer, np.outer(x, y))


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_linear(modes, dtype):
    x, weight, bias = drawn(dtype, 4, 3), drawn(dtype, 2, 3, seed=1), drawn(dtype, 2, seed=2)
    plain = modes(F.linear, x, weight)
    check("matmul", plain, [x, weight.T], {}, wide(x) @ wide(weight).T)
    with_bias = modes(F.linear, x, weight, bias)
    # The product is rounded, then the sum: two ops.
    expected = (
        plain.astype(np.float32) + bias.astype(np.float32)
        if plain.dtype.itemsize == 2
        else plain + bias
    ).astype(plain.dtype)
    np.testing.assert_array_equal(wide(with_bias), wide(expected))
    assert modes(F.linear, x[0], weight, bias).shape == (2,)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(modes, dtype, axis):
    x = drawn(dtype, 5, 33)
    shifted = wide(x) - wide(x).max(axis=axis, keepdims=True)
    total = np.exp(shifted).sum(axis=axis, keepdims=True)
    attrs = {"axis": axis % 2}
    check("softmax", modes(lambda t: F.softmax(t, axis), x), [x], attrs, np.exp(shifted) / total)
    check(
        "logsoftmax", modes(lambda t: F.logsoftmax(t, axis), x), [x], attrs, shifted - np.log(total)
    )


def test_softmax_of_infinities():
    inf = float("inf")
    assert np.isnan(F.softmax(Tensor([-inf] * 3)).numpy()).all()
    assert np.isnan(F.softmax(Tensor([0.0, inf])).numpy()[1])
    assert F.softmax(Tensor([0.0, -inf])).tolist() == [1.0, 0.0]
    assert F.softmax(Tensor([1, 1])).dtype is realta.float32


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_norms(modes, dtype):
    x, weight, bias = drawn(dtype, 4, 33), drawn(dtype, 33, seed=1), drawn(dtype, 33, seed=2)
    a, w, b = wide(x), wide(weight), wide(bias)
    away = a - a.mean(-1, keepdims=True)
    plain = away / np.sqrt((away**2).mean(-1, keepdims=True) + 1e-5)
    check(
        "layer_norm",
        modes(F.layer_norm, x, weight, bias),
        [x, weight, bias],
        {"eps": 1e-5},
        plain * w + b,
    )
    ones, zeros = np.ones_like(weight), np.zeros_like(bias)
    check("layer_norm", modes(F.layer_norm, x), [x, ones, zeros], {"eps": 1e-5}, plain)
    rms = a / np.sqrt((a**2).mean(-1, keepdims=True) + 1e-6)
    check("rms_norm", modes(F.rms_norm, x, weight), [x, weight], {"eps": 1e-6}, rms * w)
    check("rms_norm", modes(F.rms_norm, x), [x, ones], {"eps": 1e-6}, rms)


def test_epsilon_is_part_of_the_program():
    x = Tensor([1.0, 2.0, 3.0])
    small, large = F.layer_norm(x, None, None, 1e-5), F.layer_norm(x, None, None, 10.0)
    assert small[2].item() > 1.2 > 0.4 > large[2].item()
    assert F.rms_norm(x, None, 1e-6)[0].item() != F.rms_norm(x, None, 10.0)[0].item()


def test_layer_norm_does_not_cancel():
    found = F.layer_norm(Tensor([40000.0, 40001.0, 40002.0, 40003.0])).numpy()
    np.testing.assert_allclose(found, [-1.34164, -0.44721, 0.44721, 1.34164], atol=1e-4)
    assert F.layer_norm(F.full((256,), 1234.0)).numpy().any() is np.False_


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
@pytest.mark.parametrize("causal", [False, True])
def test_attention(modes, dtype, causal):
    q, k, v = drawn(dtype, 2, 5, 4), drawn(dtype, 2, 5, 4, seed=1), drawn(dtype, 2, 5, 3, seed=2)
    for scale in (None, 0.25):
        factor = 0.5 if scale is None else scale
        scores = wide(q) @ wide(k).swapaxes(-1, -2) * factor
        if causal:
            scores = np.where(np.tri(5, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        result = modes(
            lambda a, b, c, s=scale: F.attention(a, b, c, scale=s, causal=causal), q, k, v
        )
        attrs = {"scale": factor, "causal": causal}
        check("attention", result, [q, k, v], attrs, weights @ wide(v))


@pytest.mark.parametrize(
    ("kind", "call", "text"),
    [
        (ShapeError, lambda a, b: F.matmul(a, b), "inner extents"),
        (ShapeError, lambda a, b: F.matmul(a, Tensor(1.0)), "got the shape ()"),
        (ShapeError, lambda a, b: F.dot(a, F.ones((2, 3, 4))), "use matmul"),
        (ShapeError, lambda a, b: F.dot(a, 2.0), "dot of"),
        (ShapeError, lambda a, b: F.outer(a, b), "flatten both"),
        (ShapeError, lambda a, b: F.linear(a, a[0]), "(out, in)"),
        (ShapeError, lambda a, b: F.linear(a, b, F.ones((4,))), "shape (2,)"),
        (ShapeError, lambda a, b: F.linear(a, F.ones((2, 4))), "features"),
        (ShapeError, lambda a, b: F.layer_norm(a, F.ones(2)), "give shape (3,)"),
        (ShapeError, lambda a, b: F.layer_norm(Tensor(1.0)), "0-d"),
        (ShapeError, lambda a, b: F.rms_norm(a, F.ones((2, 3))), "give shape (3,)"),
        (ShapeError, lambda a, b: F.softmax(Tensor(1.0)), "no axes"),
        (ShapeError, lambda a, b: F.attention(a[0], a, a), "(length, head)"),
        (DTypeError, lambda a, b: F.matmul(a > 0, a > 0), "bool"),
        (ArgumentError, lambda a, b: F.gelu(a, "fast"), "no approximation 'fast'"),
    ],
)
def test_errors(kind, call, text):
    a, b = F.ones((2, 3)), F.ones((2, 3))
    with pytest.raises(kind) as caught:
        call(a, b)
    assert text in str(caught.value)
    assert "test_linalg.py" in caught.value.where


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_gelu(modes, dtype):
    from scipy import special

    x = drawn(dtype, 200)
    a = wide(x)
    tanh = 0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))
    truths = {
        "none": 0.5 * a * special.erfc(-a / np.sqrt(2)),
        "tanh": tanh,
        "quick": a / (1 + np.exp(-1.702 * a)),
    }
    for kind, expected in truths.items():
        result = modes(lambda t, k=kind: F.gelu(t, k), x)
        check("gelu", result, [x], {"approximate": kind}, expected)


class TestMaskedAttention:
    Q, K, V = (np.random.default_rng(n).standard_normal((2, 3, 4)).astype("f4") for n in range(3))

    @staticmethod
    def wanted(q, k, v, seen, scale=0.5):
        scores = np.where(seen, q.astype("f8") @ k.astype("f8").transpose(0, 2, 1) * scale, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v

    def test_bool_and_float_masks(self, each_device):
        seen = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0]], bool)
        expected = self.wanted(self.Q, self.K, self.V, seen)
        found = F.attention(self.Q, self.K, self.V, mask=seen)
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)
        added = np.where(seen, 0, -np.inf).astype("f4")
        assert_same_bits(F.attention(self.Q, self.K, self.V, mask=added), found)
        scaled = F.attention(self.Q, self.K, self.V, mask=seen, scale=1.5)
        expected = self.wanted(self.Q, self.K, self.V, seen, 1.5)
        np.testing.assert_allclose(scaled.numpy(), expected, atol=1e-6)

    def test_all_is_seen_or_up_to_the_query(self, each_device):
        everything = np.ones((1, 3), bool)
        for causal in (False, True):
            found = F.attention(self.Q, self.K, self.V, mask=everything, causal=causal)
            seen = np.tri(3, dtype=bool) if causal else True
            expected = self.wanted(self.Q, self.K, self.V, seen)
            np.testing.assert_allclose(found.numpy(), expected, atol=1e-6)

    def test_the_mask_may_have_more_axes(self):
        masks = np.array([True, False, True, True, True, True]).reshape(2, 1, 1, 3)
        found = F.attention(self.Q, self.K, self.V, mask=masks)
        assert found.shape == (2, 2, 3, 4)
        for n in range(2):
            single = F.attention(self.Q, self.K, self.V, mask=masks[n])
            np.testing.assert_allclose(found.numpy()[n], single.numpy(), atol=1e-6)

    def test_integers_are_no_mask(self):
        with pytest.raises(DTypeError, match="an attention mask of i64") as caught:
            F.attention(self.Q, self.K, self.V, mask=np.array([[1, 0, 1]]))
        assert caught.value.fix == "give a bool mask, as in mask != 0"
