import json
import subprocess
import sys

import pytest
from realta.backend import OpByOpBackend, Unavailable
from realta.cli import main
from realta.ops import all_ops
from realta.plugins import backends, register_backend, unregister_backend

GRAPH = """graph linear(%x: f32[8, 4], %w: f32[4, 3]) {
  %0: f32[8, 3] = matmul(%x, %w)
  %1: f32[8, 3] = relu(%0)
  return %1
}
"""


class Absent(OpByOpBackend):
    name = "absent"

    def probe(self):
        return Unavailable("there is no such chip", "solder one in")


@pytest.fixture
def absent():
    register_backend(Absent())
    yield
    unregister_backend("absent")


@pytest.fixture
def graph_file(tmp_path):
    path = tmp_path / "linear.graph"
    path.write_text(GRAPH)
    return str(path)


def run_json(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_devices_shows_what_computes_and_what_is_missing(capsys, absent):
    assert main(["devices"]) == 0
    text = capsys.readouterr().out
    assert "reference:0" in text
    assert "absent is unavailable: there is no such chip\n  fix: solder one in" in text
    code, data = run_json(capsys, "devices")
    assert code == 0
    assert sum(device["default"] for device in data["devices"]) == 1
    assert {"device": "reference:0"}.items() <= next(
        d for d in data["devices"] if d["device"] == "reference:0"
    ).items()
    assert {"backend": "absent", "state": "unavailable"}.items() <= data["missing"][0].items()


def test_backends_shows_every_state_with_its_reason(capsys, absent):
    assert main(["backends"]) == 0
    assert "absent: there is no such chip\n  fix: solder one in" in capsys.readouterr().out
    _, data = run_json(capsys, "backends")
    assert [entry["name"] for entry in data["backends"]] == [entry.name for entry in backends()]


def test_backends_can_be_listed_without_loading_one():
    code = (
        "import sys\nfrom realta.cli import main\nmain(['backends', '--no-load'])\n"
        "sys.exit('loaded' if 'realta.backend.reference' in sys.modules else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "installed" in done.stdout


def test_ops_lists_the_registry(capsys):
    _, data = run_json(capsys, "ops")
    assert [op["name"] for op in data["ops"]] == [op.name for op in all_ops()]
    _, data = run_json(capsys, "ops", "--level", "linalg", "--primitive")
    assert data["ops"]
    assert all(op["level"] == "linalg" and op["primitive"] for op in data["ops"])


def test_ops_shows_all_about_one(capsys):
    assert main(["ops", "cumsum"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("cumsum(x, axis, exclusive=False, reverse=False)\n")
    assert "dtypes: " in text


def test_an_unknown_op_is_an_error_with_a_hint(capsys):
    assert main(["ops", "softmx"]) == 2
    assert capsys.readouterr().err == (
        "realta ops: there is no op named 'softmx'\n  fix: did you mean 'softmax'?\n"
    )


def test_explain_shows_the_kernels_of_a_graph_file(capsys, graph_file):
    assert main(["explain", graph_file, "--device", "reference"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(GRAPH.rstrip())
    assert "kernel(s) on reference:0" in text
    _, data = run_json(capsys, "explain", graph_file, "--device", "reference")
    members = {op for kernel in data["kernels"] for op in kernel["ops"]}
    assert members == {"matmul(f32[8,4], f32[4,3])", "relu(f32[8,3])"}
    assert (data["device"], data["fallbacks"]) == ("reference:0", [])


def test_explain_shows_arithmetic_schedules_and_on_request_sources(capsys, graph_file):
    assert main(["explain", graph_file, "--device", "interp"]) == 0
    text = capsys.readouterr().out
    assert "arithmetic" in text
    assert "(cpu)" in text
    assert "<- maximum3" not in text
    assert main(["explain", graph_file, "--device", "interp", "--source"]) == 0
    assert "<- maximum3" in capsys.readouterr().out
    _, data = run_json(capsys, "explain", graph_file, "--device", "interp")
    # 2 · 8 · 3 · 4 for the product; relu is a select of a comparison or a maximum
    assert sum(kernel["operations"] for kernel in data["kernels"]) >= 2 * 8 * 3 * 4 + 24
    assert {kernel["profile"] for kernel in data["kernels"]} == {"cpu"}


def test_explain_says_where_a_backend_generates_no_source(capsys, graph_file):
    assert main(["explain", graph_file, "--device", "reference", "--source"]) == 0
    assert "no source was generated" in capsys.readouterr().out


def test_explain_of_a_file_that_is_not_there(capsys, tmp_path):
    path = str(tmp_path / "missing.graph")
    assert main(["explain", path]) == 2
    assert capsys.readouterr().err == (
        "realta explain: the graph file cannot be read: No such file or directory\n"
        f"  where: {path}\n  fix: check the path\n"
    )


def test_explain_of_a_text_that_does_not_parse_shows_where(capsys, tmp_path):
    path = tmp_path / "bad.graph"
    path.write_text("graph bad(%x: f32[3]) {\n  %0: f32[3] = neg(%y)\n  return %0\n}\n")
    assert main(["explain", str(path)]) == 2
    text = capsys.readouterr().err
    assert "2:" in text
    assert "^" in text


def test_explain_on_an_unknown_device(capsys, graph_file):
    assert main(["explain", graph_file, "--device", "nowhere"]) == 2
    assert "no installed backend is called 'nowhere'" in capsys.readouterr().err


def test_doctor_computes_on_every_device(capsys, monkeypatch):
    monkeypatch.setenv("REALTA_FALLBACK", "allow")
    code, data = run_json(capsys, "doctor")
    assert code == 0
    assert data["ok"]
    assert data["settings"]["REALTA_FALLBACK"] == "allow"
    checks = {check["what"]: check for check in data["checks"]}
    assert checks["device reference:0"]["ok"]
    assert checks["device cpu"]["needed"]


def test_doctor_finds_a_device_that_computes_wrongly(capsys):
    class Wrong(OpByOpBackend):
        name = "wrong"
        kernels = {"add": lambda node, x, y: x + y + 1}

    register_backend(Wrong())
    try:
        main(["doctor"])
    finally:
        unregister_backend("wrong")
    text = capsys.readouterr().out
    assert "PROBLEM  device wrong:0" in text
    assert "computes 1 + 1 = 3.0" in text


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["explain"]])
def test_bad_usage_exits_with_2(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: realta" in capsys.readouterr().err
