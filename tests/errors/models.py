"""Models: layers, checkpoints, weights of compiled functions, export files, subgraphs."""

import json

import numpy as np
import realta
from realta import F, Tensor, TensorType, compile, nn
from realta.compilation import as_subgraph

from tests.errors.catalogue import Place, wrong

ROW = TensorType("float32", ("n", 3))


def checkpoint(place: Place, **tensors: np.ndarray) -> str:
    """A safetensors file."""
    path = place.folder / "model.safetensors"
    realta.save_tensors({name: Tensor(array) for name, array in tensors.items()}, path)
    return str(path)


def index(place: Place, table: object) -> str:
    """The index of a checkpoint in several files."""
    checkpoint(place, weight=np.zeros((2, 3), "f4"), bias=np.zeros(2, "f4"))
    path = place.folder / "model.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": table}))
    return str(path)


def exported(place: Place) -> str:
    """An exported layer."""
    path = place.folder / "linear.realta"
    nn.Linear(3, 2).compile(ROW).export(path)
    return str(path)


@wrong("a checkpoint with other names")
def _(place: Place) -> object:
    return nn.Linear(3, 2).load_state_dict(checkpoint(place, kernel=np.zeros((2, 3), "f4")))


@wrong("a checkpoint with another shape")
def _(place: Place) -> object:
    return nn.Linear(3, 2, bias=False).load_state_dict({"weight": np.zeros((3, 2), "f4")})


@wrong("a checkpoint with another dtype")
def _(place: Place) -> object:
    return nn.Linear(3, 2, bias=False).load_state_dict({"weight": np.zeros((2, 3))})


@wrong("two names that become one")
def _(place: Place) -> object:
    state = {"a.weight": np.zeros((2, 3), "f4"), "b.weight": np.zeros((2, 3), "f4")}
    return nn.Linear(3, 2).load_state_dict(state, names={"a.": "", "b.": ""})


@wrong("a number in place of a checkpoint")
def _(place: Place) -> object:
    return nn.Linear(3, 2).load_state_dict(5)


@wrong("a truncated checkpoint")
def _(place: Place) -> object:
    path = checkpoint(place, weight=np.zeros((2, 3), "f4"))
    with open(path, "r+b") as file:
        file.truncate(80)
    return nn.Linear(3, 2).load_state_dict(path)


@wrong("a checkpoint whose header is damaged")
def _(place: Place) -> object:
    path = checkpoint(place, weight=np.zeros((2, 3), "f4"))
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(b"[")
    return realta.load_tensors(path)


@wrong("a checkpoint with a size of 2**63")
def _(place: Place) -> object:
    entry = {"dtype": "F32", "shape": [2**63, 0], "data_offsets": [0, 0]}
    header = json.dumps({"weight": entry}).encode()
    path = place.folder / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    return realta.load_tensors(path)


@wrong("an index that reaches out of its folder")
def _(place: Place) -> object:
    table = {"weight": "../../etc/passwd", "bias": "model.safetensors"}
    return nn.Linear(3, 2).load_state_dict(index(place, table))


@wrong("an index that names a tensor its file does not have")
def _(place: Place) -> object:
    return realta.load_tensors(index(place, {"gain": "model.safetensors"}))


@wrong("an index without a table")
def _(place: Place) -> object:
    return realta.load_tensors(index(place, ["model.safetensors"]))


@wrong("weights that a compiled module does not have")
def _(place: Place) -> object:
    return nn.Linear(3, 2).compile(ROW).load_weights({"weight": np.zeros((2, 3), "f4")})


@wrong("an export of arguments in a class")
def _(place: Place) -> object:
    module = nn.Linear(1, 1)
    compiled = compile(lambda x, layer: layer(x))(TensorType("float32", (1,)), module)
    return compiled.export(place.folder / "f.realta")


@wrong("loading a file that is no export")
def _(place: Place) -> object:
    return realta.load(checkpoint(place, weight=np.zeros(3)))


@wrong("loading a truncated export")
def _(place: Place) -> object:
    path = exported(place)
    with open(path, "r+b") as file:
        file.truncate(100)
    return realta.load(path)


@wrong("loading an export with damaged weights")
def _(place: Place) -> object:
    path = exported(place)
    with open(path, "r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    return realta.load(path)


@wrong("loading an export for a device that is not there")
def _(place: Place) -> object:
    return realta.load(exported(place), device="reference:7")


@wrong("a loaded function with another shape")
def _(place: Place) -> object:
    return realta.load(exported(place), device="reference:0")(F.zeros((2, 4)))


@wrong("a subgraph that returns an object")
def _(place: Place) -> object:
    return compile(as_subgraph(lambda x: object()))(ROW)


@wrong("a buffer that is no tensor")
def _(place: Place) -> object:
    return nn.Module().register_buffer("mean", 0.0)


@wrong("attention with heads that do not divide")
def _(place: Place) -> object:
    return nn.MultiHeadAttention(10, 4)


@wrong("attention with a mask of integers")
def _(place: Place) -> object:
    return nn.MultiHeadAttention(4, 2)(F.zeros((1, 2, 4)), mask=Tensor([[1, 0]]))


@wrong("a cache that is full")
def _(place: Place) -> object:
    layer, cache = nn.MultiHeadAttention(4, 2), nn.KVCache(1, 2, 1, 2)
    return layer(F.zeros((1, 2, 4)), cache=cache).numpy()


@wrong("a cache for another batch")
def _(place: Place) -> object:
    return nn.MultiHeadAttention(4, 2)(F.zeros((1, 2, 4)), cache=nn.KVCache(2, 2, 8, 2))


@wrong("rotary positions beyond the table")
def _(place: Place) -> object:
    layer = nn.RotaryEmbedding(nn.positional_embedding(4, 10000.0, 8))
    return layer(F.zeros((1, 4, 2, 4)), start_pos=6)


@wrong("an embedding without an extent")
def _(place: Place) -> object:
    return nn.Embedding(10)


@wrong("a dropout rate above one")
def _(place: Place) -> object:
    return nn.Dropout(2.0)


@wrong("a class that is no module made a module dataclass")
def _(place: Place) -> object:
    return nn.module_dataclass(dict)
