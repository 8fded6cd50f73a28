"""The sanitizer check: where gcc is missing, and what it makes of reports."""

import pytest

from tools import sanitizers


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without gcc."""
    monkeypatch.setenv("PATH", str(tmp_path))


def test_where_gcc_is_missing_it_says_so_and_passes(nowhere, monkeypatch, capsys):
    monkeypatch.delenv("CI", raising=False)
    assert sanitizers.main([]) == 0
    assert capsys.readouterr().out == "sanitizers: gcc has none; install gcc\n"


def test_ci_fails_without_it(nowhere, monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    assert sanitizers.main([]) == 1
    assert "needed in CI" in capsys.readouterr().out


@pytest.mark.skipif(sanitizers.runtime() is None, reason="gcc has no sanitizers here")
@pytest.mark.parametrize("expected", ["heap-buffer-overflow", "shift exponent"])
def test_a_kernel_that_is_wrong_is_reported(expected, tmp_path):
    library = sanitizers.runtime()
    arguments = ("--folder", str(tmp_path), "--wrong", sanitizers.WRONG[expected])
    code, report = sanitizers.child(library, *arguments)
    assert code != 0
    assert expected in report
    assert "of the kernels: void wrong(" in sanitizers.shown(report)


@pytest.mark.parametrize(("code", "right"), [(0, True), (1, False)])
def test_a_level_that_fails_fails(monkeypatch, tmp_path, code, right):
    monkeypatch.setattr(sanitizers, "child", lambda *a: (code, "level core: 1 cases"))
    assert sanitizers.check_level("", tmp_path, "core", 1) is right


def test_sanitizers_that_find_nothing_wrong_are_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setattr(sanitizers, "child", lambda *a: (1, "heap-buffer-overflow"))
    assert not sanitizers.check_detection("", tmp_path)
