"""Samples of every op: references keep the type rules, decompositions keep the bounds."""

import numpy as np
import pytest
from realta.ops import all_ops, as_arrays
from realta.ops.tolerances import allowance
from realta.types import DTYPES, FLOATS, as_dtype, tensor_type

OPS = [op for op in all_ops() if "." not in op.name]
COMPOSITES = [op for op in OPS if not op.primitive]


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_reference_gives_the_types_of_the_rule_and_leaves_operands_alone(op, tools):
    for dtype, arrays, attrs in tools.sample_calls(op, frozenset(DTYPES)):
        given = op.make_attrs(attrs)
        types = tuple(tensor_type(as_dtype(a.dtype), a.shape) for a in arrays)
        before = [a.tobytes() for a in arrays]
        results = as_arrays(op.reference(*arrays, **given))
        expected = op.result_types(types, given)
        assert [(r.shape, as_dtype(r.dtype)) for r in results] == [
            (t.shape, t.dtype) for t in expected
        ], (dtype, attrs)
        assert [a.tobytes() for a in arrays] == before
        assert not any(np.shares_memory(r, a) for r in results for a in arrays if r.size)


@pytest.mark.parametrize("op", COMPOSITES, ids=lambda op: op.name)
def test_decomposition_keeps_the_bound_of_the_composite(op, call, tools):
    for dtype, arrays, attrs in tools.sample_calls(op, frozenset(DTYPES)):
        given = op.make_attrs(attrs)
        wide = [tools.as_exact(a) for a in arrays]
        exact = as_arrays(op.reference(*wide, **given))
        found = call.decomposed(op, *arrays, **given)
        rounded = as_arrays(op.reference(*arrays, **given))
        for one, whole, right in zip(found, rounded, exact, strict=True):
            assert one.dtype == whole.dtype
            kind = as_dtype(one.dtype)
            if kind not in FLOATS:
                np.testing.assert_array_equal(one, whole)
                continue
            allowed = allowance(op, wide, given, right, kind)
            tools.assert_within(one, right, whole, allowed, f"{op.name} {dtype} {attrs}")
            tools.assert_within(whole, right, whole, allowed, f"{op.name} {dtype} {attrs}")
