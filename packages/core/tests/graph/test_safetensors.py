import json

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import DTypeError, SerializationError
from realta.graph.safetensors import decode, encode
from realta.types import DTYPES


def with_header(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


TENSORS = st.dictionaries(
    st.text(min_size=1, max_size=5).filter(lambda name: name != "__metadata__"),
    st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 3), max_size=3)),
    max_size=5,
).map(
    lambda specs: {
        name: np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype.numpy)
        for name, (dtype, shape) in specs.items()
    }
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def assert_same(found, given):
    assert found.keys() == given.keys()
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


@given(TENSORS, st.dictionaries(TEXT, TEXT, max_size=3))
def test_what_is_written_is_read(tensors, metadata):
    found, fields = decode(encode(tensors, metadata))
    assert_same(found, tensors)
    assert fields == metadata


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_package_reads_our_files_and_we_read_its(dtype):
    array = np.array([[0, 1, 2], [3, 1, 0]]).astype(dtype.numpy)
    ours = encode({"a": array, "b": np.zeros((0, 2), "f8")}, {"key": "value"})
    names = [name for name, _ in safetensors.deserialize(ours)]
    assert sorted(names) == ["a", "b"]
    entry = dict(safetensors.deserialize(ours))["a"]
    assert bytes(entry["data"]) == array.tobytes()
    assert list(entry["shape"]) == [2, 3]
    if dtype.itemsize > 1 or not dtype.is_float:
        theirs = safetensors.numpy.save({"a": array}, {"key": "value"})
        found, fields = decode(theirs)
        assert_same(found, {"a": array})
        assert fields == {"key": "value"}


def test_tensors_are_aligned_and_read_only():
    data = encode({"a": np.ones(3, "u1"), "b": np.ones(3, "f8"), "c": np.ones(1, "i2")}, {})
    found, _ = decode(data)
    assert all(array.flags.aligned for array in found.values())
    with pytest.raises(ValueError, match="read-only"):
        found["b"][0] = 2


def test_layout_does_not_matter():
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    found, _ = decode(encode({"a": array}, {}))
    assert found["a"].tolist() == array.tolist()


def test_other_dtypes_are_refused():
    with pytest.raises(DTypeError):
        encode({"a": np.ones(2, "c8")}, {})


def entry(shape, offsets, dtype="U8"):
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "the file is cut short: it has 0 bytes, and its header's length alone takes 8"),
        (b"12345", "the file is cut short: it has 5 bytes"),
        (b"x" * 20, "this is no safetensors file: its header would have 8680820740569200760 bytes"),
        (with_header({})[:-1], "the file is cut short: its header ends at byte 10, the file at 9"),
        (with_header(b"{]"), "the header is damaged: Expecting property name"),
        (with_header(b"\xff\xff"), "the header is damaged"),
        (with_header(b"[" * 100_000), "the header is damaged"),
        (with_header([]), "the header is damaged: it is not a JSON object"),
        (with_header(b'{"a":1,"a":2}'), "the header is damaged: a name occurs twice"),
        (with_header({"a": 1}), "the entry of the tensor 'a' is damaged: 1"),
        (with_header(entry([2], [0, 3]), b"123"), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([2], [2, 0]), b"12"), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([-2, -1], [0, 2]), b"12"), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([True], [0, 1]), b"1"), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([1], [0, 1], "C64"), b"1"), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([2**63, 0], [0, 0])), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([2**62, 2, 0], [0, 0])), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([2**63], [0, 2**63])), "the entry of the tensor 'a' is damaged"),
        (with_header(entry([2**62], [0, 2**62])), "the tensor 'a' ends at byte"),
        (with_header(entry([1], [1, 2]), b"12"), "begins at byte 1 of the data, not at 0"),
        (with_header(entry([2], [0, 2]), b"1"), "the tensor 'a' ends at byte"),
        (with_header(entry([2], [0, 2]), b"123"), "1 bytes follow the last tensor"),
        (with_header({"__metadata__": {"a": 1}}), "__metadata__ is not a table of strings"),
        (with_header({"__metadata__": []}), "__metadata__ is not a table of strings"),
    ],
    ids=range(24),
)
def test_damaged_files_are_refused_with_the_reason(data, what):
    with pytest.raises(SerializationError) as caught:
        decode(data)
    assert what in caught.value.what
    assert caught.value.fix


@given(TENSORS, st.data())
def test_cut_files_are_refused(tensors, data):
    whole = encode(tensors, {"a": "b"})
    with pytest.raises(SerializationError):
        decode(whole[: data.draw(st.integers(0, len(whole) - 1))])
