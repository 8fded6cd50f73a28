"""Checkpoints: one file, several, an index; other names; files that are none."""

import json

import numpy as np
import pytest
import realta
from realta import Tensor, nn
from realta.errors import ArgumentError, RealtaError, SerializationError, ShapeError
from realta.testing import assert_same_bits


def model():
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))


def state():
    return {
        name: np.random.default_rng(len(name)).standard_normal(p.shape).astype(np.float32)
        for name, p in model().parameters
    }


def saved(path, tensors):
    realta.save_tensors({name: Tensor(array) for name, array in tensors.items()}, path)
    return path


@pytest.fixture
def sharded(tmp_path):
    """The index of a checkpoint in two files."""
    table = {}
    for number, names in enumerate((["0.weight", "1.bias"], ["0.bias", "1.weight"])):
        file = f"model-{number}.safetensors"
        saved(tmp_path / file, {name: state()[name] for name in names})
        table |= dict.fromkeys(names, file)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": table}))
    return index


def assert_loaded(module):
    for name, array in state().items():
        assert_same_bits(module.state_dict()[name], array)


def test_one_file(tmp_path, launches):
    with realta.lazy():
        module = model()
    path = saved(tmp_path / "x", state())
    launches()
    assert module.load_state_dict(path) == ([], [])
    assert launches() == 0
    assert_loaded(module)


def test_several_files_and_an_index(tmp_path, sharded):
    module = model()
    files = [tmp_path / "model-0.safetensors", tmp_path / "model-1.safetensors"]
    module.load_state_dict(files)
    assert_loaded(module)
    module = model()
    module.load_state_dict(str(sharded))
    assert_loaded(module)
    assert realta.load_tensors(sharded).keys() == state().keys()


def test_on_another_device(tmp_path):
    pytest.importorskip("realta_numpy")
    module = model().to("numpy:0")
    module.load_state_dict(saved(tmp_path / "x", state()))
    assert module.device == realta.Device("numpy:0")
    assert_loaded(module)


def renamed(change):
    return {change(name): array for name, array in state().items()}


NAMES = {
    "table": (
        {"first.w": "0.weight", "first.b": "0.bias", "second.": "1."},
        lambda n: {"0.weight": "first.w", "0.bias": "first.b"}.get(n, n.replace("1.", "second.")),
    ),
    "prefix": ({"net.": ""}, "net.{}".format),
    "longest prefix": ({"a.": "no.", "a.b.": ""}, "a.b.{}".format),
    "function": (lambda name: name.lower().replace("layer", ""), "LAYER{}".format),
}


@pytest.mark.parametrize("kind", NAMES)
def test_other_names(tmp_path, kind):
    names, change = NAMES[kind]
    for given in (renamed(change), saved(tmp_path / "x", renamed(change))):
        module = model()
        assert module.load_state_dict(given, names=names) == ([], [])
        assert_loaded(module)


def test_names_that_are_left_out(tmp_path):
    given = {**state(), "head.weight": np.zeros(3), "step": np.zeros(())}
    module = model()
    module.load_state_dict(given, names={"head.": None, "step": None})
    path = saved(tmp_path / "x", given)
    found = realta.load_tensors(path, names=lambda n: n if n.endswith("bias") else None)
    assert list(found) == ["0.bias", "1.bias"]


def test_not_strict_reports_names_as_they_are_called_here(tmp_path):
    path = saved(tmp_path / "x", {"net.0.bias": state()["0.bias"], "net.2": np.zeros(1)})
    found = model().load_state_dict(path, strict=False, names={"net.": ""})
    assert found == (["0.weight", "1.weight", "1.bias"], ["2"])


def test_two_names_that_become_one():
    with pytest.raises(ArgumentError, match=r"'0.weight' and '0.bias' both get the name 'x'"):
        model().load_state_dict(state(), names=lambda name: "x" if name[0] == "0" else name)


def test_what_is_no_state():
    with pytest.raises(ArgumentError, match="a table of tensors by name or a file, got int"):
        model().load_state_dict(3)


def damaged(sharded, change):
    document = json.loads(sharded.read_text())
    sharded.write_text(json.dumps(change(document)))
    return sharded


def moved(file):
    def change(document):
        document["weight_map"]["1.bias"] = file
        return document

    return change


INDEXES = {
    "no table": (lambda d: {"metadata": {}}, "the index is damaged"),
    "a list": (lambda d: [1], "the index is damaged"),
    "numbers": (lambda d: {"weight_map": {"a": 1}}, "the index is damaged"),
    "a table of lists": (lambda d: {"weight_map": [1]}, "the index is damaged"),
    "up": (moved("../x.safetensors"), "puts the tensor '1.bias' into '../x.safetensors'"),
    "absolute": (moved("/etc/passwd"), "which is no file beside it"),
    "drive": (moved("C:x"), "which is no file beside it"),
    "backslash": (moved("..\\x"), "which is no file beside it"),
    "folder": (moved(".."), "which is no file beside it"),
    "nothing": (moved(""), "which is no file beside it"),
    "end of text": (moved("x\0y"), "which is no file beside it"),
    "other file": (moved("model-1.safetensors"), "has no tensor '1.bias'"),
}


@pytest.mark.parametrize("kind", INDEXES)
def test_wrong_indexes_load_nothing(sharded, kind):
    change, text = INDEXES[kind]
    module = model()
    before = {name: p.numpy(copy=True) for name, p in module.parameters}
    with pytest.raises(SerializationError) as caught:
        module.load_state_dict(damaged(sharded, change))
    assert text in caught.value.what
    assert caught.value.where == str(sharded)
    assert caught.value.fix
    for name, parameter in module.parameters:
        assert_same_bits(parameter, before[name])


def test_an_index_that_is_no_json_and_a_shard_that_is_not_there(sharded):
    (sharded.parent / "model-1.safetensors").unlink()
    with pytest.raises(FileNotFoundError):
        model().load_state_dict(sharded)
    sharded.write_bytes(b"\xff{")
    with pytest.raises(SerializationError, match="the index is damaged"):
        model().load_state_dict(sharded)


def test_one_tensor_in_two_files(tmp_path):
    first, second = saved(tmp_path / "a", state()), saved(tmp_path / "b", {"1.bias": np.zeros(2)})
    with pytest.raises(SerializationError, match=r"the tensor '1.bias' is also in .*/a") as caught:
        model().load_state_dict([first, second])
    assert caught.value.where == str(second)


@pytest.mark.parametrize("size", [0, 5, 20, 100, -1])
def test_a_truncated_file_loads_nothing(tmp_path, size):
    path = saved(tmp_path / "x", state())
    path.write_bytes(path.read_bytes()[:size])
    module = model()
    before = {name: p.numpy(copy=True) for name, p in module.parameters}
    with pytest.raises(SerializationError) as caught:
        module.load_state_dict(path)
    assert caught.value.where == str(path)
    for name, parameter in module.parameters:
        assert_same_bits(parameter, before[name])


def test_one_wrong_shape_in_a_file_loads_nothing(tmp_path):
    path = saved(tmp_path / "x", {**state(), "1.bias": np.zeros(3, np.float32)})
    module = model()
    before = {name: p.numpy(copy=True) for name, p in module.parameters}
    with pytest.raises(ShapeError, match=r"'1.bias' has shape \(3,\), the parameter \(2,\)"):
        module.load_state_dict(path)
    for name, parameter in module.parameters:
        assert_same_bits(parameter, before[name])


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    from realta.weights import TensorFiles

    path = saved(tmp_path / "x", {"a": np.zeros(4), "b": np.zeros(4)})
    files = TensorFiles(path)
    path.write_bytes(path.read_bytes()[:-8])
    assert files["a"].tolist() == [0] * 4
    with pytest.raises(SerializationError, match="cut short while it was read"):
        files["b"]


def test_loaded_tensors_do_not_change_with_the_file(tmp_path):
    path = saved(tmp_path / "x", state())
    module = model()
    module.load_state_dict(path)
    path.write_bytes(bytes(path.stat().st_size))
    assert_loaded(module)


def test_errors_are_of_this_library(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\x00" * 64)
    with pytest.raises(RealtaError):
        realta.load_tensors(path)


def test_what_is_no_path_is_named():
    with pytest.raises(ArgumentError, match="named by its path, got int") as found:
        model().load_state_dict([1])
    assert found.value.fix
