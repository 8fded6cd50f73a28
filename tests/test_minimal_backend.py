"""The minimal backend: a distribution of its own, at most 30 lines, found by its entry point."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import realta

ROOT = Path(__file__).resolve().parent.parent
MINIMAL = ROOT / "examples" / "backend-minimal"


def test_it_has_at_most_30_lines():
    """Lines of Python: blank ones, the docstring and pure comments do not count."""
    lines = []
    for path in (MINIMAL / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        body = text.removeprefix(f'"""{ast.get_docstring(ast.parse(text), clean=False)}"""')
        lines += [line for line in body.splitlines() if line.strip() and line.strip()[0] != "#"]
    assert 0 < len(lines) <= 30
    assert max(len(line) for line in lines) <= 100


def test_it_is_a_distribution_with_one_entry_point():
    project = tomllib.loads((MINIMAL / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"] == {"realta.backends.v1": {"minimal": "realta_minimal"}}
    needs = {requirement.partition(">")[0] for requirement in project["dependencies"]}
    assert "realta" in needs
    assert needs <= {"realta", "numpy"}


def test_core_knows_nothing_of_it():
    sources = (ROOT / "packages").rglob("src/**/*.py")
    assert not [path for path in sources if "realta_minimal" in path.read_text(encoding="utf-8")]


def test_it_is_discovered_by_its_entry_point_alone():
    program = (
        "import sys, realta\n"
        "assert 'minimal' in [entry.name for entry in realta.backends()]\n"
        "assert 'realta_minimal' not in sys.modules\n"
        "x = realta.Tensor([1.0, 2.0], device='minimal')\n"
        "assert 'realta_minimal' in sys.modules\n"
        "assert 'realta_numpy' not in sys.modules\n"
        "print((x + x).tolist(), x.device.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[2.0, 4.0] minimal:0\n"


def test_it_computes_in_every_mode():
    x = realta.Tensor([[1.0, -2.0], [3.0, 4.0]], device="minimal")
    wanted = np.sqrt(np.abs(x.numpy() * 2.0))

    def body(x):
        return realta.F.sqrt(realta.F.abs(x * 2.0))

    with realta.lazy():
        pending = body(x)
    for found in (body(x), realta.functional(body)(x), pending, realta.compile(body)(x.type)(x)):
        np.testing.assert_array_equal(found.numpy(), wanted)
