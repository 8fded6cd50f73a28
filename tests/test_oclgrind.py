"""The Oclgrind check: where the simulator is missing, and what stands in its way."""

from pathlib import Path

import pytest

from tools import oclgrind

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without Oclgrind."""
    monkeypatch.setenv("OCLGRIND_ICD", str(tmp_path / "missing.so"))


def test_where_it_is_missing_it_says_so_and_passes(nowhere, monkeypatch, capsys):
    monkeypatch.delenv("CI", raising=False)
    assert oclgrind.main([]) == 0
    assert capsys.readouterr().out == (
        "oclgrind: not installed; run tools/install_debian.sh as root\n"
    )


def test_ci_fails_without_it(nowhere, monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    assert oclgrind.main([]) == 1
    assert "needed in CI" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("code", "report", "right"),
    [(0, "", True), (0, "\nInvalid read of size 4 at …\n", False), (1, "", False)],
    ids=["clean", "reported", "failed"],
)
def test_anything_reported_or_failed_fails(monkeypatch, tmp_path, code, report, right):
    monkeypatch.setattr(oclgrind, "report_of", lambda *a, **k: (code, report))
    assert oclgrind.check_profile(tmp_path, tmp_path, "cpu", 1) is right


def test_a_simulator_that_finds_nothing_wrong_is_not_trusted(monkeypatch, tmp_path):
    monkeypatch.setattr(oclgrind, "report_of", lambda *a, **k: (0, "Invalid write of size 4"))
    assert not oclgrind.check_detection(tmp_path, tmp_path)


def test_ci_installs_what_no_package_index_has_before_the_sessions_that_need_it():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    needing = ("oclgrind", "kernel_example", "sanitizers", "nox -s cuda")
    first = min(text.index(word, text.index("check tests")) for word in needing)
    assert text.index("-s tests") < text.index("check install_debian") < first
