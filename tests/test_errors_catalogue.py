"""The catalogue of errors: what each wrong use says, word by word.

``tests/errors/*.py`` provoke the errors, ``tests/errors/*.txt`` hold the whole texts, with paths
and line numbers replaced. After a deliberate change, ``python -m tests.errors`` writes them anew.
"""

import re

import pytest
import realta
from realta.context import current
from realta.errors import RealtaError
from realta.plugins import close_devices, forget_plugins, open_device

from tests.errors import (
    control,
    devices,
    failures,
    graphs,
    habits,
    indexing,
    kernels,
    models,
    realizing,
    standard,
    values,
    windows,
)
from tests.errors.catalogue import CASES, Place, golden_texts, normalized

MODULES = (
    control,
    devices,
    failures,
    graphs,
    habits,
    indexing,
    kernels,
    models,
    realizing,
    standard,
    values,
    windows,
)
GROUPS = [module.__name__.rpartition(".")[2] for module in MODULES]
USERS_LINE = "<user's line>"
IDS = [f"{case.group}: {case.title}" for case in CASES]
LINED = [c for c in CASES if USERS_LINE in golden_texts(c.group).get(c.title, "")]


def provoked(case, folder, monkeypatch):
    """The error of a case, on the reference device, whatever is installed besides."""
    try:
        with realta.default_device("reference:0"), pytest.raises(RealtaError) as caught:
            case.provoke(Place(folder, monkeypatch))
    finally:
        monkeypatch.undo()
        if case.group == "devices":
            forget_plugins()
            close_devices()
    return caught.value


def test_at_least_40_texts_are_held():
    texts = [text for group in GROUPS for text in golden_texts(group).values()]
    assert len(set(texts)) >= 40


def test_every_text_has_its_case_and_every_case_its_text():
    wanted = [(case.group, case.title) for case in CASES]
    held = [(group, title) for group in GROUPS for title in golden_texts(group)]
    assert sorted(wanted) == sorted(held)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_text(case, tmp_path, monkeypatch):
    error = provoked(case, tmp_path, monkeypatch)
    assert error.what, "what happened"
    assert error.where, "where"
    assert error.fix, "how to mend it"
    text = str(error)
    assert normalized(text, tmp_path) == golden_texts(case.group)[case.title]


@pytest.mark.parametrize("case", LINED, ids=[f"{c.group}: {c.title}" for c in LINED])
def test_the_line_is_the_users(case, tmp_path, monkeypatch):
    error = provoked(case, tmp_path, monkeypatch)
    code = case.provoke.__code__
    last = max(line for *_, line in code.co_lines() if line is not None)
    inner = [c for c in code.co_consts if hasattr(c, "co_lines")]
    last = max([last, *[ln for c in inner for *_, ln in c.co_lines() if ln is not None]])
    found = re.findall(rf"{re.escape(code.co_filename)}:(\d+)", str(error))
    helper = values.zeros.__code__.co_firstlineno + 1
    assert found
    assert all(code.co_firstlineno <= int(n) <= last or int(n) == helper for n in found)


def test_nothing_that_fails_leaves_anything_unusable(tmp_path, monkeypatch):
    """After all of them, in one process: no context is open, every device still computes."""
    for number, case in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        provoked(case, folder, monkeypatch)
        assert current.get() is None
    for name in ("reference:0", "numpy:0"):
        x = realta.Tensor([1.0, 2.0], device=name)
        assert realta.functional(lambda x: x + x)(x).tolist() == [2.0, 4.0]
        assert open_device(name).lost is None
