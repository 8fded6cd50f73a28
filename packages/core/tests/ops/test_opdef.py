"""The registry: one definition is enough, and every definition is complete."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from realta.errors import ArgumentError, DeviceError, DTypeError, ShapeError, UnsupportedOp
from realta.ops import (
    Attr,
    Attributes,
    OpKind,
    Sample,
    all_ops,
    define,
    find_op,
    get_op,
    undefine,
)
from realta.ops.rules import elementwise
from realta.ops.tolerances import TOLERANCES
from realta.types import (
    DTYPES,
    FLOATS,
    TensorType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint32,
    uint64,
)

OPS = list(all_ops())
LEVELS = {"memory", "core", "math", "linalg", "indexing", "random", "fusion", "contexts"}
X = TensorType(float32, (2, 3))
BY_CORE = (OpKind.CONTROL, OpKind.EFFECT)
PRIMITIVES = """
    constant iota neg abs sign floor ceil trunc round sqrt rsqrt exp expm1 log log1p log2 log10 sin
    cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf logical_not bitwise_not is_nan
    is_inf is_finite signbit add sub mul div floor_div mod pow maximum minimum atan2 hypot copysign
    nextafter logaddexp bitwise_and bitwise_or bitwise_xor shift_left shift_right equal not_equal
    less less_equal greater greater_equal select cast bitcast sum prod max min any all argmax
    argmin cumsum cumprod cummax cummin reshape permute broadcast slice pad concat gather scatter
    update_slice check_bounds sort argsort dot_general conv_general reduce_window philox_bits
    philox_branch barrier transfer cond while_loop print assert_ custom_call
"""
COMPOSITES = """
    relu sigmoid silu gelu square reciprocal clip softmax logsoftmax logsumexp mean var layer_norm
    rms_norm group_norm matmul attention top_k one_hot dynamic_update_slice
"""


@pytest.fixture
def cube():
    op = define(
        "test.cube",
        rule=elementwise,
        reference=lambda x: x * x * x,
        lowering=lambda emit, x: emit.mul(emit.mul(x, x), x),
        doc="The cube.",
        dtypes=FLOATS,
        samples=(Sample(((17,),)),),
    )
    yield op
    undefine("test.cube")


def test_one_call_defines_an_op(cube, call):
    assert get_op("test.cube") is cube
    assert cube.result_types((X,), cube.make_attrs({})) == (X,)
    assert not cube.primitive
    assert call("test.cube", np.array([2.0])).tolist() == [8.0]
    assert call.decomposed(cube, np.array([2.0]))[0].tolist() == [8.0]
    assert cube in list(all_ops())
    with pytest.raises(DTypeError, match=r"test\.cube is not defined for int8"):
        cube.result_types((TensorType(int8, ()),), cube.make_attrs({}))


def test_a_name_is_defined_once(cube):
    with pytest.raises(ArgumentError, match=r"'test\.cube' is already defined"):
        define("test.cube", rule=elementwise, reference=np.abs, doc="Another.")


def test_undefined_ops_are_gone(cube):
    undefine("test.cube")
    assert find_op("test.cube") is None
    with pytest.raises(UnsupportedOp, match=r"there is no op named 'test\.cube'"):
        get_op("test.cube")


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_definitions_are_complete(op):
    assert op.doc.endswith(".")
    assert op.level in LEVELS
    assert op.tolerance in TOLERANCES
    assert op.dtypes <= set(DTYPES)
    assert op.name.isidentifier() or "." in op.name
    assert all(attr.doc for attr in op.attrs.values())
    by_core = op.name in ("transfer", "custom_call") or op.kind in BY_CORE
    assert bool(op.samples) is not by_core  # no session has to run what core does
    for sample in op.samples:
        assert set(sample.attrs) <= set(op.attrs)
        if not isinstance(sample.domain, str):
            assert len(sample.domain) == len(sample.shapes)


def test_the_primitives_of_the_specification_are_all_there():
    expected = PRIMITIVES.split()
    assert [n for n in expected if find_op(n) is None or not get_op(n).primitive] == []


def test_the_composites_are_all_there():
    expected = COMPOSITES.split()
    assert [n for n in expected if find_op(n) is None or get_op(n).primitive] == []


def test_core_asks_for_about_25_ops():
    assert 25 <= sum(op.level == "core" for op in OPS) <= 32


def test_primitives_have_scalars_that_lowerings_know():
    combining = {op.name: op.scalar for op in OPS if op.kind in (OpKind.REDUCE, OpKind.SCAN)}
    assert combining == {
        "sum": "add", "prod": "mul", "max": "max", "min": "min", "any": "logical_or",
        "all": "logical_and", "argmax": "argmax", "argmin": "argmin", "cumsum": "add",
        "cumprod": "mul", "cummax": "max", "cummin": "min",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "types", "attrs", "error", "text"),
    [
        (
            "add",
            (X,),
            {},
            ArgumentError,
            "add takes 2 operand(s), got 1\n  fix: call it as add(x, y)",
        ),
        (
            "add",
            (X, TensorType(int32, (2, 3))),
            {},
            DTypeError,
            "the operands have the dtypes float32 and int32\n  fix: cast them to one dtype",
        ),
        (
            "add",
            (X, TensorType(float32, (3,))),
            {},
            ShapeError,
            "the operands have the shapes (2, 3) and (3,)\n  fix: broadcast them to one shape",
        ),
        (
            "add",
            (TensorType(float32, (), "llvm:0"), TensorType(float32, (), "cuda:0")),
            {},
            DeviceError,
            (
                "the operands are on the devices llvm:0 and cuda:0\n"
                "  fix: move them to one device with .to"
            ),
        ),
        (
            "exp",
            (TensorType(int8, ()),),
            {},
            DTypeError,
            (
                "exp is not defined for int8\n"
                "  fix: cast to one of bfloat16, float16, float32, float64"
            ),
        ),
        (
            "logical_not",
            (X,),
            {},
            DTypeError,
            "logical_not is not defined for float32\n  fix: cast to one of bool",
        ),
        (
            "sum",
            (X,),
            {"axes": (2,)},
            ShapeError,
            (
                "axis 2 is out of range: the operand has the axes 0 to 1\n"
                "  fix: give an axis it has, counted from the start"
            ),
        ),
        (
            "sum",
            (X,),
            {"axes": (1, 1)},
            ShapeError,
            "axes (1, 1) names an axis twice\n  fix: name each axis once",
        ),
        (
            "sum",
            (X,),
            {"axes": 1},
            ArgumentError,
            (
                "the attribute 'axes' of sum is a tuple of integers, got 1\n"
                "  fix: call it as sum(x, axes)"
            ),
        ),
        (
            "argmax",
            (X,),
            {"axis": True},
            ArgumentError,
            (
                "the attribute 'axis' of argmax is an integer, got True\n"
                "  fix: call it as argmax(x, axis)"
            ),
        ),
        (
            "cast",
            (X,),
            {"dtype": "float16"},
            ArgumentError,
            (
                "the attribute 'dtype' of cast is an element type, got 'float16'\n"
                "  fix: call it as cast(x, dtype)"
            ),
        ),
        (
            "cumsum",
            (X,),
            {"axis": 0, "reverse": 1},
            ArgumentError,
            (
                "the attribute 'reverse' of cumsum is True or False, got 1\n"
                "  fix: call it as cumsum(x, axis, exclusive=False, reverse=False)"
            ),
        ),
        (
            "reshape",
            (X,),
            {"shape": (-1, 2)},
            ArgumentError,
            (
                "the attribute 'shape' of reshape is a tuple of extents that are not negative, "
                "got (-1, 2)\n  fix: call it as reshape(x, shape)"
            ),
        ),
        (
            "concat",
            (),
            {"axis": 0},
            ArgumentError,
            "concat needs at least one operand\n  fix: give it a tensor",
        ),
        (
            "select",
            (X, X, X),
            {},
            DTypeError,
            "the condition must be bool, got float32\n  fix: cast it to bool",
        ),
        (
            "bitcast",
            (X,),
            {"dtype": float64},
            DTypeError,
            (
                "the bits of float32 cannot be read as float64\n"
                "  fix: choose one of the same width: int32, uint32, float32"
            ),
        ),
        (
            "gelu",
            (X,),
            {"approximate": "erf"},
            ArgumentError,
            (
                "the attribute 'approximate' is one of 'none', 'tanh', 'quick', got 'erf'\n"
                "  fix: choose one of them"
            ),
        ),
        (
            "layer_norm",
            (X, TensorType(float32, (2,)), TensorType(float32, (3,))),
            {},
            ShapeError,
            (
                "a parameter has the shape (2,), the last axis of the operand (3,)\n"
                "  fix: give one entry for each element of the last axis"
            ),
        ),
        (
            "attention",
            (X, X, TensorType(float32, (3, 3))),
            {"scale": 1.0},
            ShapeError,
            (
                "the lengths of k and v differ: (2,) and (3,)\n"
                "  fix: shape them (..., length, head), with the leading axes alike"
            ),
        ),
        (
            "transfer",
            (X,),
            {"device": ""},
            ArgumentError,
            'transfer needs a device\n  fix: name one, as in device="numpy:0"',
        ),
        (
            "iota",
            (),
            {"shape": (3,), "axis": 0, "dtype": bool_},
            DTypeError,
            (
                "iota is not defined for bool\n  fix: cast to one of bfloat16, float16, float32, "
                "float64, int16, int32, int64, int8, uint16, uint32, uint64, uint8"
            ),
        ),
        (
            "max",
            (TensorType(float32, (2, 0)),),
            {"axes": (1,)},
            ShapeError,
            (
                "max over axis 1 of extent 0 has no value\n"
                "  fix: give it at least one element along the axis"
            ),
        ),
    ],
)
def test_bad_calls_say_what_and_how_to_mend(name, types, attrs, error, text):
    op = get_op(name)
    with pytest.raises(error) as caught:
        op.result_types(types, op.make_attrs(attrs))
    assert str(caught.value) == text


def test_unknown_and_missing_attributes():
    with pytest.raises(ArgumentError) as caught:
        get_op("sum").make_attrs({"axis": 1})
    assert str(caught.value) == "sum has no attribute 'axis'\n  fix: its attributes are axes"
    with pytest.raises(ArgumentError, match="sum needs the attribute 'axes'"):
        get_op("sum").make_attrs({})


def test_an_operand_without_a_device_goes_with_any():
    op = get_op("add")
    types = TensorType(float32, ()), TensorType(float32, (), "llvm:0")
    assert str(op.result_types(types, op.make_attrs({}))[0]) == "f32[]@llvm:0"


def test_capabilities_are_listed_by_the_data_operand():
    def listed(name, *types, **attrs):
        op = get_op(name)
        return op.data_dtype(types, op.result_types(types, op.make_attrs(attrs)))

    condition = TensorType(bool_, (2, 3))
    assert listed("select", condition, X, X) is float32
    assert listed("equal", X, X) is float32
    assert listed("iota", shape=(3,), axis=0, dtype=float16) is float16
    state = TensorType(uint32, (4,))
    assert listed("philox_bits", state, shape=(3,), dtype=uint64) is uint64
    assert listed("gather", X, TensorType(int64, (1,)), axis=0) is float32


def test_integer_arithmetic_is_exact_whatever_the_tolerance():
    assert get_op("sum").exact_for(int32)
    assert not get_op("sum").exact_for(float32)
    assert get_op("max").exact_for(float32)


def test_attributes_hash_keep_their_order_and_pickle():
    op = get_op("cumsum")
    attrs = op.make_attrs({"reverse": True, "axis": 1})
    assert list(attrs) == ["axis", "exclusive", "reverse"]
    assert hash(attrs) == hash(op.make_attrs({"axis": 1, "reverse": True}))
    again = pickle.loads(pickle.dumps(attrs))
    assert again == attrs
    assert isinstance(again, Attributes)


def test_lists_become_tuples():
    assert get_op("sum").make_attrs({"axes": [0, 1]})["axes"] == (0, 1)


def test_type_rules_are_memoised():
    count = 0

    def rule(x):
        nonlocal count
        count += 1
        return x

    op = define("test.counted", rule=rule, reference=np.abs, doc="Counts.")
    try:
        for _ in range(3):
            op.result_types((X,), op.make_attrs({}))
        assert count == 1
    finally:
        undefine("test.counted")


def test_sample_attributes_follow_the_dtype_under_test():
    sample = Sample((), {"axis": 0, "dtype": lambda dtype: dtype})
    assert sample.attrs_for(int8) == {"axis": 0, "dtype": int8}


def test_signature_shows_defaults_and_repeated_operands():
    assert get_op("concat").signature() == "concat(*xs, axis)"
    assert get_op("top_k").signature() == "top_k(x, k, axis, largest=True)"
    assert Attr("int").default is ...


def test_the_order_of_ops_does_not_depend_on_what_was_imported_first():
    show = "from realta.ops import all_ops; print([op.name for op in all_ops()])"
    orders = {
        subprocess.run(
            [sys.executable, "-c", f"import {first}; {show}"],
            capture_output=True, text=True, check=True,
        ).stdout
        for first in ("realta", "realta.ops.movement", "realta.ops.sorting", "realta.functional")
    }  # fmt: skip
    assert len(orders) == 1
