"""Workflows: the tool that runs their steps here, and the action and the template it runs."""

import re
from pathlib import Path

import pytest
from realta.cli import main as realta_main
from realta.cli.new_backend import TIERS

yaml = pytest.importorskip("yaml")
workflow = pytest.importorskip("tools.workflow")
ROOT = Path(__file__).resolve().parent.parent

RUNS = """
env: {A: "${{ vars.A || 'a b' }}"}
jobs:
  one:
    steps:
      - uses: actions/checkout@v4
      - name: writes
        env: {B: "${{ env.A }}!"}
        run: echo "$A $B" > out.txt
      - run: |
          echo told >> "$GITHUB_STEP_SUMMARY"
          exit 3
      - run: touch never.txt
"""


def test_steps_run_in_order_until_one_fails(tmp_path, capfd):
    file = tmp_path / "w.yml"
    file.write_text(RUNS)
    assert workflow.main([str(file), "--directory", str(tmp_path)]) == 3
    assert (tmp_path / "out.txt").read_text() == "a b a b!\n"
    assert not (tmp_path / "never.txt").exists()
    shown = capfd.readouterr().out
    assert "step 1: actions/checkout@v4: not run here" in shown
    assert "step 3 failed with exit code 3" in shown
    assert "--- summary\ntold" in shown


def test_variables_replace_defaults(tmp_path):
    file = tmp_path / "w.yml"
    file.write_text(RUNS)
    workflow.main([str(file), "--directory", str(tmp_path), "--var", "A=c=d"])
    assert (tmp_path / "out.txt").read_text() == "c=d c=d!\n"


def test_what_it_does_not_know_is_no_empty_text():
    with pytest.raises(workflow.Unknown, match=r"secrets\.TOKEN"):
        workflow.filled("${{ secrets.TOKEN }}", {"vars": {}})


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Stand-ins for pip and the suite, which note how they were called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("python", "realta-conformance"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/calls.txt\nexit ${{CODE:-0}}\n')
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return tmp_path / "calls.txt"


def act(tmp_path, *arguments):
    directory = ("--directory", str(tmp_path))
    return workflow.main([str(ROOT / "action.yml"), *directory, *arguments])


def test_the_action_installs_and_certifies(tmp_path, commands, capfd):
    (tmp_path / "conformance.toml").touch()
    assert act(tmp_path, "--input", "device=chip:0", "--input", "options=--strict") == 0
    assert commands.read_text() == (
        "python -m pip install realta realta-conformance\n"
        "realta-conformance run --device chip:0 --json report.json --level core "
        "--expectations conformance.toml --strict\n"
    )


def test_the_action_takes_its_source_and_fails_with_the_suite(tmp_path, commands, monkeypatch):
    monkeypatch.setenv("CODE", "0")
    install = "install=--find-links w realta"
    assert act(tmp_path, "--input", "device=x:0", "--input", "level=", "--input", install) == 0
    assert "python -m pip install --find-links w realta\n" in commands.read_text()
    assert "run --device x:0 --json report.json\n" in commands.read_text()
    (tmp_path / "bin" / "realta-conformance").write_text("#!/bin/sh\necho red\nexit 1\n")
    assert act(tmp_path, "--input", "device=x:0") == 1


def test_no_input_is_run_as_a_command(tmp_path, commands):
    act(tmp_path, "--input", "device=x:0; touch hacked")
    assert not (tmp_path / "hacked").exists()


def test_the_action_needs_a_device(tmp_path, capsys):
    assert act(tmp_path) == 2
    assert "--input device=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize("tier", TIERS)
def test_the_templates_workflow_takes_its_source_from_a_variable(
    tmp_path, commands, monkeypatch, tier
):
    monkeypatch.chdir(tmp_path)
    realta_main(["new-backend", "chip", "--tier", tier])
    file = tmp_path / "realta-chip/.github/workflows/conformance.yml"
    lines = [line for line in file.read_text().splitlines() if re.match(r"\s+run:|\s+- run:", line)]
    assert lines
    arguments = [str(file), "--directory", str(tmp_path / "realta-chip")]
    assert workflow.main([*arguments, "--var", "REALTA_INSTALL=--find-links w realta"]) == 0
    assert commands.read_text().splitlines() == [
        "python -m pip install --find-links w realta",
        "python -m pip install .[test]",
        "python -m pytest",
        (
            "realta-conformance run --device chip:0 --level core "
            "--expectations conformance.toml --json report.json"
        ),
    ]
