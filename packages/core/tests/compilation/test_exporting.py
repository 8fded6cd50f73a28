"""Compiled functions in files: other processes, other devices, no Python source, damaged files."""

import json
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile, load, nn, random
from realta.errors import (
    ArgumentError,
    BackendNotFound,
    DTypeError,
    SerializationError,
    ShapeError,
)
from realta.graph.safetensors import decode, encode
from realta.testing import assert_same_bits

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


class Model(nn.Module):
    def __init__(self):
        self.up = nn.Linear(3, 4, dtype="float64")
        self.half = nn.Linear(4, 4, dtype="bfloat16")
        self.down = nn.Linear(4, 3, dtype="float64")
        self.register_buffer("calls", F.zeros((), dtype="int64"))

    def forward(self, x, *, scale=1.0):
        self.calls[...] = self.calls + 1
        hidden = F.relu(self.up(x.cast("float64"))) + self.half(F.zeros(4, dtype="bfloat16"))
        return {"y": self.down(hidden) * scale, "kind": "affine", "rest": (x, None)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.realta"


def exported(compiled, path):
    compiled.export(path)
    return path


def elsewhere(path, body, *, device="None"):
    """What a fresh process prints that knows the file and nothing else."""
    program = textwrap.dedent(body)
    start = f"import numpy as np\nimport realta\nf = realta.load({str(path)!r}, device={device})\n"
    done = subprocess.run(
        [sys.executable, "-c", start + program],
        capture_output=True, text=True, check=False, cwd=path.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_module_in_a_fresh_process(path):
    model = Model()
    compiled = model.compile(TensorType("float32", ("n", 3)), scale=2.0)
    wanted = compiled(Tensor(X), scale=2.0)
    exported(compiled, path)
    printed = elsewhere(
        path,
        """
        import sys
        x = realta.Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3), device="reference:0")
        found = f(x, scale=2.0)
        print(found["y"].numpy().tobytes().hex(), found["kind"], found["rest"][1], list(found))
        print(f.name, list(f.weights), f(x[:1], scale=2.0)["y"].shape, f.weights["calls"].item())
        print([name for name in sys.modules if name.startswith("test_")], "pickle" in sys.modules)
        """,
        device="'reference:0'",
    )
    first, second, third = printed.splitlines()
    assert first == f"{wanted['y'].numpy().tobytes().hex()} affine None ['y', 'kind', 'rest']"
    names = [
        "up.weight",
        "up.bias",
        "half.weight",
        "half.bias",
        "down.weight",
        "down.bias",
        "calls",
    ]
    assert second == f"Model {names} (1, 3) 3"
    assert third.startswith("[]")
    assert model.calls.item() == 1


def test_on_another_device(path, reference):
    pytest.importorskip("realta_numpy")

    def function(x):
        steps = F.arange(3, dtype="float32") + random.uniform((3,)) * 0
        return F.matmul(x, F.eye(3)) + steps, F.cast(x, "int32")

    compiled = compile(function)(TensorType("float32", ("n", 3), "reference:0"))
    wanted = compiled(Tensor(X))
    exported(compiled, path)
    moved = load(path, device="numpy:0")
    found = moved(Tensor(X, device="numpy:0"))
    assert [str(t.device) for t in found] == ["numpy:0"] * 2
    for a, b in zip(found, wanted, strict=True):
        assert_same_bits(a.to("reference:0"), b)
    back = load(exported(moved, path), device="reference:0")
    for a, b in zip(back(Tensor(X)), wanted, strict=True):
        assert_same_bits(a, b)


def test_the_best_host_device_is_called_cpu(path):
    best = str(realta.Device("cpu"))
    compiled = compile(lambda x: x + 1)(TensorType("float32", (3,), best))
    _, fields = decode(exported(compiled, path).read_bytes())
    assert "f32[3]@cpu" in fields["graph/realta.graph"]
    assert best not in fields["graph/realta.graph"]
    assert load(path)(Tensor([1.0, 2.0, 3.0], device=best)).tolist() == [2, 3, 4]


def test_several_devices_take_a_table(path, reference):
    pytest.importorskip("realta_numpy")
    compiled = compile(lambda x: (x.to("numpy:0") * 2).to("reference:0") + 1)(
        TensorType("float32", (3,))
    )
    exported(compiled, path)
    assert load(path)(Tensor(X[0])).tolist() == [1, 3, 5]
    with pytest.raises(ArgumentError, match="the file has the devices") as caught:
        load(path, device="reference:0")
    assert caught.value.where.startswith(str(path))
    names = dict.fromkeys(("cpu", "numpy:0", "reference:0"), "reference:0")
    assert load(path, device=names)(Tensor(X[0])).tolist() == [1, 3, 5]


def rewritten(path, change):
    """The file with other metadata; checksums of what is changed are made anew."""
    from realta.compilation.exporting import checksum

    tensors, fields = decode(path.read_bytes())
    tensors, fields = dict(tensors), dict(fields)
    program = json.loads(fields["realta.program"])
    change(program, fields, tensors)
    if "realta.program" in fields:
        fields["realta.program"] = json.dumps(program)
        fields["realta.program.checksum"] = checksum(fields["realta.program"].encode())
    path.write_bytes(encode(tensors, fields))


def test_a_missing_host_device_becomes_cpu_with_a_warning(path):
    best = str(realta.Device("cpu"))
    compiled = compile(lambda x: x + 1)(TensorType("float32", (3,), best))
    exported(compiled, path)

    def elsewhere_only(program, fields, tensors):
        from realta.compilation.exporting import checksum

        text = fields["graph/realta.graph"].replace("@cpu", "@nowhere:0")
        fields["graph/realta.graph"] = text.replace('"cpu"', '"nowhere:0"')
        fields["graph/realta.checksum"] = checksum(fields["graph/realta.graph"].encode())
        program["hosts"] = ["nowhere:0"]

    rewritten(path, elsewhere_only)
    with pytest.warns(RuntimeWarning, match="nowhere:0 is not usable here") as caught:
        found = load(path)
    assert caught[0].filename == __file__
    assert found(Tensor([1.0, 2.0, 3.0], device=best)).tolist() == [2, 3, 4]
    rewritten(path, lambda program, fields, tensors: program.update(hosts=[]))
    with pytest.raises(BackendNotFound, match="nowhere") as error:
        load(path)
    assert "load it with device=" in error.value.fix
    assert error.value.where.startswith(str(path))


def test_arguments_keep_their_structure_and_their_checks(path, masked):
    def function(pair, *, table, mode, eps=1e-3, dtype=realta.float32, shift=None):
        x, (y,) = pair
        found = x + y if mode == "add" else x - y
        return [found + eps, {"b": table["k"] * 2, "a": (x,)}, None, 3, -0.0]

    one = TensorType("float32", ("n",))
    static = {"mode": "add", "eps": float("inf"), "dtype": realta.float16, "shift": np.int8([1, 2])}
    compiled = compile(function)((one, [one]), table={"k": one, 3: one}, **static)
    found = load(exported(compiled, path))
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 5.0])
    result = found((a, [b]), table={"k": b, 3: a}, **static)
    assert result[0].tolist() == [float("inf")] * 2
    assert list(result[1]) == ["b", "a"]
    assert type(result[1]["a"]) is tuple
    assert result[2:4] == [None, 3]
    assert np.copysign(1, result[4]) == -1
    with pytest.raises(ArgumentError, match="the static argument mode of function was 'add'"):
        found((a, [b]), table={"k": b, 3: a}, **{**static, "mode": "sub"})
    with pytest.raises(ArgumentError, match="was compiled for the arguments"):
        found((a, b), table={"k": b, 3: a}, **static)
    with pytest.raises(ShapeError) as caught:
        found((a, [Tensor([1.0])]), table={"k": b, 3: a}, **static)
    assert masked(caught.value) == (
        "axis 0 is n, which another argument makes 2, but it is 1 here\n"
        "  where: argument 0.1.0 of function at HERE\n"
        "  fix: pass a tensor of the declared shape"
    )
    with pytest.raises(DTypeError, match=r"expected f32\[n\]"):
        found((a, [b.cast("int32")]), table={"k": b, 3: a}, **static)


def test_what_was_captured_and_stored_to(path):
    state, factor = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])

    def function(x):
        state[...] = state * factor + x
        x[...] = 0.0
        return state * 1

    compiled = compile(function)(TensorType("float32", (2,)))
    compiled(Tensor([0.0, 0.0]))
    found = load(exported(compiled, path))
    x = Tensor([1.0, 1.0])
    assert found(x).tolist() == [10.0, 33.0]
    assert x.tolist() == [0, 0]
    assert found(x).tolist() == [30.0, 132.0]
    assert state.tolist() == [3, 8]
    assert compiled(Tensor([0.0, 0.0])).tolist() == [9.0, 32.0]


def test_draws_go_on(path):
    private = random.Generator(7)
    compiled = compile(lambda: (random.uniform(3), private.uniform(3), private.uniform(3)))()
    compiled()
    found = load(exported(compiled, path))
    for seed in (1, 2):
        realta.set_seed(seed)
        wanted = compiled()
        realta.set_seed(seed)
        for a, b in zip(found(), wanted, strict=True):
            assert_same_bits(a, b)


def test_weights_of_a_loaded_function_are_exchanged(path):
    model = nn.Linear(3, 2)
    found = load(exported(model.compile(TensorType("float32", (2, 3))), path))
    other = nn.Linear(3, 2)
    found.load_weights(other.state_dict())
    assert_same_bits(found(Tensor(X)), other(Tensor(X)))
    path.unlink()
    assert_same_bits(found(Tensor(X)), other(Tensor(X)))


def test_symbolic_expressions_and_options(path):
    compiled = compile(lambda x, y: F.concat([x, y]), donate=[1], numerics="fast", name="join")(
        TensorType("float32", ("n",)), TensorType("float32", ("2*n + 1",))
    )
    found = load(exported(compiled, path))
    assert (found.name, found.donate, found._options.numerics) == ("join", {1}, "fast")
    assert found(F.zeros(2), F.ones(5)).shape == (7,)
    with pytest.raises(ShapeError, match=r"axis 0 is 2\*n \+ 1 = 5, but it is 4 here"):
        found(F.zeros(2), F.ones(4))


@dataclass
class Pair:
    first: Tensor
    second: Tensor


ONE = TensorType("float32", (1,))
REFUSED = {
    "an argument": (
        lambda: compile(lambda p: p.first)(Pair(ONE, ONE)),
        "the arguments are nested in Pair, a class that a file cannot hold",
    ),
    "a result": (
        lambda: compile(lambda x: Pair(x, x))(ONE),
        "the results are nested in Pair, a class that a file cannot hold",
    ),
    "a static value": (
        lambda: compile(lambda x, *, f: f(x))(ONE, f=F.relu),
        "the static argument f is function, which a file cannot hold",
    ),
    "a module": (
        lambda: compile(lambda x, layer: layer(x))(ONE, nn.Linear(1, 1)),
        "the static argument 1 is Linear, which a file cannot hold",
    ),
    "a key": (
        lambda: compile(lambda x: x["a", 1])({("a", 1): ONE}),
        "a key of the arguments is tuple, which a file cannot hold",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_a_file_cannot_hold(path, kind):
    make, what = REFUSED[kind]
    with pytest.raises(SerializationError) as caught:
        make().export(path)
    assert caught.value.what == what
    assert str(path) in caught.value.where
    assert caught.value.fix
    assert os.listdir(path.parent) == []


def test_a_file_is_replaced_as_a_whole(path, monkeypatch):
    exported(compile(lambda x: x + 1)(ONE), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space"):
        compile(lambda x: x + 2)(ONE).export(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


class TestDamaged:
    @pytest.fixture
    def file(self, path):
        model = nn.Linear(3, 2)
        model.register_buffer("table", F.ones(40))
        table = Tensor(np.arange(40.0))
        compiled = compile(lambda x: model(x) + F.sum(model.table) + F.sum(table))(
            TensorType("float32", ("n", 3))
        )
        with_weights = model.compile(TensorType("float32", ("n", 3)))
        with_weights.export(path)
        assert compiled
        return path

    def test_every_truncation(self, file):
        data = file.read_bytes()
        for size in range(0, len(data), 37):
            file.write_bytes(data[:size])
            with pytest.raises(SerializationError) as caught:
                load(file)
            assert caught.value.where.startswith(str(file))
            assert caught.value.fix

    def test_every_flipped_byte_is_found_or_changes_nothing(self, file):
        data = file.read_bytes()
        wanted = load(file)(Tensor(X)).numpy(copy=True)
        for place in range(0, len(data), 13):
            file.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            try:
                found = load(file)
            except SerializationError:
                continue
            assert_same_bits(found(Tensor(X)), wanted)

    @pytest.mark.parametrize(
        ("change", "what"),
        [
            (lambda p, f, t: f.pop("realta.export"), "the file is no export"),
            (lambda p, f, t: f.update({"realta.export": "2.0"}), "the format '2.0'"),
            (lambda p, f, t: p.pop("results"), "the description of the program is damaged"),
            (lambda p, f, t: p.update(static=[]), "its parts do not fit"),
            (lambda p, f, t: p.update(types=3), "damaged"),
            (lambda p, f, t: p["supplies"].pop(), "its parts do not fit"),
            (lambda p, f, t: p["supplies"].reverse(), "its parts do not fit: f32"),
            (lambda p, f, t: p.update(stored=[[{"argument": 0}, 9]]), "its parts do not fit"),
            (lambda p, f, t: p.update(stored=[[{"argument": 9}, 0]]), "damaged"),
            (lambda p, f, t: p["arguments"].update(steps=[["set", 1, 1]]), "damaged"),
            (lambda p, f, t: p["arguments"].update(steps=[]), "damaged"),
            (lambda p, f, t: p.update(constants=[{"file": "/etc/passwd"}]), "damaged"),
            (lambda p, f, t: p.pop("places"), "damaged"),
            (lambda p, f, t: t.pop("weights/bias"), "damaged"),
            (lambda p, f, t: t.update({"weights/bias": np.zeros(2)}), "'weights/bias' is damaged"),
            (lambda p, f, t: f.update({"graph/realta.graph": ""}), "the text of the graph"),
        ],
        ids=range(16),
    )
    def test_descriptions_that_do_not_fit(self, file, change, what):
        rewritten(file, change)
        with pytest.raises(SerializationError) as caught:
            load(file)
        assert what in caught.value.what
        assert caught.value.where.startswith(str(file))
        assert caught.value.fix

    def test_other_files(self, file, tmp_path):
        weights = tmp_path / "weights"
        realta.save_tensors({"a": Tensor(1.0)}, weights)
        with pytest.raises(SerializationError, match="the file is no export") as caught:
            load(weights)
        assert "realta.load_tensors" in caught.value.fix
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")
        with pytest.raises(SerializationError):
            realta.load_graph(file)

    def test_the_safetensors_package_reads_the_weights(self, file):
        numpy = pytest.importorskip("safetensors.numpy")
        found = numpy.load_file(file)
        assert found["weights/bias"].shape == (2,)
