"""Weights in safetensors files: round trips, and files that are none."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import SerializationError
from realta.testing import assert_same_bits
from realta.types import DTYPES


def test_every_dtype_and_shape_comes_back(tmp_path):
    path = tmp_path / "weights.safetensors"
    tensors = {}
    for n, dtype in enumerate(DTYPES):
        for shape in ((), (0, 3), (2, 3)):
            values = np.arange(n, n + np.prod(shape, dtype=int)).reshape(shape) % 2
            tensors[f"{dtype}.{shape}"] = Tensor(values.astype(dtype.numpy))
    realta.save_tensors(tensors, path)
    loaded = realta.load_tensors(path)
    assert loaded.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert loaded[name].type is tensor.type
        assert_same_bits(loaded[name], tensor)


def test_the_safetensors_package_reads_and_writes_the_same(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "x.safetensors"
    realta.save_tensors({"a": Tensor([[1.5, 2.0]]), "b": Tensor([1, 2], dtype="int8")}, path)
    found = numpy.load_file(path)
    assert found["a"].tolist() == [[1.5, 2.0]]
    assert found["b"].dtype == np.int8
    numpy.save_file({"c": np.arange(3.0)}, path)
    assert realta.load_tensors(str(path))["c"].tolist() == [0.0, 1.0, 2.0]


def test_pending_tensors_become_real(tmp_path):
    with realta.lazy():
        pending = F.arange(3) * 2
    realta.save_tensors({"x": pending}, tmp_path / "x")
    assert realta.load_tensors(tmp_path / "x")["x"].tolist() == [0, 2, 4]


def test_names_with_any_text(tmp_path):
    names = ["", "a.b.c", "ünïcode", 'quo"te', "line\nbreak"]
    realta.save_tensors({n: Tensor(float(k)) for k, n in enumerate(names)}, tmp_path / "x")
    assert {n: t.item() for n, t in realta.load_tensors(tmp_path / "x").items()} == {
        n: float(k) for k, n in enumerate(names)
    }


def test_every_truncation_is_refused_with_the_file(tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    realta.save_tensors({"x": Tensor([1.0, 2.0]), "y": Tensor(1)}, whole)
    data = whole.read_bytes()
    for size in range(len(data)):
        part.write_bytes(data[:size])
        with pytest.raises(SerializationError) as caught:
            realta.load_tensors(part)
        assert caught.value.where == str(part)
        assert caught.value.fix
    part.write_bytes(data + b"\0")
    with pytest.raises(SerializationError, match="follow the last tensor"):
        realta.load_tensors(part)
    part.write_bytes(b"\x89PNG" + data)
    with pytest.raises(SerializationError):
        realta.load_tensors(part)


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "x"
    realta.save_tensors({"x": Tensor(1.0)}, path)

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        realta.save_tensors({"x": Tensor(2.0)}, path)
    monkeypatch.undo()
    assert realta.load_tensors(path)["x"].item() == 1.0
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_a_missing_file_is_pythons_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        realta.load_tensors(tmp_path / "none")


def test_loading_changes_nothing_when_the_file_does(tmp_path):
    path = tmp_path / "x"
    realta.save_tensors({"x": Tensor([1.0, 2.0])}, path)
    loaded = realta.load_tensors(path)["x"]
    path.write_bytes(bytes(200))
    assert loaded.tolist() == [1.0, 2.0]
