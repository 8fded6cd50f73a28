"""How tensors print (spec 1): values NumPy-style, abbreviated, never realizing."""

import numpy as np
import pytest
from realta import F, Tensor, lazy, print_options
from realta.errors import ExecutionError
from realta.realization_context import EagerRealizationContext

GOLDEN = {
    "vector": (lambda: Tensor([1.0, 2.5]), "Tensor([1. , 2.5], dtype=float32, device=reference:0)"),
    "integers": (lambda: Tensor([1, -2]), "Tensor([ 1, -2], dtype=int64, device=reference:0)"),
    "bools": (
        lambda: Tensor([True, False]),
        "Tensor([ True, False], dtype=bool, device=reference:0)",
    ),
    "scalar": (lambda: Tensor(2.0), "Tensor(2., dtype=float32, device=reference:0)"),
    "matrix": (
        lambda: Tensor([[1.0, 2.0], [3.0, 4.0]]),
        "Tensor([[1., 2.],\n        [3., 4.]], dtype=float32, device=reference:0)",
    ),
    "empty": (lambda: Tensor([]), "Tensor([], dtype=float32, device=reference:0)"),
    "empty rows": (
        lambda: F.zeros((2, 0)),
        "Tensor([], shape=(2, 0), dtype=float32, device=reference:0)",
    ),
    "half": (
        lambda: Tensor([1.5, -0.0]).cast("bfloat16"),
        "Tensor([ 1.5, -0. ], dtype=bfloat16, device=reference:0)",
    ),
    "special": (
        lambda: Tensor([np.nan, np.inf]),
        "Tensor([nan, inf], dtype=float32, device=reference:0)",
    ),
    "long": (
        lambda: F.arange(1001),
        "Tensor([   0,    1,    2, ...,  998,  999, 1000], dtype=int64, device=reference:0)",
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    make, text = GOLDEN[name]
    assert repr(make()) == str(make()) == text


def test_unrealized_tensors_say_so_and_stay_so():
    with lazy():
        t = Tensor([1.0]) + 1
        m = t.reshape([1, 1]).cast("int32")
        s = t.sum()
    assert repr(t) == "Tensor(unrealized, shape=(1,), dtype=float32, device=reference:0)"
    assert repr(m) == "Tensor(unrealized, shape=(1, 1), dtype=int32, device=reference:0)"
    assert repr(s) == "Tensor(unrealized, shape=(), dtype=float32, device=reference:0)"
    assert not t.is_real


def test_poisoned_tensors_print_what_they_are(moody):
    moody.failing = {"exp"}
    made = []

    def region():
        with EagerRealizationContext():
            made.append(F.exp(Tensor([1.0])))

    with pytest.raises(ExecutionError):
        region()
    assert repr(made[0]) == "Tensor(poisoned, shape=(1,), dtype=float32, device=moody:0)"
    assert "poisoned" in made[0]._repr_html_()


def test_print_options_hold_in_their_block():
    t = Tensor([1 / 3, 2.0])
    with print_options(precision=2) as options:
        assert options.precision == 2
        assert repr(t) == "Tensor([0.33, 2.  ], dtype=float32, device=reference:0)"
        with print_options(threshold=1, edgeitems=1):
            assert "0.33, ..., 5.  " in repr(Tensor([1 / 3, 1, 2, 3, 4, 5.0]))
    assert "0.3333" in repr(t)


def test_html():
    html = Tensor([[1.0, 2.0]])._repr_html_()
    assert "<code>f32[1,2]@reference:0</code>" in html
    assert "Tensor([[1., 2.]], dtype=float32, device=reference:0)" in html
    with lazy():
        t = Tensor([1.0]) + 1
    assert "unrealized" in t._repr_html_()
    assert not t.is_real


def test_a_large_tensor_prints_fast_and_short():
    text = repr(F.zeros((300, 300)))
    assert text.count("\n") == 6
    assert "..." in text
