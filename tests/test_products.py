"""The product as its parts promise it: workspace, names, modes, generated code, suite, docs."""

import json
import re
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
import realta
from realta import F, Tensor, errors
from realta.backend import OpByOpBackend
from realta.cli import main
from realta.plugins import close_devices, open_device, register_backend, unregister_backend
from realta.runtime import Options, program_for
from realta_conformance.contexts import MODES
from realta_conformance.levels import LEVELS
from realta_saboteurs.table import FAULTS

ROOT = Path(__file__).resolve().parent.parent
MEMBERS = [
    "packages/core",
    "packages/backend-numpy",
    "packages/backend-opencl",
    "packages/backend-cuda",
    "packages/backend-cuda/emulator",
    "packages/backend-llvm",
    "conformance",
    "saboteurs",
    "examples/backend-minimal",
    "examples/backend-kernel",
    "examples/backend-numexpr",
    "examples/backend-jax",
]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def toml(name):
    return tomllib.loads(read(name))


# -- workspace ------------------------------------------------------------------------------------


def test_the_workspace_has_exactly_these_members():
    assert toml("pyproject.toml")["tool"]["uv"]["workspace"]["members"] == MEMBERS


@pytest.mark.parametrize("member", MEMBERS)
def test_every_member_is_built_by_hatchling(member):
    assert toml(f"{member}/pyproject.toml")["build-system"]["build-backend"] == "hatchling.build"
    assert list((ROOT / member / "src").glob("realta*/__init__.py"))


def test_the_version_is_0_1_0():
    found = {toml(f"{member}/pyproject.toml")["project"]["version"] for member in MEMBERS}
    assert found == {realta.__version__} == {"0.1.0"}


def test_nox_has_every_session():
    found = set(re.findall(r"^@nox\.session.*\ndef (\w+)\(", read("noxfile.py"), re.MULTILINE))
    wanted = "demo tests lint types imports conformance saboteurs docs bench build acceptance full"
    assert set(wanted.split()) <= found


def test_the_licence_is_apache_2_0():
    assert "Apache License\n                           Version 2.0" in read("LICENSE")


def test_contributing_has_the_house_rules():
    text = read("CONTRIBUTING.md")
    assert len(re.findall(r"^\d+\. ", text.partition("## House rules")[2], re.MULTILINE)) >= 12
    for part in ("## How to add an op", "pass", "backend"):
        assert part in text


def test_changelog_fragments_are_sentences_of_a_known_type():
    known = {entry["directory"] for entry in toml("pyproject.toml")["tool"]["towncrier"]["type"]}
    fragments = [path for path in (ROOT / "changelog.d").iterdir() if path.suffix == ".md"]
    assert fragments
    for path in fragments:
        assert path.stem.rpartition(".")[2] in known, path
        assert path.read_text(encoding="utf-8").rstrip().endswith(".")
    assert "<!-- towncrier release notes start -->" in read("CHANGELOG.md")


def test_ci_certifies_the_minimal_backend():
    assert re.search(r'"minimal:0": \("--strict", "--level", "core"\)', read("noxfile.py"))
    assert re.search(r"nox -s conformance", read(".ci/run"))


def test_ci_runs_a_sample_and_full_runs_everything():
    assert "nox -s conformance -- --sample" in read(".ci/run")
    _, _, full = read("noxfile.py").partition("def full(")
    assert 'certify(session, ROOT / "conformance" / "results", *session.posargs)' in full
    for name in ("tests", "saboteurs", "build", "bench", "acceptance"):
        assert f'"{name}"' in full


# -- core -----------------------------------------------------------------------------------------


def test_errors_form_one_tree():
    standard = {
        "ShapeError": ValueError,
        "DTypeError": TypeError,
        "IndexBoundsError": IndexError,
        "DeviceError": RuntimeError,
        "BackendNotFound": errors.DeviceError,
        "BackendUnavailable": errors.DeviceError,
        "UnsupportedOp": NotImplementedError,
        "CompilationError": RuntimeError,
        "ExecutionError": RuntimeError,
        "OutOfMemory": MemoryError,
        "RealizationError": TypeError,
        "VerificationError": ValueError,
        "ParseError": ValueError,
        "SerializationError": ValueError,
    }
    for name, base in standard.items():
        kind = getattr(errors, name)
        assert issubclass(kind, errors.RealtaError)
        assert issubclass(kind, base)
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.RealtaError)


def test_no_kernel_crosses_a_barrier():
    x = realta.ones((4, 6), device="numpy:0")
    together = realta.explain(lambda x: F.exp(x * 2.0) + 1.0, x)
    apart = realta.explain(lambda x: F.exp(F.barrier(x * 2.0)) + 1.0, x)
    assert (len(together.kernels), len(apart.kernels)) == (1, 2)


def test_explain_names_the_lines_of_the_user():
    def body(x):
        y = F.exp(x)
        return F.sort(y + 1.0, axis=0)

    explanation = realta.explain(body, realta.ones((6,), device="numpy:0"))
    first = body.__code__.co_firstlineno
    for op, line in (("exp", first + 1), ("add", first + 2), ("sort", first + 2)):
        member = next(m for k in explanation.kernels for m in k.members if m.op == op)
        assert member.location.endswith(f"test_products.py:{line}")
    assert [bool(kernel.apart) for kernel in explanation.kernels] == [False, True]
    assert all(apart.reason for kernel in explanation.kernels for apart in kernel.apart)
    assert json.loads(json.dumps(explanation.to_dict()))


def test_a_plotting_library_gets_its_values():
    """What matplotlib does with an argument of ``plt.plot``: an array of at least one axis."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        t = F.sin(realta.linspace(0, 1, 5))
        found = np.atleast_1d(t)
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, t.numpy())
        assert [float(v) for v in t] == t.tolist()
        assert np.ma.asarray(t).shape == (5,)


def test_where_of_two_numbers_is_not_bool():
    mask = Tensor([True, False])
    assert F.where(mask, 1.0, 0.0).type == realta.ones((2,)).type
    assert F.where(mask, 1, 0).dtype is realta.int64


def test_comparisons_and_extremes_see_nan():
    x = Tensor([1.0, float("nan"), 3.0])
    assert (x < 2.0).tolist() == [True, False, False]
    assert (x <= 3.0).tolist() == [True, False, True]
    assert np.isnan(F.max(x).item())
    assert F.argmax(x).item() == 1


@pytest.mark.parametrize("device", ["numpy:0", "reference:0"])
@pytest.mark.parametrize("mode", ["bare", "compiled"])
def test_results_never_alias_their_operands(device, mode):
    moves = (
        lambda x: x.reshape((6,)),
        lambda x: x[0:2],
        lambda x: x.permute([1, 0]),
        lambda x: F.broadcast_to(x, (4, 2, 3)),
        lambda x: F.cast(x, x.dtype),
    )
    for move in moves:
        x = realta.full((2, 3), 1.0, device=device)
        result = (realta.compile(move)(x.type) if mode == "compiled" else move)(x)
        x[0, 0] = 5.0
        assert set(result.numpy().ravel().tolist()) == {1.0}
        result[(0,) * result.rank] = 7.0
        assert x.tolist() == [[5.0, 1.0, 1.0], [1.0, 1.0, 1.0]]


def test_slices_clip_and_step_backwards():
    x = realta.arange(5)
    assert x[2:100].tolist() == [2, 3, 4]
    assert x[5:].tolist() == []
    assert x[::-2].tolist() == [4, 2, 0]


def test_scalar_stores_broadcast():
    x = realta.zeros((2, 3))
    x[:, 1] = 4
    x[0] = np.array([1.0, 2.0, 3.0])
    assert x.tolist() == [[1.0, 2.0, 3.0], [0.0, 4.0, 0.0]]


def test_a_bare_op_is_one_launch_and_compiles_once():
    device = open_device("numpy:0")
    x = realta.full((7, 11), 3.0, device="numpy:0")
    before, misses = device.launches, device.programs.stats().misses
    for _ in range(5):
        F.exp(x)
    assert device.launches - before == 5
    assert device.programs.stats().misses - misses <= 1


@pytest.mark.parametrize("command", ["devices", "backends", "ops", "explain", "doctor"])
def test_the_command_line_gives_json(command, capsys, tmp_path):
    path = tmp_path / "f.graph"
    path.write_text("graph f(%x: f32[3]) {\n  %0: f32[3] = exp(%x)\n  return %0\n}\n")
    arguments = [command, *([str(path)] if command == "explain" else []), "--json"]
    assert main(arguments) == 0
    assert isinstance(json.loads(capsys.readouterr().out), dict)


def reference_of_composites(x, w, b):
    """What NumPy makes of them, in float64."""
    e = np.exp(x - x.max(-1, keepdims=True))
    softmax = e / e.sum(-1, keepdims=True)
    sigmoid = 1 / (1 + np.exp(-x))
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return {
        "relu": np.maximum(x, 0),
        "silu": x * sigmoid,
        "sigmoid": sigmoid,
        "softmax": softmax,
        "logsoftmax": np.log(softmax),
        "logsumexp": np.log(np.exp(x).sum(-1)),
        "mean": mean[..., 0],
        "var": var[..., 0],
        "layer_norm": (x - mean) / np.sqrt(var + 1e-5),
        "rms_norm": x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6),
        "linear": x @ w.T + b,
        "clip": np.clip(x, -0.5, 0.5),
        "gelu": x * (1 + np.vectorize(__import__("math").erf)(x / np.sqrt(2))) / 2,
        "gelu_tanh": x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    }


@pytest.mark.parametrize("device", ["numpy:0", "reference:0"])
def test_composites_are_numpys(device):
    generator = np.random.default_rng(1)
    x, w, b = (generator.normal(size=s) for s in ((4, 6), (3, 6), (3,)))
    t, tw, tb = (Tensor(a.astype(np.float32), device=device) for a in (x, w, b))
    found = {
        "relu": F.relu(t),
        "silu": F.silu(t),
        "sigmoid": F.sigmoid(t),
        "softmax": F.softmax(t),
        "logsoftmax": F.logsoftmax(t),
        "logsumexp": F.logsumexp(t, axis=-1),
        "mean": F.mean(t, axis=-1),
        "var": F.var(t, axis=-1),
        "layer_norm": F.layer_norm(t),
        "rms_norm": F.rms_norm(t),
        "linear": F.linear(t, tw, tb),
        "clip": F.clip(t, -0.5, 0.5),
        "gelu": F.gelu(t),
        "gelu_tanh": F.gelu(t, approximate="tanh"),
    }
    for name, wanted in reference_of_composites(x, w, b).items():
        np.testing.assert_allclose(found[name].numpy(), wanted, rtol=2e-5, atol=2e-6, err_msg=name)
    parts = F.split(F.stack([t, t], axis=0), 1, axis=0)
    np.testing.assert_array_equal(parts[1].numpy()[0], t.numpy())
    values, indices = F.top_k(t, 2)
    np.testing.assert_array_equal(values.numpy(), -np.sort(-t.numpy(), axis=-1)[:, :2])
    np.testing.assert_array_equal(F.one_hot(indices, 6).numpy().argmax(-1), indices.numpy())
    attended = F.attention(t, t, t, causal=True).numpy()
    np.testing.assert_array_equal(attended[0], t.numpy()[0])


# -- the NumPy backend ----------------------------------------------------------------------------


def kernels_of(function, *shapes):
    types = [realta.TensorType("float32", shape, "numpy:0") for shape in shapes]
    return program_for(realta.stage(function)(*types).graph, Options()).kernels


def test_generated_code_walks_blocks():
    (small,) = kernels_of(lambda x: F.exp(x) * 2.0 + 1.0, (4, 6))
    (large,) = kernels_of(lambda x: F.exp(x) * 2.0 + 1.0, (4000, 1000))
    assert "for " not in small.source
    assert re.search(r"^\s+for .* in ", large.source, re.MULTILINE)
    (row,) = kernels_of(lambda x: F.softmax(x * 2.0), (4000, 1000))
    assert re.search(r"^\s+for .* in ", row.source, re.MULTILINE)


def test_generated_code_writes_into_scratch():
    (kernel,) = kernels_of(lambda x, y: F.exp(x) * F.sin(y) + F.cos(x), (4000, 1000), (4000, 1000))
    calls = re.findall(r"^\s+(?:exp|sin|cos|mul|add)_\(.*\)$", kernel.source, re.MULTILINE)
    assert len(calls) == 5
    # The last argument of a ufunc is where it writes: the output's block or a reused register.
    assert {call.rpartition(", ")[2] for call in calls} == {"b0)", "r0)"}
    assert "thread_scratch" in kernel.source


# -- the suite ------------------------------------------------------------------------------------


def test_the_suite_has_these_levels():
    assert [level.name for level in LEVELS] == [
        "manifest",
        "memory",
        "core",
        "math",
        "linalg",
        "indexing",
        "random",
        "fusion",
        "robust-device",
        "contexts",
        "robust",
    ]
    assert all(level.promise for level in LEVELS)
    assert [level.name for level in LEVELS if level.kind == "integration"] == ["contexts", "robust"]


def test_cases_run_in_these_modes():
    assert set(MODES) == {"eager", "lazy", "region", "compiled", "compiled-twice", "constants"}


def test_the_faults_asked_for_are_there():
    told = " ".join(f"{fault.name}: {fault.tells}" for fault in FAULTS)
    for name in (
        "wrong-dtype-out",
        "overwrites-input",
        "aliases-",
        "max-drops-nan",
        "block-edge",
        "17, 33 or 1025",
        "wrong-axis",
        "half-accumulator",
        "reciprocal-division",
        "stale-second-call",
        "leaks-buffers",
        "broadcast-index-map",
        "unstable-sort",
        "philox-lanes",
        "claims-too-much",
    ):
        assert name in told


# -- after failures -------------------------------------------------------------------------------


class Failing(OpByOpBackend):
    """A device whose exponential raises while it is told to."""

    name = "failing"
    broken = True

    @staticmethod
    def _exp(node, x):
        if Failing.broken:
            raise ArithmeticError("the unit is on fire")
        return np.exp(x)

    kernels = {"add": lambda node, x, y: x + y, "exp": _exp}


@pytest.fixture
def failing():
    register_backend(Failing())
    Failing.broken = True
    yield "failing:0"
    close_devices("failing")
    unregister_backend("failing")


def test_work_after_a_backend_raised_is_fine(failing):
    x = Tensor([1.0, 2.0], device=failing)
    kept = []

    def body(x):
        kept.append(F.exp(x + x))
        return kept[0] + x

    with pytest.raises(errors.ExecutionError, match="on fire"):
        realta.functional(body)(x)
    for _ in range(2):
        with pytest.raises(errors.ExecutionError, match="on fire"):
            kept[0].numpy()
    assert (x + x).tolist() == [2.0, 4.0]
    Failing.broken = False
    kept.clear()
    expected = np.exp(np.float32([2, 4])) + np.float32([1, 2])
    np.testing.assert_array_equal(realta.functional(body)(x).numpy(), expected)


@pytest.mark.parametrize("device", ["numpy:0", "reference:0"])
def test_a_process_lives_after_impossible_allocations(device):
    for _ in range(3):
        with pytest.raises(errors.OutOfMemory) as caught:
            realta.ones((1 << 20, 1 << 20, 64), device=device).numpy()
        for number in ("requested 256.0 TiB", "live", "pooled", "limit"):
            assert number in caught.value.what
    assert F.sum(realta.ones((3,), device=device)).item() == 3.0


# -- demo and docs --------------------------------------------------------------------------------


def test_the_digits_are_the_360_test_images():
    data = realta.load_tensors(ROOT / "examples/digits/data/digits_test.safetensors")
    images, labels = data["images"], data["labels"].numpy()
    assert images.type == realta.TensorType("float32", (360, 64), images.type.device)
    assert set(np.unique(labels)) == set(range(10))
    assert images.numpy().min() == 0.0
    assert images.numpy().max() == 1.0
    weights = realta.load_tensors(ROOT / "examples/digits/data/mlp.safetensors")
    assert weights["fc1.weight"].shape == (128, 64)
    assert (ROOT / "tools/make_digits.py").exists()


def test_mkdocs_has_these_plugins_only():
    text = read("mkdocs.yml")
    block = re.search(r"^plugins:\n((?:  .*\n)+)", text, re.MULTILINE)
    assert re.findall(r"^  - (\w+)", block.group(1), re.MULTILINE) == ["search", "mkdocstrings"]
    assert "strict: true" in text
    groups = toml("pyproject.toml")["dependency-groups"]["docs"]
    assert "mkdocs>=1.6.1,<2" in groups


@pytest.mark.parametrize(
    "page",
    [
        "tutorial/from-call-to-kernel.md",
        "explain/map.md",
        "explain/decisions.md",
        "spec/graph.md",
        "spec/contexts.md",
        "spec/numerics.md",
        "reference/ops.md",
    ],
)
def test_the_docs_have_these_pages(page):
    text = read(f"docs/{page}")
    assert re.match(r"(<!--.*-->\n)?# \w", text)
    assert len(text.splitlines()) > 20
