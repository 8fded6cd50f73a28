import json

import pytest
import realta
from realta import F
from realta.fusion import Code, Rules, explain_plan, plan
from realta.graph import Builder, Location, Region
from realta.types import TensorType


@pytest.fixture
def explanation(write, planned):
    b, x = write(f32=(64, 32))
    b.region = Region("head")
    b.where = Location(None, 0, "model.py:3")
    value = b.softmax(x, axis=1)
    b.where = Location(None, 0, "model.py:4")
    return explain_plan(planned(b, b.sort(value, axis=1)))


TEXT = """\
graph test: 2 kernels for 6 ops, 32.8 kB moved (82.9 kB with a kernel for each op)

kernel 0: row over [64,32], rows along axis 1, region head (fuse="may")
  reads  %x0: f32[64,32], 8.19 kB
  writes %8: f32[64,32], 8.19 kB
  counts 10240 operations
    %0: f32[64] = max(%x0, axes=[1])                 model.py:3
    %1: f32[64, 1] = reshape(%0, shape=[64, 1])      model.py:3 (index map)
    %2: f32[64, 32] = broadcast(%1, shape=[64, 32])  model.py:3 (index map)
    %3: f32[64, 32] = sub(%x0, %2)                   model.py:3
    %4: f32[64, 32] = exp(%3)                        model.py:3
    %5: f32[64] = sum(%4, axes=[1])                  model.py:3
    %6: f32[64, 1] = reshape(%5, shape=[64, 1])      model.py:3 (index map)
    %7: f32[64, 32] = broadcast(%6, shape=[64, 32])  model.py:3 (index map)
    %8: f32[64, 32] = div(%4, %7)                    model.py:3

kernel 1: single over [64,32], region head (fuse="may")
  reads  %8: f32[64,32], 8.19 kB
  writes %9: f32[64,32], 8.19 kB
    %9: f32[64, 32] = sort(%8, axis=1)  model.py:4
  not one with kernel 0, which makes %8:
    sort is a kernel of its own (sort at model.py:4)"""


def test_the_text_shows_each_kernel_with_lines_bytes_and_reasons(explanation):
    assert explanation.text() == TEXT
    assert str(explanation) == TEXT


def test_the_data_is_plain_and_complete(explanation):
    data = json.loads(json.dumps(explanation.to_dict()))
    assert data == explanation.to_dict()
    assert data["bytes_moved"] == 4 * 64 * 32 * 4
    first, second = data["kernels"]
    assert (first["kind"], first["axes"], first["bytes_read"]) == ("row", [1], 8192)
    assert first["members"][0] == {
        "op": "max", "text": "%0: f32[64] = max(%x0, axes=[1])", "location": "model.py:3",
        "role": "computed",
    }  # fmt: skip
    assert second["apart"] == [
        {
            "kernel": 0, "name": "%8", "reason": "sort is a kernel of its own", "op": "sort",
            "location": "model.py:4",
        }
    ]  # fmt: skip


def test_literals_and_index_maps_are_told_from_work(write, planned):
    b, x = write(f32=(8,))
    (kernel,) = explain_plan(planned(b, b.add(x, b.const(2.0, like=x)))).kernels
    assert [(m.op, m.role) for m in kernel.members] == [
        ("constant", "literal"), ("broadcast", "index map"), ("add", "computed"),
    ]  # fmt: skip


def test_long_plans_are_shown_in_part(write, planned):
    b, x = write(f32=(8,))
    value = x
    for _ in range(100):
        value = b.sin(value)
    text = explain_plan(planned(b, value, rules=Rules(members=1))).text()
    assert "... and 40 more kernels" in text
    text = explain_plan(planned(b, value)).text()
    assert "... and 40 more ops" in text


def test_places_in_the_working_directory_are_shown_relative_to_it(
    write, planned, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    b, x = write(f32=(8,))
    b.where = Location(None, 0, f"{tmp_path}/model.py:1")
    text = explain_plan(planned(b, b.sin(x))).text()
    assert "  model.py:1" in text


def test_symbolic_shapes_have_no_bytes(write):
    b = Builder("symbolic")
    x = b.input(TensorType("float32", ("batch", 4)), "x")
    made = explain_plan(plan(b.finish(b.softmax(x, axis=1))))
    assert made.bytes_moved == 0
    assert "%x: f32[batch,4], symbolic size" in made.text()


def test_an_op_with_graphs_has_one_line_that_names_them():
    x = realta.TensorType("float32", (3,), "reference:0")

    def doubled(x):
        return F.cond(F.sum(x) > 1, None, lambda: x + x, lambda: x)

    text = str(realta.explain(realta.compile(doubled)(x)))
    assert text.count("= cond(") == 1
    (line,) = (line for line in text.splitlines() if "= cond(" in line)
    assert "then=graph " in line
    assert "otherwise=graph " in line


def test_what_the_device_makes_of_a_kernel_is_shown(write, planned):
    b, x = write(f32=(8,))
    made = explain_plan(
        planned(b, b.sin(x)), describe=lambda group: Code("in one go", "cpu", ("void sin_0();\n",))
    )
    assert "  counts 8 operations\n  runs   in one go (cpu profile)\n" in made.text()
    assert "void sin_0();" not in made.text()
    assert made.text(source=True).endswith("\n\nvoid sin_0();")
    assert made.to_dict()["kernels"][0]["code"] == {
        "schedule": "in one go", "profile": "cpu", "sources": ["void sin_0();\n"],
    }  # fmt: skip


def test_what_core_runs_itself_is_no_kernel(write, planned):
    b, x = write(f32=(8,))
    b.where = Location(None, 0, "model.py:7")
    plan = planned(b, b.sin(b.sort(b.cos(x), axis=0)))
    made = explain_plan(plan, by_core=lambda node: node.op.name == "sort")
    assert [[m.op for m in k.members] for k in made.kernels] == [["cos"], ["sin"]]
    assert [(m.op, m.location) for m in made.by_core] == [("sort", "model.py:7")]
    assert [a for k in made.kernels for a in k.apart] == []
    assert made.bytes_unfused == 4 * 32
    assert made.text().startswith("graph test: 2 kernels for 2 ops")
    assert "run by core:\n    %1: f32[8] = sort(%0, axis=0)  model.py:7" in made.text()
