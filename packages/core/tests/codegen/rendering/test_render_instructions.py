"""Every scalar instruction of every type on special values, as the interpreter has it."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from realta.codegen.interpreter import interpret
from realta.codegen.ir import Apply
from realta.codegen.scalar import apply_scalar, bitcast, cast, constant
from realta.codegen.writer import KernelWriter, inside
from realta.graph import Input
from realta.ops import OpKind, all_ops
from realta.ops.tolerances import allowance
from realta.types import (
    DTYPES,
    STORAGE_ONLY,
    DType,
    TensorType,
    bool_,
    float32,
    float64,
    uint32,
    uint64,
)

OTHERS = {"select", "cast", "bitcast"}
ELEMENTWISE = [
    op
    for op in all_ops()
    if op.kind is OpKind.ELEMENTWISE and op.primitive and op.scalar and op.name not in OTHERS
]
LARGE = 1e5
"""Beyond this angle the trigonometric functions are what a device says of them."""


def specials(dtype: DType) -> np.ndarray:
    """Values of a type at which things go wrong."""
    if dtype is bool_:
        return np.array([False, True])
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        near = [0, 1, 2, 3, 5, 7, 8, dtype.bits - 1, dtype.bits, dtype.bits + 1, 100]
        near += [-n for n in near] if info.min < 0 else []
        ends = [info.min, info.min + 1, info.max, info.max - 1, info.max // 3]
        return np.array(sorted({n for n in near + ends if info.min <= n <= info.max}), dtype.numpy)
    big = float(ml_dtypes.finfo(dtype.numpy).max)
    wide = [0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.25, 100.0, 1e-3, big, big / 3, 0.3, 88.0]
    with np.errstate(all="ignore"):
        found = np.array([*wide, *(-v for v in wide), np.inf, -np.inf, np.nan], np.float64)
        found = found.astype(np.float32 if dtype.is_half else dtype.numpy).astype(dtype.numpy)
    bits = np.array([1, 2, 3], f"u{dtype.itemsize}")
    return np.concatenate([found, bits.view(dtype.numpy)])


def pairs(dtype: DType, operands: int = 2) -> list[np.ndarray]:
    """Every combination of special values."""
    values = specials(dtype)
    grid = list(itertools.product(range(len(values)), repeat=operands))
    return [values[[g[n] for g in grid]] for n in range(operands)]


def written(profile, inputs, results, make, name="k"):
    """A kernel that computes several values of each element of its inputs.

    ``inputs`` are arrays, ``results`` storage types, ``make(*values)`` gives the values.
    """
    count, lanes = inputs[0].size, profile.lanes
    write = KernelWriter(-(-count // lanes), lanes)
    read = [
        write.argument(Input(TensorType(x.dtype, x.shape)), "input", f"x{n}")
        for n, x in enumerate(inputs)
    ]
    outs = [
        write.argument(Input(TensorType(r, (count,))), "output", f"out{n}")
        for n, r in enumerate(results)
    ]
    at = write.group * lanes + write.lane
    where = inside(at, count)
    values = [
        write.load(b, at, where, None if where is None else constant(1, b.dtype)) for b in read
    ]
    for out, value in zip(outs, make(*values), strict=True):
        write.store(out, at, value, where)
    return write.build(name)


def run(machine, inputs, results, make):
    """What a machine and the interpreter make of the same kernel: a pair for each result."""
    kernel = written(machine.profile, inputs, results, make)
    found, expected = (
        [np.zeros(inputs[0].size, r.numpy) for r in results] for _ in range(2)
    )  # fmt: skip
    interpret(kernel, [*inputs, *expected])
    machine.run([kernel], [[*inputs, *found]])
    return list(zip(found, expected, strict=True))


def instructions(dtype):
    """The ops on a type, with the type of each result."""
    ops = [op for op in ELEMENTWISE if dtype in op.dtypes]
    types = [(TensorType(dtype, ()),) * len(op.operands) for op in ops]
    return [
        (op, op.result_types(t, op.make_attrs({}))[0].dtype)
        for op, t in zip(ops, types, strict=True)
    ]


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in STORAGE_ONLY], ids=str)
def test_every_instruction(machine, dtype, assert_same_bits):
    given = pairs(dtype)
    ops = instructions(dtype)
    found = run(
        machine, given, [result for _, result in ops],
        lambda *values: [
            apply_scalar(op.scalar, values[: len(op.operands)], dtype, r) for op, r in ops
        ],
    )  # fmt: skip
    for (op, _), (got, expected) in zip(ops, found, strict=True):
        operands = given[: len(op.operands)]
        if op.exact_for(dtype) or got.dtype.kind in "biu":
            assert_same_bits(got, expected, operands, f"{op.name} of {dtype}")
        else:
            wide = [a.astype(np.float64) for a in operands]
            within(op, wide, expected.astype(np.float64), got.astype(np.float64), dtype)


def within(op, wide, expected, found, dtype):
    """Checks a result against the bound of its op, and that infinities and NaNs are the same."""
    with np.errstate(all="ignore"):
        near = np.abs(found - expected) <= allowance(op, wide, {}, expected, dtype)
        if op.scalar in ("sin", "cos", "tan"):
            near |= np.abs(wide[0]) > LARGE
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    good = np.where(np.isfinite(expected), near, same)
    wrong = np.flatnonzero(~good)
    shown = [(*[o[i] for o in wide], found[i], expected[i]) for i in wrong[:5]]
    assert not wrong.size, f"{op.name} of {dtype}: as (operands, got, wanted) {shown}"


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_results_do_not_depend_on_other_lanes(machine, dtype, assert_same_bits):
    rng = np.random.default_rng(3)
    ops = [(op, r) for op, r in instructions(dtype) if not op.exact]
    x = np.exp2(rng.uniform(-12, 12, 1000)) * rng.choice([-1, 1], 1000)
    x = np.concatenate([x.astype(dtype.numpy), np.tile(specials(dtype), 30)])
    y = rng.permutation(x)

    def results(order):
        kernel = written(
            machine.profile, [x, y], [r for _, r in ops],
            lambda *values: [
                apply_scalar(op.scalar, values[: len(op.operands)], dtype, r) for op, r in ops
            ],
        )  # fmt: skip
        outs = [np.zeros(x.size, r.numpy) for _, r in ops]
        machine.run([kernel], [[x[order].copy(), y[order].copy(), *outs]])
        return outs

    order = rng.permutation(x.size)
    for (op, _), first, second in zip(ops, results(np.arange(x.size)), results(order), strict=True):
        assert_same_bits(second, first[order], [x[order], y[order]], f"{op.name} of {dtype}")


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_every_cast(machine, source, assert_same_bits):
    values = cast_values(source)
    found = run(machine, [values], DTYPES, lambda x: [cast(x, source, t) for t in DTYPES])
    for target, (got, expected) in zip(DTYPES, found, strict=True):
        assert_same_bits(got, expected, [values], f"{source} to {target}")


def cast_values(source: DType) -> np.ndarray:
    """Special values, random ones, and those that two roundings in a row would get wrong."""
    rng = np.random.default_rng(0)
    found = [specials(source)]
    if source.itemsize <= 2 and source is not bool_:
        every = np.arange(1 << source.bits, dtype=f"u{source.itemsize}")
        found.append(every.view(source.numpy))
    elif source.is_integer:
        bits = rng.integers(0, 1 << 63, 4000, dtype=np.uint64)
        found.append((bits >> rng.integers(0, 63, 4000, dtype=np.uint64)).astype(source.numpy))
        ends = [(1 << n) + d for n in range(6, source.bits - 1) for d in (-2, -1, 0, 1, 2)]
        ties = [(257 << n) + d for n in range(source.bits - 11) for d in (-1, 0, 1)]
        greatest = np.iinfo(source.numpy).max
        found.append(np.array([e for e in ends + ties if 0 <= e <= greatest], source.numpy))
        found.append((0 - found[-1]).astype(source.numpy))
    elif source.is_float:
        bits = rng.integers(0, 1 << 63, 4000, dtype=np.uint64) * np.uint64(2)
        if source is float32:
            bits = (bits >> np.uint64(32)).astype(np.uint32)
        found += [bits.view(source.numpy), near_ties(source)]
    return np.concatenate(found)


def near_ties(source: DType) -> np.ndarray:
    """Numbers halfway between those of narrow types, and next to that."""
    found = []
    with np.errstate(all="ignore"):
        for target in (d for d in DTYPES if d.is_half):
            step = 7 if target.itemsize == 2 else 1
            bits = np.arange(0, 1 << (target.bits - 1), step, dtype=f"u{target.itemsize}")
            exact = bits.view(target.numpy).astype(np.float64)
            exact = exact[np.isfinite(exact)]
            middle = (exact[1:] + exact[:-1]) / 2
            found += [middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), -middle]
        ends = [2.0**n + d for n in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1)]
        found += [np.array(ends), -np.array(ends)]
        return np.concatenate(found).astype(source.numpy)


@pytest.mark.parametrize("source", [d for d in DTYPES if d is not bool_], ids=str)
def test_bitcasts(machine, source, assert_same_bits):
    values = specials(source)
    if source.is_float:  # what happens to the payload of a NaN is nobody's business
        values = values[~np.isnan(values.astype(np.float64))]
    targets = [d for d in DTYPES if d.itemsize == source.itemsize and d is not bool_]
    found = run(machine, [values], targets, lambda x: [bitcast(x, source, t) for t in targets])
    for target, (got, expected) in zip(targets, found, strict=True):
        assert_same_bits(got, expected, [values], f"{source} as {target}")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_select(machine, dtype, assert_same_bits):
    x, y = pairs(dtype)
    flags = np.arange(x.size) % 3 == 0
    given = [flags, x, y]
    ((found, expected),) = run(
        machine, given, [dtype], lambda c, a, b: [Apply("select", (c, a, b), a.dtype)]
    )
    assert_same_bits(found, expected, given, f"select of {dtype}")


@pytest.mark.parametrize("dtype", [uint32, uint64], ids=str)
def test_upper_half_of_a_product(machine, dtype, assert_same_bits):
    given = pairs(dtype)
    ((found, expected),) = run(
        machine, given, [dtype], lambda a, b: [Apply("mul_high", (a, b), a.dtype)]
    )
    assert_same_bits(found, expected, given, f"mul_high of {dtype}")
