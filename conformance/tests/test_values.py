"""Values: the same on every machine, special ones on purpose."""

import numpy as np
import pytest
from realta.errors import ArgumentError
from realta.types import DTYPES, as_dtype
from realta_conformance.values import DOMAINS, draw, generator, special_values


def test_the_same_name_gives_the_same_values():
    a = draw("any", as_dtype("float32"), (50,), seed=generator("core/add", 0))
    b = draw("any", as_dtype("float32"), (50,), seed=generator("core/add", 0))
    c = draw("any", as_dtype("float32"), (50,), seed=generator("core/add", 1))
    assert a.tobytes() == b.tobytes() != c.tobytes()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("domain", [d for d in DOMAINS if d != "indices"])
def test_every_domain_fills_every_dtype(domain, dtype):
    found = draw(domain, dtype, (3, 5), seed=generator("test", domain))
    assert found.dtype == dtype.numpy
    assert found.shape == (3, 5)


def test_special_values_hold_what_implementations_differ_in():
    found = special_values(as_dtype("float32"))
    assert np.isnan(found).any()
    assert np.isinf(found).sum() == 2
    assert (np.signbit(found) & (found == 0)).any()
    assert (np.abs(found) == 2.0**-149).any()
    ints = special_values(as_dtype("int8"))
    assert {-128, 127, 0, -1} <= set(ints.tolist())


def test_special_values_of_two_operands_meet_in_many_pairs():
    x, y = (
        draw("special", as_dtype("float32"), (64,), seed=generator("t"), number=n).astype(float)
        for n in (0, 1)
    )
    pairs = {(str(a), str(b)) for a, b in zip(x, y, strict=True)}
    assert len(pairs) == 64


def test_indices_point_into_their_axis_from_both_ends():
    found = draw("indices", as_dtype("int64"), (200,), seed=generator("t"), extent=5)
    assert found.min() == -5
    assert found.max() == 4


def test_an_unknown_domain_is_named():
    with pytest.raises(ArgumentError, match="no domain 'odd'"):
        draw("odd", as_dtype("int8"), (1,), seed=generator("t"))
