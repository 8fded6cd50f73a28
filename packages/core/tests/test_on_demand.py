"""Names on demand: every public name of a facade resolves, and none is hidden by a module."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

FACADES = ("realta", "realta.fusion", "realta.graph", "realta.passes", "realta.runtime")


@pytest.mark.parametrize("name", FACADES)
def test_every_public_name_resolves(name: str) -> None:
    facade = importlib.import_module(name)
    for public in facade.__all__:
        assert getattr(facade, public) is not None


@pytest.mark.parametrize("name", FACADES[1:])
def test_no_function_is_named_like_a_module_beside_it(name: str) -> None:
    facade = importlib.import_module(name)
    assert facade.__file__ is not None
    modules = {path.stem for path in Path(facade.__file__).parent.glob("*.py")}
    # The import system would put the module where the function is asked for.
    hidden = [n for n in facade.__all__ if n in modules]
    assert not hidden
    assert not [n for n in facade.__all__ if isinstance(getattr(facade, n), ModuleType)]


def test_an_unknown_name_is_an_attribute_error() -> None:
    facade = importlib.import_module("realta.graph")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = facade.nothing
