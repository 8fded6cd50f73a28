"""Distributions made for a test: folders with metadata and a module, put on ``sys.path``."""

from __future__ import annotations

import sys

import pytest
from realta.plugins import close_devices, forget_plugins

GOOD = """
from realta.backend import OpByOpBackend, hookimpl

class Backend(OpByOpBackend):
    name = "{name}"
    kernels = {{"add": lambda node, x, y: x + y}}

@hookimpl
def realta_backends():
    return [Backend()]
"""


@pytest.fixture(autouse=True)
def fresh_plugins(monkeypatch):
    """Each test scans, loads and probes anew."""
    for variable in ("REALTA_PLUGINS", "REALTA_DEVICE"):
        monkeypatch.delenv(variable, raising=False)
    forget_plugins()
    close_devices()
    yield
    forget_plugins()
    close_devices()


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Installs a distribution: ``distribution("realta-x", "1.0", {"x": source}, group=…)``."""

    def install(
        name, version="1.0", backends=None, *, group="realta.backends.v1", folder="", target=None
    ):
        root = tmp_path / (folder or "site")
        root.mkdir(exist_ok=True)
        metadata = root / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        lines = [f"[{group}]"]
        for backend, source in (backends or {}).items():
            module = f"test_plugin_{name.replace('-', '_')}_{backend}"
            (root / f"{module}.py").write_text(source or GOOD.format(name=backend))
            monkeypatch.delitem(sys.modules, module, raising=False)
            lines.append(f"{backend} = {target or module}")
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
        if str(root) not in sys.path:
            monkeypatch.syspath_prepend(str(root))
        forget_plugins()
        return root

    return install
