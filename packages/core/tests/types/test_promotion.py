import itertools

import numpy as np
import pytest
from realta.errors import ArgumentError, DTypeError
from realta.types import (
    BY_SHORT,
    COMPUTABLE,
    DTYPES,
    STORAGE_ONLY,
    bfloat16,
    float16,
    float32,
    int8,
    int64,
    promote,
    promote_all,
    sum_dtype,
    uint8,
    uint64,
)

# Spec 5: the array API's lattice inside a kind; an integer with a float gives the float's dtype.
TABLE = """
      bool i8   i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64
bool  bool i8   i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64
i8    i8   i8   i16  i32  i64  i16  i32  i64  -    f16  bf16 f32  f64
i16   i16  i16  i16  i32  i64  i16  i32  i64  -    f16  bf16 f32  f64
i32   i32  i32  i32  i32  i64  i32  i32  i64  -    f16  bf16 f32  f64
i64   i64  i64  i64  i64  i64  i64  i64  i64  -    f16  bf16 f32  f64
u8    u8   i16  i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64
u16   u16  i32  i32  i32  i64  u16  u16  u32  u64  f16  bf16 f32  f64
u32   u32  i64  i64  i64  i64  u32  u32  u32  u64  f16  bf16 f32  f64
u64   u64  -    -    -    -    u64  u64  u64  u64  f16  bf16 f32  f64
f16   f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64
bf16  bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16 f32  f64
f32   f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64
f64   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
"""


def table_rows():
    header, *rows = TABLE.strip("\n").splitlines()
    for row in rows:
        left, *cells = row.split()
        yield from ((left, right, cell) for right, cell in zip(header.split(), cells, strict=True))


@pytest.mark.parametrize(("left", "right", "common"), list(table_rows()))
def test_the_table_of_the_spec(left, right, common):
    a, b = BY_SHORT[left], BY_SHORT[right]
    if common == "-":
        with pytest.raises(DTypeError):
            promote(a, b)
    else:
        assert promote(a, b) is BY_SHORT[common]


def test_the_table_holds_every_pair():
    assert len(list(table_rows())) == len(COMPUTABLE) ** 2


def test_integers_and_bool_agree_with_numpy_where_spec_and_numpy_do():
    plain = [d for d in COMPUTABLE if not d.is_float]
    for a, b in itertools.product(plain, plain):
        theirs = np.promote_types(a.numpy, b.numpy)
        if theirs.kind != "f":
            assert promote(a, b).numpy == theirs


def test_errors_name_both_and_the_way_out():
    with pytest.raises(DTypeError) as caught:
        promote(uint64, int8)
    assert str(caught.value) == (
        "uint64 and int8 have no common dtype\n"
        "  fix: cast one of them first: uint64 does not fit a signed type, nor the other way round"
    )
    for storage, other in itertools.product(STORAGE_ONLY, DTYPES):
        if storage is other:
            assert promote(storage, other) is storage
            continue
        with pytest.raises(DTypeError, match="storage only: cast it first"):
            promote(other, storage)


def test_many_dtypes_in_any_order():
    given = [uint64, int64, float16]
    for order in itertools.permutations(given):
        assert promote_all(order) is float16
    assert promote_all([float16, bfloat16, int8]) is float32
    assert promote_all([uint8]) is uint8
    with pytest.raises(DTypeError):
        promote_all([uint64, int64])
    with pytest.raises(ArgumentError, match="no dtypes to promote"):
        promote_all([])


def test_sums_widen_integers_only():
    expected = {
        "bool": "i64", "i8": "i64", "i16": "i64", "i32": "i64", "i64": "i64",
        "u8": "u64", "u16": "u64", "u32": "u64", "u64": "u64",
        "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64",
    }  # fmt: skip
    assert {d.short: sum_dtype(d).short for d in COMPUTABLE} == expected
