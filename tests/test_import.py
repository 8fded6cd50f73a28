"""Importing: touches no backend and no driver, and brings nothing that is not needed yet."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DRIVERS = ("pyopencl", "cuda", "llvmlite", "threadpoolctl")
LATER = (
    "pluggy", "rich", "asyncio", "dataclasses", "importlib.metadata", "hypothesis", "numpy.typing",
    "safetensors", "torch", "realta.runtime.contract", "realta.codegen", "realta.nn",
)  # fmt: skip
SOURCES = sorted(
    path
    for member in ("packages/*", "conformance", "saboteurs", "examples/backend-*")
    for path in ROOT.glob(f"{member}/src/*/**/*.py")
)


def modules_after(program: str) -> set[str]:
    """The modules that a fresh process holds at the end of a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split())


def beyond(program: str, baseline: str) -> set[str]:
    """The modules that a program brings besides those of another."""
    return modules_after(program) - modules_after(baseline)


@pytest.fixture(scope="module")
def brought() -> set[str]:
    return beyond("import realta", "import numpy, ml_dtypes")


@pytest.mark.parametrize("name", [*DRIVERS, *LATER])
def test_import_brings_no(brought, name):
    assert not {module for module in brought if module == name or module.startswith(f"{name}.")}


def test_import_loads_no_backend(brought):
    assert not {module for module in brought if module.startswith("realta_")}
    assert "realta.backend.reference" not in brought


def test_using_one_device_loads_one_plugin():
    brought = modules_after("import realta; realta.ones((3,), device='reference').numpy()")
    assert "realta.backend.reference" in brought
    assert not {module for module in brought if module.startswith("realta_")}


def test_listing_backends_loads_none():
    brought = modules_after("import realta; assert len(realta.backends()) >= 3")
    assert not {module for module in brought if module.startswith("realta_")}


def test_every_module_says_what_it_is():
    assert len(SOURCES) > 150
    silent = []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        if not ast.get_docstring(ast.parse(text)) or not lines[0].startswith('"""'):
            silent.append(str(path.relative_to(ROOT)))
    assert silent == []


def test_every_public_name_says_what_it_is():
    silent = []
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name.startswith("_"):
                continue
            marks = {ast.unparse(mark) for mark in node.decorator_list}
            if not ast.get_docstring(node) and "overload" not in marks:
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    assert silent == []
