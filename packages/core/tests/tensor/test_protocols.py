"""Python's and NumPy's protocols on tensors (spec 1, 3, 8)."""

import math
import operator

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy
from realta.errors import ArgumentError, ExchangeError, MissingAttribute


@pytest.fixture
def x() -> Tensor:
    return Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def test_len(x):
    assert len(x) == 2
    assert len(Tensor([])) == 0
    with lazy():
        assert len(x + 1) == 2


def test_iteration_gives_the_rows(x):
    rows = list(x)
    assert [type(r) for r in rows] == [Tensor, Tensor]
    assert [r.tolist() for r in rows] == [[1, 2, 3], [4, 5, 6]]
    _first, second = x
    assert second.tolist() == [4, 5, 6]
    assert [float(v) for v in x[0]] == [1, 2, 3]
    assert dict(zip("ab", Tensor([1, 2]), strict=True))["b"].item() == 2


def test_iteration_inside_an_open_lazy_block(x):
    with lazy():
        y = x + 1
        rows = [row * 2 for row in y]
    assert y.is_real
    assert not rows[0].is_real
    assert [r.tolist() for r in rows] == [[4, 6, 8], [10, 12, 14]]


def test_numbers():
    assert bool(Tensor(0.5)) is True
    assert bool(Tensor([[0]])) is False
    assert bool(Tensor(-0.0)) is False
    assert int(Tensor(2.9)) == 2
    assert int(Tensor([7])) == 7
    assert type(float(Tensor(3))) is float
    assert math.sqrt(Tensor(4.0)) == 2
    assert operator.index(Tensor(3)) == 3
    assert [10, 20, 30][Tensor(1)] == 20
    assert list(range(Tensor(2))) == [0, 1]
    assert complex(Tensor(2.0)) == 2


def test_round_and_format():
    assert round(Tensor(2.567), 2) == pytest.approx(2.57)
    assert round(Tensor(2.5)) == 2
    assert type(round(Tensor(2.5))) is int
    assert round(Tensor(7)) == 7
    assert f"{Tensor(3.14159):.2f}" == "3.14"
    assert f"{Tensor(7):04d}" == "0007"
    assert f"{Tensor([1.0])}" == "Tensor([1.], dtype=float32, device=reference:0)"


def test_item_and_tolist(x):
    assert type(Tensor(True).item()) is bool
    assert type(Tensor(3).item()) is int
    assert type(Tensor(1.5).item()) is float
    assert type(Tensor([[1.5]]).cast("bfloat16").item()) is float
    assert type(Tensor([[1.5]]).cast("float16").item()) is float
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert Tensor(2).tolist() == 2
    assert F.zeros((2, 0)).tolist() == [[], []]
    assert Tensor([1.5, 2]).cast("bfloat16").tolist() == [1.5, 2]
    assert Tensor([2**63 + 1], dtype="uint64").tolist() == [2**63 + 1]


def test_contains(x):
    assert 5 in x
    assert 7.0 not in x
    assert np.float32(2) in x
    assert "a" not in x
    assert None not in x


def test_hash_is_identity_and_equality_elementwise(x):
    same = Tensor(x)
    table = {x: "x", same: "same"}
    assert table[x] == "x"
    assert len(table) == 2
    assert hash(x) == hash(x)
    assert (x == x).all().item()
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
    before = hash(x)
    x[0] = 9.0
    assert hash(x) == before


def test_numpy_array(x):
    array = np.asarray(x)
    assert array.dtype == np.float32
    assert not array.flags.writeable
    np.testing.assert_array_equal(np.array(x) + 1, x.numpy() + 1)
    assert np.array(x).flags.writeable
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.asarray(Tensor(3)).shape == ()
    assert np.shares_memory(np.asarray(x, copy=False), x.numpy())
    with pytest.raises(ExchangeError, match="cannot be had without a copy"):
        x.__array__(np.float64, copy=False)
    np.testing.assert_array_equal(np.stack([x, x])[1], x.numpy())


def test_array_ufunc_is_off_and_operators_are_ours(x):
    assert Tensor.__array_ufunc__ is None
    array = np.ones((2, 3), np.float32)
    for found in (array + x, x + array, np.float32(1) + x, x + np.float64(1)):
        assert isinstance(found, Tensor)
        assert found.dtype is realta.float32
        assert found.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert isinstance(array @ x.T, Tensor)
    assert isinstance(array < x, Tensor)
    with pytest.raises(TypeError):
        np.sin(x)
    with pytest.raises(TypeError):
        array += x


def test_dlpack_exchange(x):
    assert x.__dlpack_device__() == (1, 0)
    shared = np.from_dlpack(x)
    np.testing.assert_array_equal(shared, x.numpy())
    assert not shared.flags.writeable
    x[0, 0] = 9.0
    assert shared[0, 0] == 1
    copied = np.from_dlpack(x, copy=True)
    assert copied.flags.writeable
    copied[0, 0] = -1
    assert x[0, 0].item() == 9
    again = np.from_dlpack(x)  # and a second export
    np.testing.assert_array_equal(again, x.numpy())


class Legacy:
    """A consumer of DLPack before 1.0."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack__(self, **_):
        return self.tensor.__dlpack__()

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_legacy_consumers_get_a_copy(x):
    array = np.from_dlpack(Legacy(x))
    if array.flags.writeable:
        array[0, 0] = -1
    assert x[0, 0].item() == 1
    with pytest.raises(ExchangeError, match=r"DLPack before 1\.0"):
        x.__dlpack__(copy=False)


def test_dlpack_of_what_numpy_does_not_know(x):
    with pytest.raises(ExchangeError, match="NumPy exports no bfloat16 through DLPack"):
        x.cast("bfloat16").__dlpack__()


WRONG = {
    "item": (
        lambda t: t.item(),
        (
            "a tensor of shape (2, 3) has 6 elements, not one\n"
            "  where: item of f32[2,3]@reference:0 at HERE\n"
            "  fix: index one element, or use tolist()"
        ),
    ),
    "bool": (
        bool,
        (
            "the truth value of a tensor of shape (2, 3) is ambiguous\n"
            "  where: bool of f32[2,3]@reference:0 at HERE\n"
            "  fix: use F.all(t) or F.any(t), or F.where to choose by element"
        ),
    ),
    "index": (
        operator.index,
        (
            "only a 0-d integer tensor can be an index, not f32[2,3]@reference:0\n"
            "  where: HERE\n"
            "  fix: cast it, or index one element of it"
        ),
    ),
    "len": (
        lambda t: len(t[0, 0]),
        (
            "a 0-d tensor has no length\n"
            "  where: len of f32[]@reference:0 at HERE\n"
            "  fix: use .size or .item()"
        ),
    ),
    "iter": (
        lambda t: iter(t[0, 0]),
        (
            "a 0-d tensor cannot be iterated\n"
            "  where: iter of f32[]@reference:0 at HERE\n"
            "  fix: use .item()"
        ),
    ),
    "array": (
        lambda t: t.__array__(np.float64, copy=False),
        (
            "float32 to <class 'numpy.float64'> cannot be had without a copy\n"
            "  where: HERE\n"
            "  fix: use copy=None"
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_texts_of_wrong_uses(name, x, masked):
    use, text = WRONG[name]
    with pytest.raises((TypeError, ValueError)) as caught:
        use(x)
    assert masked(caught.value) == text


def test_realizing_is_not_tried_for_what_cannot_be(x, launches):
    with lazy():
        y = x + 1
    for use in (bool, int, float, lambda t: t.item()):
        with pytest.raises(ArgumentError):
            use(y)
    assert launches() == 0
    assert not y.is_real


def test_index_of_a_float_scalar_is_an_error():
    with pytest.raises(ArgumentError, match="only a 0-d integer tensor can be an index"):
        [1, 2][Tensor(1.0)]
    with pytest.raises(ValueError, match="NaN"):
        int(Tensor(math.nan))


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("cuda", 't.to("cuda")'),
        ("backward", "gradients are not in this version"),
        ("astype", "t.cast(dtype)"),
        ("view", "t.reshape(shape)"),
        ("numel", "t.size"),
    ],
)
def test_names_of_other_libraries_get_a_hint(name, fix, x):
    with pytest.raises(MissingAttribute) as caught:
        getattr(x, name)
    assert f"a tensor has no {name!r}" in str(caught.value)
    assert fix in str(caught.value)
    assert not hasattr(x, name)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = x.nonsense
