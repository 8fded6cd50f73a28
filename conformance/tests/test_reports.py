"""Reports: the schema, merging of shards, comparison, and what people read."""

import json
from html.parser import HTMLParser
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from realta.backend import OpByOpBackend
from realta.backend.reference import Reference
from realta.errors import ArgumentError
from realta.types import bool_, float32, int32, int64
from realta_conformance.certification import certify_with, with_needs
from realta_conformance.cli import main
from realta_conformance.device import open_backend
from realta_conformance.executor import InProcess
from realta_conformance.expectations import Expectation, read
from realta_conformance.rendering import badge, markdown, page
from realta_conformance.report import as_json, to_dict
from realta_conformance.reports import compare, merge, read_report
from realta_conformance.shard import Shard, parse_shard
from realta_conformance.updating import update

SCHEMA = json.loads(files("realta_conformance").joinpath("report.schema.json").read_text())


class Small(OpByOpBackend):
    """Adds and negates; the latter as it is told."""

    name = "small"
    dtypes = frozenset({bool_, int32, int64, float32})

    def __init__(self, neg=Reference.kernels["neg"]):
        self.kernels = {"add": Reference.kernels["add"], "neg": neg}


KNOWN = (
    Expectation("neg", "int32", "values", "known"),
    Expectation("add", "float32", "values", "was wrong"),
)


def report(neg=Reference.kernels["neg"], shard="1/1", level="core"):
    device = open_backend(Small(neg))
    found = certify_with(
        InProcess(device), with_needs([level]), KNOWN, shard=parse_shard(shard)
    )  # fmt: skip
    return to_dict(found, "realta", "conformance.toml")


@pytest.fixture(scope="module")
def wrong():
    return report(lambda node, x: x.copy())


@pytest.fixture(scope="module")
def right():
    return report()


def test_the_schema_is_one_and_reports_follow_it(wrong, right):
    Draft202012Validator.check_schema(SCHEMA)
    for found in (wrong, right):
        Draft202012Validator(SCHEMA).validate(json.loads(as_json(found)))
    broken = {**right, "time": "noon"}
    assert list(Draft202012Validator(SCHEMA).iter_errors(broken))


def test_lists_are_sorted(wrong):
    for level in wrong["levels"]:
        ids = [case["id"] for case in level["cases"]]
        assert ids == sorted(ids)
        keys = [(entry["op"], entry["dtype"]) for entry in level["ops"]]
        assert keys == sorted(keys)


def test_an_op_has_its_worst_ulp_and_its_use_of_the_bound(wrong):
    core = wrong["levels"][2]
    entry = next(e for e in core["ops"] if (e["op"], e["dtype"]) == ("add", "float32"))
    assert 0 < entry["max_ulp"] <= 0.5
    negated = next(e for e in core["ops"] if (e["op"], e["dtype"]) == ("neg", "float32"))
    assert negated["counts"]["failed"] > 0


def test_a_failure_carries_its_graph_and_the_operands_that_matter(wrong):
    problem = next(p for p in wrong["levels"][2]["not_passed"] if p["outcome"] == "failed")
    assert "neg(%x0)" in problem["graph"]
    assert problem["operands"].startswith("x0[")


@pytest.mark.parametrize("count", [2, 3])
def test_shards_merge_to_the_report_of_the_whole(count, wrong):
    parts = [report(lambda node, x: x.copy(), f"{n}/{count}") for n in range(1, count + 1)]
    assert merge(parts) == wrong
    assert wrong["stale"] == ["add × float32 × values"]
    assert not any(part["stale"] for part in parts)


def test_shards_of_other_runs_do_not_merge():
    parts = [report(shard=f"{n}/3", level="manifest") for n in (1, 2, 3)]
    with pytest.raises(ArgumentError, match=r"one report for each of 1/3, 2/3, 3/3"):
        merge(parts[:2])
    with pytest.raises(ArgumentError, match="differ in 'seed'"):
        merge([parts[0], {**parts[1], "seed": 1}, parts[2]])


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(ArgumentError, match="is no shard"):
        parse_shard(text)
    assert str(parse_shard("2/3")) == str(Shard(2, 3))


def test_a_comparison_names_what_got_worse_and_what_got_better(wrong, right):
    worse = compare(right, wrong)
    assert {c.what for c in worse if c.what == "core"} == {"core"}
    assert all(c.worse for c in worse)
    assert "neg" in {c.what.partition("/")[2].partition("-")[0] for c in worse}
    assert not any(c.worse for c in compare(wrong, right))
    assert compare(right, right) == []


def test_the_command_compares_and_reports(tmp_path, wrong, right, capsys):
    for name, found in (("wrong", wrong), ("right", right)):
        (tmp_path / f"{name}.json").write_text(as_json(found))
    before, after = str(tmp_path / "right.json"), str(tmp_path / "wrong.json")
    assert main(["diff", before, after]) == 1
    assert "worse: core: PARTIAL -> FAILS" in capsys.readouterr().out
    assert main(["diff", after, before]) == 0
    assert main(["diff", "--strict", after, before]) == 1
    html, text = tmp_path / "page.html", tmp_path / "summary.md"
    assert main(["report", after, "--html", str(html), "--markdown", str(text)]) == 2  # stale
    assert html.read_text().startswith("<!doctype html>")
    assert "| `core` | ❌ FAILS |" in text.read_text()
    assert main(["badge", before]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["color"] == "yellow"


def test_what_is_no_report_is_refused(tmp_path, right):
    path = tmp_path / "report.json"
    for text, message in (
        ("{", "is no JSON"),
        ("[]", "schema None"),
        (json.dumps({**right, "schema": 2}), "schema 2, this suite reads 1"),
    ):
        path.write_text(text)
        with pytest.raises(ArgumentError, match=message):
            read_report(path)
    with pytest.raises(ArgumentError, match="cannot be read"):
        read_report(tmp_path / "none.json")


def test_a_summary_has_replay_lines(wrong):
    text = markdown(wrong)
    assert "realta-conformance replay core/neg-f32" in text
    assert "Stale expectation: add × float32 × values" in text


def test_a_badge_says_what_is_certified(wrong, right):
    assert badge(wrong)["color"] == "red"
    assert badge(right) == {
        "schemaVersion": 1, "label": "realta", "message": "manifest, memory @ 1.0",
        "color": "yellow",
    }  # fmt: skip


class Balanced(HTMLParser):
    """Checks that tags close, and collects what a page loads."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded = [], []

    def handle_starttag(self, tag, attrs):
        self.loaded += [value for key, value in attrs if key in ("src", "href")]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_a_page_is_whole_and_needs_nothing_else(wrong):
    text = page(wrong)
    reader = Balanced()
    reader.feed(text)
    assert reader.open == []
    assert reader.loaded == []
    assert "prefers-color-scheme: dark" in text
    assert 'data-text="core neg' in text
    assert "realta-conformance replay core/neg" in text


def test_a_page_escapes_what_devices_say(wrong):
    text = page({**wrong, "device": "<b>"})
    assert "<b>" not in text.partition("<body>")[2].partition("</h1>")[0]


def test_an_expectation_file_is_brought_in_line(tmp_path, wrong):
    path, written = tmp_path / "conformance.toml", tmp_path / "report.json"
    path.write_text(
        '# What we know.\n\n[[expect]]\nop = "neg"\ndtype = "int32"\ncheck = "values"\n'
        'reason = "known"  # and why\n\n'
        '[[expect]]\nop = "add"\ndtype = "float32"\ncheck = "values"\nreason = "was wrong"\n'
    )
    written.write_text(as_json(wrong))
    assert main(["expectations", "update", str(path), str(written)]) == 0
    text = path.read_text()
    assert text.startswith("# What we know.\n")
    assert 'reason = "known"  # and why' in text
    assert "was wrong" not in text
    entries = read(path)
    assert ("neg", "float32", "values") in {(e.op, e.dtype, e.check) for e in entries}
    assert all(e.until == "0.2" for e in entries if e.reason != "known")
    device = open_backend(Small(lambda node, x: x.copy()))
    again = certify_with(InProcess(device), with_needs(["core"]), entries)
    assert not again.failures()
    assert not again.stale


def test_a_part_of_a_run_updates_nothing(tmp_path, wrong):
    with pytest.raises(ArgumentError, match="part of a run"):
        update(tmp_path / "conformance.toml", {**wrong, "sample": True})
