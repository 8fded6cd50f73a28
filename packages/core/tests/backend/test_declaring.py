from realta.backend import bfloat16, bool_, declare, float32, int32, uint8


def test_each_op_has_the_dtypes_it_is_defined_for():
    found = declare(["add", "exp", "sub"], [bool_, int32, float32])
    assert found == {
        "add": {bool_, int32, float32},
        "exp": {float32},
        "sub": {int32, float32},
    }


def test_primitives_and_composites_are_told_apart():
    names = ["add", "softmax"]
    assert set(declare(names, [float32])) == {"add"}
    assert set(declare(names, [float32], composites=True)) == {"softmax"}


def test_what_has_no_dtype_left_or_is_not_known_is_left_out():
    assert declare(["exp", "of_a_later_version"], [uint8]) == {}
    assert declare(["exp"], [bfloat16]) == {"exp": {bfloat16}}
