"""What `realta new-backend` writes: it runs, certifies, and passes its own tests, untouched."""

import os
import shutil
import subprocess
import sys
import tomllib

import pytest
from realta.cli import main
from realta.cli.new_backend import TIERS


def made(tmp_path, monkeypatch, tier):
    """A repository of the tier, as good as installed: its sources with metadata beside them."""
    monkeypatch.chdir(tmp_path)
    name = f"fresh_{tier}"
    assert main(["new-backend", name, "--tier", tier, "--into", tier]) == 0
    root = tmp_path / tier
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    metadata = root / "src" / f"realta_{name}-{project['version']}.dist-info"
    metadata.mkdir()
    ((group, entries),) = project["entry-points"].items()
    lines = [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return root, f"{name}:0"


def run(root, *command):
    path = os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "REALTA_CACHE": "off"}
    environment.pop("REALTA_PLUGINS", None)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(params=TIERS)
def repository(request, tmp_path, monkeypatch):
    if request.param == "kernel" and not any(map(shutil.which, ("cc", "gcc", "clang"))):
        if os.environ.get("CI") == "true":
            pytest.fail("a C compiler is missing")
        pytest.skip("there is no C compiler")
    return made(tmp_path, monkeypatch, request.param)


def test_its_own_tests_pass(repository):
    root, _ = repository
    code, text = run(root, "-m", "pytest", "-p", "no:cacheprovider")
    assert code == 0, text
    assert "3 passed" in text


def certified(root, device, *arguments):
    suite = "import sys; from realta_conformance.cli import main; sys.exit(main())"
    expectations = ("--expectations", "conformance.toml")
    return run(root, "-c", suite, *arguments, "--device", device, *expectations)


def test_the_op_tier_certifies_at_core(tmp_path, monkeypatch):
    root, device = made(tmp_path, monkeypatch, "op")
    code, text = certified(root, device, "run", "--level", "core", "--strict")
    assert code == 0, text
    assert "certified: manifest, memory, core @ spec 1.0 for float32" in text


def test_the_graph_tier_passes_a_sample(tmp_path, monkeypatch):
    root, device = made(tmp_path, monkeypatch, "graph")
    code, text = certified(root, device, "smoke")
    assert code == 0, text
    assert "certified: manifest, memory, core @ spec 1.0 for float32" in text


def test_a_kernel_that_is_wrong_fails(tmp_path, monkeypatch):
    """The template's green is worth something: one wrong kernel makes it red."""
    root, device = made(tmp_path, monkeypatch, "op")
    kernels = root / "src/realta_fresh_op/kernels.py"
    text = kernels.read_text()
    assert text.count("elementwise(np.subtract)") == 1
    kernels.write_text(text.replace("elementwise(np.subtract)", "elementwise(np.add)"))
    code, text = certified(root, device, "smoke")
    assert code == 1, text
    assert "realta-conformance replay core/sub" in text
