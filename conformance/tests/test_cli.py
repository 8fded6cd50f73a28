"""The command: exit codes, listing, replay, show."""

import json

import pytest
from realta.backend import OpByOpBackend
from realta.backend.reference import Reference
from realta.plugins import register_backend, unregister_backend
from realta.types import bool_, float32, int32, int64
from realta_conformance.cli import main


class Wrong(OpByOpBackend):
    """A backend whose neg does nothing."""

    name = "wrong-neg"
    dtypes = frozenset({bool_, int32, int64, float32})
    kernels = {"add": Reference.kernels["add"], "neg": lambda node, x: x.copy()}


@pytest.fixture
def wrong():
    register_backend(Wrong())
    yield "wrong-neg:0"
    unregister_backend("wrong-neg")


def test_a_run_that_conforms_returns_0_and_writes_its_report(tmp_path, capsys):
    path = tmp_path / "report.json"
    code = main(["run", "--strict", "--sample", "--device", "reference:0", "--level", "memory",
                 "--json", str(path)])  # fmt: skip
    assert code == 0
    report = json.loads(path.read_text())
    assert [v["verdict"] for v in report["levels"]] == ["CONFORMS", "CONFORMS"]
    shown = capsys.readouterr().out
    assert "CONFORMS" in shown
    assert "seed 0" in shown


def test_a_failure_returns_1_and_says_how_to_replay_it(wrong, capsys):
    assert main(["smoke", "--device", wrong]) == 1
    shown = capsys.readouterr().out
    assert "failed core/neg/values" in shown
    assert "replay: realta-conformance replay core/neg-" in shown


def test_a_replay_shows_the_graph_and_fails_again(wrong, capsys):
    assert main(["replay", "core/neg-f32-17/graph", "--device", wrong]) == 1
    shown = capsys.readouterr().out
    assert "neg(%x0)" in shown
    assert "failed" in shown
    assert main(["replay", "core/add-f32-17", "--device", wrong]) == 0
    assert main(["replay", "memory/round-trip", "--device", wrong]) == 0


def test_partial_levels_pass_unless_strict(wrong, tmp_path):
    path = tmp_path / "conformance.toml"
    path.write_text(
        '[[expect]]\nop = "neg"\ndtype = "*"\ncheck = "values"\nreason = "does nothing"\n'
    )
    run = ["run", "--sample", "--device", wrong, "--level", "core", "--expectations", str(path)]
    assert main(run) == 0
    assert main([*run, "--strict"]) == 1


def test_a_stale_expectation_returns_2(wrong, tmp_path, capsys):
    path = tmp_path / "conformance.toml"
    known = '[[expect]]\nop = "{}"\ndtype = "*"\ncheck = "values"\nreason = "known"\n'
    path.write_text(known.format("neg") + known.format("add") + known.format("exp"))
    run = ["run", "--device", wrong, "--level", "core", "--expectations", str(path)]
    assert main(run) == 2
    shown = capsys.readouterr().out
    assert "stale expectation: add" in shown
    assert "expectation: exp" not in shown  # none of its cases ran
    assert main([*run, "--sample"]) == 0  # a sample cannot tell
    assert "unused expectation: add" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["run", "--device", "nowhere:0"], "nowhere"),
        (["run", "--device", "reference:0", "--level", "speed"], "no level 'speed'"),
        (["replay", "core/nothing-f32", "--device", "reference:0"], "no case 'core/nothing-f32'"),
        (["replay", "odd/case", "--device", "reference:0"], "no level 'odd'"),
        (["show", "nothing"], "no op 'nothing'"),
    ],
)
def test_wrong_requests_return_2_and_say_why(arguments, text, capsys):
    assert main(arguments) == 2
    assert text in capsys.readouterr().err


def test_listing_names_cases_and_corpus(capsys):
    assert main(["list", "--level", "linalg"]) == 0
    assert "linalg/dot_general-f32" in capsys.readouterr().out
    assert main(["list", "--corpus"]) == 0
    shown = capsys.readouterr().out
    assert "N1 " in shown
    assert "-> math/first-nan-*" in shown


def test_show_tells_bounds_and_cases(capsys):
    assert main(["show", "math/tanh"]) == 0
    shown = capsys.readouterr().out
    assert "float32: 5 ulp" in shown
    assert "math/tanh-f32-17" in shown
