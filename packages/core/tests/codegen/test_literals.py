"""Literals: a compiler gets every bit back."""

import ctypes
import shutil
import struct
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from realta.codegen.dialects import CUDA, OPENCL, C
from realta.codegen.literals import bit_pattern, literal
from realta.errors import ArgumentError
from realta.types import DTYPES, bool_, float32, float64, int8, int32, int64, uint8, uint32, uint64

INTEGERS = [d for d in DTYPES if d.is_integer]
SINGLES = [0, 1, 0x80000000, 0x00800000, 0x007FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x3DCCCCCD]


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (0.5, float32, "0.5f"),
        (-0.0, float32, "(-0.0f)"),
        (0.5, float64, "0.5"),
        (single(1), float32, "0x1p-149f"),
        (float("inf"), float32, "as_float(0x7f800000u)"),
        (-(2**31), int32, "(-2147483647 - 1)"),
        (2**32 - 1, uint32, "0xffffffffu"),
        (-5, int8, "(char)(-5)"),
        (True, bool_, "1"),
    ],
)
def test_spelling(value, dtype, text):
    assert literal(value, dtype, OPENCL) == text


def test_long_suffixes():
    assert literal(-(2**63), int64, OPENCL) == "(-9223372036854775807L - 1)"
    assert literal(2**64 - 1, uint64, CUDA) == "0xffffffffffffffffuLL"


@pytest.mark.parametrize(
    ("value", "dtype"), [(256, uint8), (-1, uint32), (2**31, int32), (0.5, int32), (1e39, float32)]
)
def test_what_a_type_cannot_hold(value, dtype):
    with pytest.raises(ArgumentError):
        literal(value, dtype, C)


@settings(max_examples=5, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=100, max_size=100),
    st.lists(st.integers(0, 2**64 - 1), min_size=100, max_size=100),
)
def test_every_bit_comes_back(tmp_path_factory, singles, doubles):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    singles = [*SINGLES, *singles]
    floats = [np.uint32(b).view(np.float32) for b in singles]
    wide = [np.uint64(b).view(np.float64) for b in doubles]
    ends = {d: [np.iinfo(d.numpy).min, np.iinfo(d.numpy).max, 1] for d in INTEGERS}
    arrays = [("float", "f", [literal(float(v), float32, C) for v in floats])]
    arrays.append(("double", "d", [literal(float(v), float64, C) for v in wide]))
    arrays += [(C.types[d], d.short, [literal(int(v), d, C) for v in e]) for d, e in ends.items()]
    lines = [C.basics]
    for type, name, texts in arrays:
        puts = " ".join(f"out[{n}] = {t};" for n, t in enumerate(texts))
        lines.append(f"void {name}({type} *out) {{ {puts} }}")
    folder = tmp_path_factory.mktemp("literals")
    (folder / "l.c").write_text("\n".join(lines))
    command = ["gcc", "-std=c11", "-fPIC", "-shared", "l.c", "-o", "l.so"]
    subprocess.run(command, cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "l.so"))
    expected = [np.array(floats), np.array(wide), *(np.array(e, d.numpy) for d, e in ends.items())]
    for (_, name, _), wanted in zip(arrays, expected, strict=True):
        found = np.zeros_like(wanted)
        getattr(library, name)(found.ctypes.data_as(ctypes.c_void_p))
        numbers = wanted == wanted  # the payload of a NaN is not written
        assert (np.isnan(found[~numbers])).all()
        assert found[numbers].tobytes() == wanted[numbers].tobytes()


def test_bit_pattern():
    assert bit_pattern(-0.0, float32) == 0x80000000
    assert bit_pattern(1.0, float64) == 0x3FF0000000000000
