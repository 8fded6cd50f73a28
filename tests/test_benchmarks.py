"""The benchmarks: rows are well formed, verdicts follow from figures, peers run side by side."""

import dataclasses
import json
import os
import re
import socket

import numpy as np
import pytest
import realta

from benchmarks import __main__ as command_line
from benchmarks import display, processes, results, rows
from benchmarks.checks import CHECKS, FIRST_LIGHT, OPENCL, Check
from benchmarks.peers import MODULES, copying, plain_numpy, realta_modes
from benchmarks.processes import Failed, WorkerProcess
from benchmarks.rows import QUICK, Measured, Row
from benchmarks.side_by_side import Timing, measure
from benchmarks.worker import Worker, deviation
from benchmarks.workloads import WORKLOADS, Workload

TINY = Workload("W8a", "a tiny addition", ((3,), (3,)), lambda t, u: t + u, ("numpy",))
KEYS = {
    "command", "got", "id", "limit", "note", "peers", "target", "unit", "verdict", "what",
}  # fmt: skip


def row(target: float = 1.0, got: float | None = 1.0, name: str = "some") -> Row:
    return Row(name, "something", target, "×", lambda _settings: Measured(got))


@pytest.fixture
def one_row(monkeypatch, tmp_path):
    """Replaces the rows of the check by one, and the folder of results by a temporary one."""

    def replace(only: Row) -> None:
        monkeypatch.setitem(CHECKS, "first-light", Check((only,)))
        monkeypatch.setattr(results, "FOLDER", tmp_path)

    return replace


# -- rows -----------------------------------------------------------------------------------------


def test_first_light_promises_what_the_issue_asks() -> None:
    targets = {row.id: row.target for row in FIRST_LIGHT}
    asked = {
        "W1": 1.0, "W2": 1.0, "W3": 1.0, "W4": 1.1, "W8a": 0.8, "W8b": 1.1, "W3-groups": 1,
        "cold-start": 1.45, "import": 1.35, "memory": 45, "tracing": 2,
    }  # fmt: skip
    assert asked.items() <= targets.items()
    assert set(targets) - set(asked) == {"flat-bytes", "flat-objects", "growth"}
    assert len(targets) == len(FIRST_LIGHT)


@pytest.mark.parametrize(
    ("check", "row"),
    [
        pytest.param(check, row, id=f"{name}-{row.id}")
        for name, check in CHECKS.items()
        for row in check.rows
        if row.workload
    ],
)
def test_a_row_compares_peers_that_its_workload_has(check: Check, row: Row) -> None:
    peers = check.peers.get(row.workload, WORKLOADS[row.workload].peers)
    assert {*row.who, row.beside} <= set(peers)
    assert row.beside not in row.who


def test_a_row_has_a_measurement_or_a_workload() -> None:
    with pytest.raises(ValueError, match="row bad needs a measurement or a workload"):
        Row("bad", "nothing", 1.0, "×")
    with pytest.raises(ValueError, match="and not both"):
        Row("bad", "both", 1.0, "×", lambda _settings: Measured(1.0), workload="W1")


def test_comparing_divides_round_by_round_and_says_which_peer_failed() -> None:
    (w8a,) = (row for row in FIRST_LIGHT if row.id == "W8a")
    # The machine was three times slower in the second round.
    timings = {"W8a": {"realta": Timing([1.0, 3.0, 2.0]), "torch": Timing([2.0, 6.0, 2.0]),
                       "numpy": Timing(failure="no")}}  # fmt: skip
    measured = rows.compare(w8a, timings)
    assert measured.got == 0.5
    assert set(measured.figures) == {"realta", "torch"}
    timings["W8a"]["torch"] = Timing(failure="ModuleNotFoundError: no torch")
    assert rows.compare(w8a, timings) == Measured(
        None, {"realta": measured.figures["realta"]}, "torch: ModuleNotFoundError: no torch"
    )


@pytest.mark.parametrize(
    ("peer", "got"),
    [
        pytest.param([40.0, 48.0, 40.0], 0.7, id="a quarter of the peer is more"),
        pytest.param([8.0, 8.0, 8.0], 1.4, id="the copies are more"),
    ],
)
def test_a_quarter_of_a_peer_or_some_copies_whichever_is_more(peer: list[float], got: float):
    (row,) = (row for row in OPENCL if row.id == "ahead-jax-W1")
    timings = {
        "W1": {
            "realta intel": Timing([7.0, 8.4, 7.0]), "realta pocl": Timing([90.0] * 3),
            "jax": Timing(peer), "copy": Timing([10 / 3, 4.0, 10 / 3]),
        }
    }  # fmt: skip
    assert rows.compare(row, timings).got == pytest.approx(got, rel=1e-12)
    timings["W1"]["copy"] = Timing(failure="no memory")
    assert rows.compare(row, timings).note == "copy: no memory"


def test_growth_compares_steps_with_the_median_of_the_short_chains(monkeypatch) -> None:
    short = [{"build": b, "run": 1.0} for b in (1.0, 9.0, 2.0)]
    monkeypatch.setattr(processes, "probe", lambda *_: [*short, {"build": 24.0, "run": 11.0}])
    measured = rows.growth(QUICK)
    assert measured.got == 12.0
    assert measured.figures["run"] == {"short": 1.0, "long": 11.0, "ratio": 11.0}


def test_processes_take_turns_and_the_first_of_each_does_not_count() -> None:
    called = []

    def side(name: str, elapsed: list[float]):
        def start() -> float:
            called.append(name)
            return elapsed.pop(0)

        return start

    measured = rows.compare_processes(
        {"numpy": side("numpy", [90.0, 1.0, 1.0]), "realta": side("realta", [99.0, 3.0, 3.0])},
        QUICK,
    )
    assert called == ["numpy", "realta"] * 3
    assert measured.got == 3.0


# -- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("got", "verdict"), [(0.5, "PASS"), (1.0, "PASS"), (1.000001, "MISS"), (None, "MISS")]
)
def test_a_row_passes_up_to_its_target(got: float | None, verdict: str) -> None:
    entry = results.entry(row(), Measured(got), "first-light")
    assert entry["verdict"] == verdict
    assert set(entry) == KEYS


def test_the_copy_limit_is_no_peer() -> None:
    figures = {"copy": {"seconds": 0.00123456}, "torch": {"seconds": 0.1}}
    entry = results.entry(row(), Measured(1.0, figures), "first-light")
    assert entry["limit"] == {"seconds": 0.001235}
    assert entry["peers"] == {"torch": {"seconds": 0.1}}


def test_a_document_is_sorted_and_names_neither_host_nor_folder(tmp_path) -> None:
    note = f"cannot import name 'F' ({processes.ROOT}/packages/realta/__init__.py), 3 / 4"
    entries = [
        results.entry(row(name=n), Measured(None, note=note), "first-light") for n in ("b", "a")
    ]
    path = tmp_path / "new" / "found.json"
    results.write(results.document(entries), path)
    text = path.read_text(encoding="utf-8")
    found = json.loads(text)
    assert [entry["id"] for entry in found["rows"]] == ["a", "b"]
    assert found["rows"][0]["note"] == "cannot import name 'F' (…), 3 / 4"
    assert list(found) == sorted(found)
    assert found["versions"]["numpy"] == np.__version__
    assert str(processes.ROOT) not in text
    assert not re.search(rf'"{re.escape(socket.gethostname())}"', text)


def test_nothing_measured_is_no_success() -> None:
    assert not results.passed({"rows": []})
    assert results.passed({"rows": [{"verdict": "PASS"}]})
    assert not results.passed({"rows": [{"verdict": "PASS"}, {"verdict": "MISS"}]})


@pytest.mark.parametrize("path", sorted(results.FOLDER.glob("*.json")), ids=lambda p: p.name)
def test_kept_results_are_of_all_rows_and_their_verdicts_follow(path) -> None:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert set(found) == {"machine", "rows", "versions"}
    targets = {row.id: row.target for row in CHECKS[path.stem].rows}
    assert {entry["id"]: entry["target"] for entry in found["rows"]} == targets
    for entry in found["rows"]:
        assert set(entry) == KEYS
        assert (entry["verdict"] == "PASS") == (
            entry["got"] is not None and entry["got"] <= entry["target"]
        )


# -- command line ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("got", "code"), [(1.0, 0), (1.5, 1), (None, 1)])
def test_a_check_ends_with_its_verdict_and_keeps_it(one_row, tmp_path, capsys, got, code) -> None:
    one_row(row(got=got))
    assert command_line.main(["--check", "first-light"]) == code
    found = json.loads((tmp_path / "first-light.json").read_text(encoding="utf-8"))
    assert found["rows"][0]["got"] == got
    assert ("PASS" if code == 0 else "MISS") in capsys.readouterr().out


def test_without_a_check_a_miss_is_no_failure_and_nothing_is_kept(one_row, tmp_path) -> None:
    one_row(row(got=2.0))
    assert command_line.main([]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("partly", [["--quick"], ["--row", "some"]])
def test_a_partial_check_does_not_overwrite_what_is_kept(one_row, tmp_path, partly) -> None:
    one_row(row())
    assert command_line.main(["--check", "first-light", *partly]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_measurement_that_fails_is_a_miss_and_says_why(one_row, capsys) -> None:
    def fails(_settings) -> Measured:
        raise Failed("ValueError: no such thing")

    one_row(Row("some", "something", 1.0, "×", fails))
    assert command_line.main(["--check", "first-light"]) == 1
    assert "ValueError: no such thing" in capsys.readouterr().out


def test_an_unknown_row_is_refused_with_the_known_ones(capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--row", "W99"])
    assert ended.value.code == 2
    assert "no row W99; there are W1, W2" in capsys.readouterr().err


def test_the_plot_draws_the_slowest_longest() -> None:
    figures = {"copy": {"seconds": 0.001}, "torch": {"seconds": 0.004}}
    drawn = display.plot(
        {"rows": [results.entry(row(), Measured(1.0, figures), "first-light")]}
    ).splitlines()
    assert drawn[0] == "some: something"
    assert drawn[1].split() == ["copy", "limit", "1", "ms", "█" * 10]
    assert drawn[2].split() == ["torch", "4", "ms", "█" * 40]


# -- peers and processes --------------------------------------------------------------------------


def test_every_workload_has_known_peers_and_repeatable_inputs() -> None:
    for workload in WORKLOADS.values():
        assert set(workload.peers) <= set(MODULES)
    first, second = WORKLOADS["W8b"].inputs(), WORKLOADS["W8b"].inputs()
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert not np.array_equal(*first)


def test_the_copy_is_complete_and_aligned() -> None:
    source = np.arange(1003, dtype=np.float32)
    copy = copying.Copy(source)
    assert copy.target.ctypes.data % copying.ALIGNMENT == 0
    assert not copy.target.any()
    copy()
    assert np.array_equal(copy.target, source)


def test_numpy_is_timed_by_the_expression_that_a_person_writes() -> None:
    prepared = plain_numpy.prepare("numpy", TINY)
    scope = dict(prepared.names)
    exec(prepared.statement, scope)
    assert np.array_equal(scope["result"], TINY.expected(*TINY.inputs()))


@pytest.mark.parametrize("peer", ["realta", "realta region"])
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_realta_computes_what_numpy_computes(monkeypatch, peer, workload) -> None:
    monkeypatch.setattr(realta_modes, "DEVICE", "reference:0")
    small = dataclasses.replace(
        workload, shapes=tuple(tuple(min(n, 33) for n in shape) for shape in workload.shapes)
    )
    monkeypatch.setattr(realta_modes, "DRAWN", 50_000)
    realta.random.set_seed(0)  # other tests draw too
    if peer == "realta region" and small.id not in realta_modes.FORMULAS:
        pytest.skip("nothing to put in a region")
    prepared = realta_modes.prepare(peer, small)
    assert prepared.result is not None
    if small.expected is None:
        assert deviation(small, prepared.result()) <= 10 * small.tolerance
        return
    expected = small.expected(*small.inputs())
    np.testing.assert_allclose(prepared.result(), expected, rtol=0, atol=small.tolerance)
    scope = dict(prepared.names)
    exec(prepared.statement, scope)
    assert np.array_equal(scope["result"].numpy(), prepared.result())


def test_a_worker_refuses_a_peer_that_computes_something_else() -> None:
    worker = Worker("numpy")
    wrong = Workload("W8a", "claims to subtract", ((3,), (3,)), TINY.expected, ("numpy",))
    assert worker.prepare(TINY) == {"difference": 0.0}
    seconds = worker.window(0)["seconds"]
    assert 0 < seconds < 60
    impossible = Workload(wrong.id, wrong.what, wrong.shapes, wrong.expected, (), tolerance=-1.0)
    with pytest.raises(ValueError, match="numpy differs from NumPy by 0 on W8a"):
        worker.prepare(impossible)
    with pytest.raises(RuntimeError, match="no workload is prepared"):
        worker.window(0)


def test_children_see_what_a_user_would(monkeypatch) -> None:
    for name in processes.UNSET:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    seen = processes.run("-c", "import os; print(sorted(os.environ))")
    assert "OMP_NUM_THREADS" in seen
    assert not any(name in seen for name in processes.UNSET)
    assert os.environ["OPENBLAS_CORETYPE"] == "1"  # this process keeps them


def test_a_child_that_fails_is_quoted_in_one_line() -> None:
    with pytest.raises(Failed, match=r"^ValueError: too many threads$"):
        processes.run("-c", "raise ValueError('too many threads')")


def test_a_worker_process_answers_after_a_failure_and_its_end_is_noticed(tmp_path) -> None:
    with (tmp_path / "errors").open("w") as errors:
        worker = WorkerProcess("numpy", errors)
        try:
            worker.send({"window": 0.0})
            with pytest.raises(Failed, match="no workload is prepared"):
                worker.receive()
            worker.send({"prepare": "W8a"})
            assert worker.receive() == {"difference": 0.0}
            worker.process.kill()
            worker.process.wait()
            worker.send({"window": 0.0})
            with pytest.raises(Failed, match="the process of numpy ended with -9"):
                worker.receive()
        finally:
            worker.close()


def test_peers_are_measured_in_rounds_and_an_absent_one_is_a_failure(monkeypatch) -> None:
    peers = ("numpy", "nobody")
    pair = Workload("W8a", "an addition", ((10,), (10,)), TINY.expected, peers, window=0.01)
    monkeypatch.setitem(WORKLOADS, "W8a", pair)
    seen: list[str] = []
    timings = measure(["W8a"], rounds=3, advance=seen.append)["W8a"]
    assert seen == ["W8a an addition"] * 3
    assert len(timings["numpy"].windows) == 3
    assert timings["nobody"].failure == "KeyError: 'nobody'"


# -- probes ---------------------------------------------------------------------------------------


@pytest.fixture
def on_reference(monkeypatch) -> None:
    monkeypatch.setenv("REALTA_BENCH_DEVICE", "reference:0")


@pytest.mark.usefixtures("on_reference")
def test_growth_times_every_step_of_every_chain() -> None:
    found = processes.probe("growth", "50", "500")
    steps = {"build", "print", "hash", "pickle", "run", "die"}
    assert [set(run) for run in found] == [steps, steps]
    assert all(seconds > 0 for run in found for seconds in run.values())


@pytest.mark.usefixtures("on_reference")
def test_tracing_and_flatness_and_groups_have_figures() -> None:
    assert processes.probe("tracing", "400")["seconds"] > 0
    assert set(processes.probe("flatness", "500")) == {"objects", "bytes"}
    # The reference backend runs one op a kernel, so softmax is no single one there.
    assert processes.probe("groups", "W3")["groups"] > 1


@pytest.mark.parametrize("peer", ["numpy", "realta"])
@pytest.mark.usefixtures("on_reference")
def test_the_peak_of_w1_holds_at_least_its_output(peer) -> None:
    assert processes.probe("memory", peer)["bytes"] > 39e6


def test_a_cold_process_is_timed_until_it_prints(monkeypatch, tmp_path) -> None:
    assert processes.seconds_until_result("cold_numpy") > 0
    (tmp_path / "silent.py").write_text("raise KeyError('nothing')")
    monkeypatch.setattr(processes, "PROBES", tmp_path)
    with pytest.raises(Failed, match="KeyError: 'nothing'"):
        processes.seconds_until_result("silent")


@pytest.mark.parametrize(
    ("measured", "written"),
    [(1.0, 1.0), (1.00003, 1.001), (0.99999, 1.0), (12.3401, 12.35), (0.0, 0.0)],
)
def test_figures_are_never_written_below_what_was_measured(measured: float, written: float) -> None:
    assert results.rounded_up(measured) == written
