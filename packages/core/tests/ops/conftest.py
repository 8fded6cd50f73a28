"""What the tests of ops share: an emitter that computes, and values for samples."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from realta.ops import OpDef, Sample, as_arrays, convert, get_op
from realta.types import DType, TensorType, as_dtype, float32, float64, tensor_type


class Computing:
    """An emitter whose values are arrays: every op is its reference."""

    def __getattr__(self, name: str) -> Any:
        op = get_op(name)

        def run(*arrays: Any, **attrs: Any) -> Any:
            given = op.make_attrs(attrs)
            types = op.result_types(tuple(map(self.type_of, arrays)), given)
            found = as_arrays(op.reference(*arrays, **given))
            for array, type in zip(found, types, strict=True):
                assert (array.shape, as_dtype(array.dtype)) == (type.shape, type.dtype), name
            return found[0] if len(found) == 1 else found

        return run

    def const(self, value: float, like: Any) -> Any:
        return np.full_like(like, value)

    def type_of(self, array: Any) -> TensorType:
        return tensor_type(as_dtype(array.dtype), array.shape)


class Calls:
    """Calls an op by name: its reference, checked against its type rule, or its decomposition."""

    def __init__(self) -> None:
        self.emit = Computing()

    def __call__(self, name: str, *arrays: Any, **attrs: Any) -> Any:
        return getattr(self.emit, name)(*map(np.asarray, arrays), **attrs)

    def decomposed(self, op: OpDef, *arrays: Any, **attrs: Any) -> tuple[Any, ...]:
        given = op.make_attrs(attrs)
        assert op.lowering is not None
        dtype = as_dtype(arrays[0].dtype)
        if not (op.widen and dtype.is_half):
            return as_arrays(op.lowering(self.emit, *arrays, **given))
        wide = [convert(a, float32) if as_dtype(a.dtype).is_half else a for a in arrays]
        return tuple(convert(r, dtype) for r in as_arrays(op.lowering(self.emit, *wide, **given)))


@pytest.fixture(scope="session")
def call() -> Calls:
    return Calls()


SPECIAL = (
    float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-40, -1e-40,
    3e38, -3e38, 88.0, -100.0, 2147483648.0,
)  # fmt: skip


def values(domain: str, shape: tuple[int, ...], dtype: DType, seed: int) -> Any:
    """Values of a sample's domain."""
    random = np.random.default_rng(seed)
    if dtype.kind == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if domain == "indices":
        return convert(random.integers(0, 3, shape), dtype)
    if domain == "special":
        count = int(np.prod(shape))
        numbers = np.resize(np.array(SPECIAL), count)
        return convert(random.permutation(numbers).reshape(shape), dtype)
    wide = {
        "any": lambda: random.normal(0, 3, shape),
        "positive": lambda: random.uniform(0.01, 9, shape),
        "unit": lambda: random.uniform(-1, 1, shape),
        "nonzero": lambda: random.uniform(1, 9, shape) * random.choice([-1, 1], shape),
        "small": lambda: random.integers(-4, 5, shape).astype(float),
        "integers": lambda: random.integers(0, 100, shape).astype(float),
        "sorted": lambda: np.sort(random.normal(0, 3, shape), axis=-1),
    }[domain]()
    return convert(np.asarray(wide, np.float64), dtype)


def operands(op: OpDef, sample: Sample, dtype: DType, seed: int = 0) -> list[Any]:
    """The operands of a sample call."""
    found = []
    for n, shape in enumerate(sample.shapes):
        given = sample.dtypes[n] if n < len(sample.dtypes) else None
        domain = sample.domain if isinstance(sample.domain, str) else sample.domain[n]
        found.append(values(domain, shape, given or dtype, seed + n))
    return found


def sample_calls(
    op: OpDef, dtypes: frozenset[DType]
) -> Iterator[tuple[DType, list[Any], dict[str, Any]]]:
    """Each sample of an op in each of the dtypes it is defined for."""
    for dtype in sorted(op.dtypes & dtypes, key=lambda d: d.name):
        for sample in op.samples:
            yield dtype, operands(op, sample, dtype), sample.attrs_for(dtype)


def as_exact(array: Any) -> Any:
    """Floats as float64, others as they are."""
    dtype = as_dtype(array.dtype)
    return convert(array, float64) if dtype.is_float else array


def assert_within(found: Any, right: Any, rounded: Any, allowed: Any, what: str) -> None:
    """Checks a float result: equal where the right one rounds to no finite number, else bounded."""
    found, rounded = as_exact(found), as_exact(rounded)
    fixed = ~np.isfinite(right) | ~np.isfinite(rounded)
    np.testing.assert_array_equal(found[fixed], rounded[fixed], what)
    error = np.abs(found[~fixed] - right[~fixed])
    over = error > allowed[~fixed] * (1 + 1e-12)
    assert not over.any(), (what, found[~fixed][over], right[~fixed][over], allowed[~fixed][over])


@pytest.fixture(scope="session")
def tools() -> Any:
    return SimpleNamespace(
        sample_calls=sample_calls, as_exact=as_exact, assert_within=assert_within, values=values
    )
