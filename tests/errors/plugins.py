"""Plugins: distributions that are installed for one provocation."""

from __future__ import annotations

import sys

from realta.plugins import forget_plugins

from tests.errors.catalogue import Place

PLUGIN = """
from realta.backend import OpByOpBackend, hookimpl

class Backend(OpByOpBackend):
    name = "{name}"
    kernels = {{"add": lambda node, x, y: x + y}}

@hookimpl
def realta_backends():
    return [Backend()]
"""


def install(
    place: Place,
    distribution: str,
    name: str,
    *,
    source: str = "",
    group: str = "realta.backends.v1",
) -> None:
    """Puts a distribution with one backend on the path."""
    root = place.folder / distribution
    metadata = root / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    module = f"plugin_of_{distribution.replace('-', '_')}"
    (root / f"{module}.py").write_text(source or PLUGIN.format(name=name))
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {module}\n")
    place.undo.delitem(sys.modules, module, raising=False)
    place.undo.syspath_prepend(str(root))
    forget_plugins()
