"""Every primitive op on every dtype against the definition of the op."""

import numpy as np
import pytest
from realta.ops import all_ops, as_arrays
from realta.ops.tolerances import allowance
from realta_numpy.session import NumpySession

OPS = [op for op in all_ops() if op.primitive and op.samples]


def test_the_session_has_every_primitive():
    missing = [op.name for op in OPS if op.name not in NumpySession().capabilities.ops]
    assert not missing


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_samples_agree_with_the_definition(op, runner, equal_bits):
    for dtype in sorted(op.dtypes, key=lambda d: d.name):
        for sample in op.samples:
            graph, arrays = runner.call(op, dtype, sample)
            node = graph.nodes[0]
            with np.errstate(all="ignore"):
                expected = as_arrays(op.reference(*arrays, **node.attrs))
            found = runner.run(graph, arrays)
            for one, other in zip(found, expected, strict=True):
                note = f"{op.name} {dtype} {sample}"
                if op.exact:
                    assert equal_bits(one, other), note
                else:
                    _check_bound(op, arrays, node, one, other, note)


def _check_bound(op, arrays, node, found, expected, note):
    wide, right = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(right)
    assert np.array_equal(np.isnan(wide), np.isnan(right)), note
    assert np.array_equal(wide[~finite & ~np.isnan(right)], right[~finite & ~np.isnan(right)]), note
    # The reference is itself rounded, so twice the bound holds between the two.
    with np.errstate(all="ignore"):
        most = 2 * allowance(op, arrays, node.attrs, right, node.types[0].dtype)
        assert (np.abs(wide - right)[finite] <= np.broadcast_to(most, right.shape)[finite]).all(), (
            note
        )


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_direct_calls_give_the_same_bits_for_arrays_and_blocks(op, runner, equal_bits):
    for dtype in sorted(op.dtypes, key=lambda d: d.name):
        for sample in op.samples:
            graph, arrays = runner.call(op, dtype, sample)
            executable = runner.compile(graph)
            if executable.direct is None:
                continue
            expected = runner.run(graph, arrays, executable)
            for handles in (arrays, [runner.upload(a) for a in arrays]):
                found = executable.direct(*handles)
                found = found if isinstance(found, tuple) else (found,)
                for one, other in zip(found, expected, strict=True):
                    assert isinstance(one, np.ndarray)
                    assert equal_bits(one, other), f"{op.name} {dtype} {sample}"
                    assert not any(np.may_share_memory(one, h) for h in handles)
