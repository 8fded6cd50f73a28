"""The workspace: one version, small modules, no lock file, and a README that keeps its commands."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import acceptance, bump_version, check_limits

ROOT = Path(__file__).resolve().parent.parent
PREPARE = 'python3 -m venv .venv && .venv/bin/pip install -q "nox[uv]"'
README_COMMANDS = [f"{PREPARE} && .venv/bin/nox -s {session}" for session in ("tests", "demo")]


def test_one_version() -> None:
    versions = bump_version.versions()
    assert len(versions) == 12
    assert len(set(versions.values())) == 1, versions


def test_members_ask_for_each_other_in_one_range() -> None:
    (version,) = set(bump_version.versions().values())
    assert bump_version.sibling_ranges() == {bump_version.sibling_range(version)}


def test_every_member_asks_for_python_3_11_and_ships_its_types() -> None:
    for path in bump_version.members():
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        assert project["requires-python"] == ">=3.11", path
        assert project["license"] == "Apache-2.0", path
        assert list((path.parent / "src").glob("*/py.typed")), path


def test_bump_rewrites_version_and_ranges() -> None:
    text = 'version = "0.1.0"\ndependencies = ["realta>=0.1,<0.2", "rich>=13"]\n'
    assert bump_version.bumped(text, "1.4.2") == (
        'version = "1.4.2"\ndependencies = ["realta>=1.4,<1.5", "rich>=13"]\n'
    )


def test_licence_copies_are_the_licence() -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    copies = [path for path in bump_version.members() if (path.parent / "LICENSE").exists()]
    assert len(copies) == 6
    assert all((path.parent / "LICENSE").read_bytes() == licence for path in copies)


def test_modules_keep_the_limits() -> None:
    assert check_limits.problems() == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('"""A module of many lines."""\n' + "x = 1\n" * 500, "501 lines"),
        ("x = 1\n", "first line must name the concept"),
        ('"""Module."""\n', "first line must name the concept"),
        ('"""A long function."""\ndef f():\n' + "    x = 1\n" * 60, "f has 61 lines"),
        ('"""Work left."""\n# {}\n'.format("TODO later"), "TODO without an issue"),
    ],
    ids=["length", "docstring", "concept", "function", "todo"],
)
def test_limits_are_noticed(tmp_path: Path, text: str, complaint: str) -> None:
    module = tmp_path / "packages" / "core" / "src" / "m.py"
    module.parent.mkdir(parents=True)
    module.write_text(text)
    found = check_limits.problems(tmp_path)
    assert any(complaint in line for line in found), found


def test_a_median_over_the_limit_is_noticed(tmp_path: Path) -> None:
    for name in "abc":
        module = tmp_path / "packages" / "core" / "src" / f"{name}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text('"""A module of medium size."""\n' + "x = 1\n" * 150)
    assert check_limits.problems(tmp_path) == ["the median module has 151 lines, 150 allowed"]


def test_a_todo_with_an_issue_and_a_docstring_are_free(tmp_path: Path) -> None:
    module = tmp_path / "packages" / "core" / "src" / "m.py"
    module.parent.mkdir(parents=True)
    docstring = '    """Says much.\n' + "    More.\n" * 60 + '    """\n'
    module.write_text('"""A fine module."""\n# TODO(#12): later\ndef f():\n' + docstring)
    assert check_limits.problems(tmp_path) == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout")
def test_no_lock_file_is_tracked() -> None:
    command = ["git", "ls-files", "--", "*uv.lock", "*.lock"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert listed.stdout == ""
    assert "uv.lock" in (ROOT / ".gitignore").read_text().splitlines()


def test_readme_has_exactly_its_two_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    assert [line for block in blocks for line in block.splitlines()] == README_COMMANDS
    assert text.splitlines().index(README_COMMANDS[0]) < 30


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert README_COMMANDS[0] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def item(**proof: object) -> acceptance.Item:
    entry = {"id": "a", "section": "deliver", "what": "something", **proof}
    return acceptance.item_from(entry, "here")


@pytest.mark.parametrize(
    ("outcomes", "problem"),
    [
        ({"t.py::test_a": "passed"}, ""),
        ({"t.py::test_a[1]": "passed", "t.py::test_a[2]": "skipped"}, ""),
        ({"t.py::test_a[1]": "passed", "t.py::test_a[2]": "failed"}, "failed: t.py::test_a[2]"),
        ({"t.py::test_a": "skipped"}, "skipped: t.py::test_a"),
        ({"t.py::test_ab": "passed"}, "no such test: t.py::test_a"),
    ],
    ids=["passed", "one-passed", "one-failed", "skipped", "absent"],
)
def test_an_item_needs_a_passing_test(outcomes: dict[str, str], problem: str) -> None:
    assert acceptance.problem(item(show="t.py::test_a"), outcomes, {}) == problem


def test_an_item_may_be_shown_by_a_command() -> None:
    assert acceptance.problem(item(command="x"), {}, {"x": 0}) == ""
    assert acceptance.problem(item(command="x"), {}, {"x": 3}) == "exit code 3: x"


def test_an_item_may_be_shown_by_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(acceptance, "ROOT", tmp_path)
    results = tmp_path / "benchmarks" / "results"
    results.mkdir(parents=True)
    rows = '{"rows": [{"id": "W1", "verdict": "PASS"}, {"id": "W2", "verdict": "MISS"}]}'
    (results / "r.json").write_text(rows)
    assert acceptance.problem(item(result="r.json#W1"), {}, {}) == ""
    assert acceptance.problem(item(result="r.json#W2"), {}, {}) == "r.json#W2: MISS"
    assert "no row" in acceptance.problem(item(result="r.json#W3"), {}, {})
    assert "no file" in acceptance.problem(item(result="s.json#W1"), {}, {})


def test_a_missing_item_is_not_shown() -> None:
    assert acceptance.problem(item(missing="no time"), {}, {}) == "missing: no time"


@pytest.mark.parametrize(
    "proof",
    [
        {},
        {"show": []},
        {"show": "a", "command": "b"},
        {"shown": "a"},
        {"show": "a", "section": "x"},
    ],
    ids=["none", "empty", "two", "unknown", "section"],
)
def test_a_malformed_item_is_refused(proof: dict[str, object]) -> None:
    with pytest.raises(acceptance.Malformed, match="here: "):
        item(**proof)


def test_acceptance_runs_what_items_name(tmp_path: Path) -> None:
    name = "tests/test_workspace.py::test_one_version"
    file = tmp_path / "a.toml"
    entry = '[[item]]\nid = "{0}"\nsection = "done"\nwhat = "w"\nshow = "{1}"\n'
    file.write_text(entry.format("a", name))
    command = [sys.executable, "tools/acceptance.py", str(file)]
    good = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert good.returncode == 0, good.stdout + good.stderr
    file.write_text(entry.format("a", name) + entry.format("b", f"{name}_not"))
    bad = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert bad.returncode == 1
    assert f"FAIL  b: w  [no such test: {name}_not]" in bad.stdout
