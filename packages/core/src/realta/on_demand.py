"""On demand: package names that are imported when they are first asked for (PEP 562).

Importing the library must stay cheap beside importing NumPy, and most programs never parse a graph
text, read a container or draw an explanation.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["on_demand"]


def on_demand(
    package: str,
    places: Mapping[str, tuple[str, ...]],
    *,
    modules: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Args:
        package: the package's ``__name__``.
        places: by module of the package, the names it has; none stand for the module itself.
        modules: names that stand for a module of the package which is called otherwise.

    Raises:
        AttributeError: when asked for a name that no module has.
    """
    homes = {name: module for module, names in places.items() for name in names or (module,)}
    homes.update(modules)

    def get(name: str) -> Any:
        module = homes.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found: Any = importlib.import_module(f"{package}.{module}")
        if name != module and name not in modules:
            found = getattr(found, name)
        setattr(sys.modules[package], name, found)
        return found

    return get
