"""Dumping: what is written where, on every kind of device, and what happens where it cannot be."""

import os
import re
import warnings

import pytest
import realta
from realta import F
from realta.runtime import Options, compile_program, dumping
from realta.types import TensorType

DEVICES = ["reference:0", "numpy:0", "interp:0"]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Nothing was warned of yet."""
    monkeypatch.setattr(dumping, "_refused", set())
    monkeypatch.delenv("REALTA_DUMP", raising=False)


def traced(device):
    def blend(x, y):
        return F.exp(x) * 2.0 + F.sqrt(y)

    type = TensorType("float32", (4, 5), device)
    return realta.stage(blend)(type, type).graph


def compiled(device, options=Options()):  # noqa: B008  immutable
    return compile_program(traced(device), realta.runtime.resolve_device(device), options)


@pytest.mark.parametrize("device", DEVICES)
def test_graphs_before_and_after_each_pass_then_kernels(tmp_path, monkeypatch, device):
    root = tmp_path / "deep" / "dump"
    monkeypatch.setenv("REALTA_DUMP", str(root))
    program = compiled(device)
    (folder,) = root.iterdir()
    assert folder.name == "0000-blend"
    names = sorted(os.listdir(folder))
    assert [int(name.partition("-")[0]) for name in names] == list(range(len(names)))
    graphs = [name for name in names if name.endswith(".graph")]
    steps = [re.sub(r"^\d+-", "", name).partition(".")[0] for name in graphs]
    assert steps == [
        "recorded", "dce", "decompose", "fold", "cse", "canonicalize", "cse", "dce", "inside",
    ]  # fmt: skip
    recorded = (folder / graphs[0]).read_text()
    assert recorded.startswith("graph blend(")
    assert f'loc("{__file__}:' in recorded
    sources = [name for name in names if name.endswith(".source")]
    assert len(sources) == len(program.kernels)
    for name, kernel in zip(sources, program.kernels, strict=True):
        text = (folder / name).read_text()
        assert kernel.name in name
        assert f"// kernel {kernel.name} on {device}" in text
        assert kernel.name == "constant" or f" at {__file__}:" in text
        assert (kernel.source or "// no source was generated").strip() in text


def test_the_kernel_tier_writes_its_kernel_ir_too(tmp_path, monkeypatch):
    monkeypatch.setenv("REALTA_DUMP", str(tmp_path))
    compiled("interp:0")
    (path,) = tmp_path.glob("0000-blend/*.kernel")
    text = path.read_text()
    assert re.search(
        rf"^;   exp\(f32\[4,5\]@interp:0\) at {re.escape(__file__)}:\d+$", text, re.MULTILINE
    )
    assert "\nkernel " in text


def test_each_graph_has_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("REALTA_DUMP", str(tmp_path))
    compiled("reference:0")
    compiled("reference:0")
    assert sorted(os.listdir(tmp_path)) == ["0000-blend", "0001-blend"]


def test_options_name_a_folder_too(tmp_path):
    compiled("reference:0", Options(dump=str(tmp_path)))
    assert os.listdir(tmp_path) == ["0000-blend"]


def test_nothing_is_written_when_nothing_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    compiled("interp:0")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_warned_of_once(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("REALTA_DUMP", str(blocked))
    with pytest.warns(RuntimeWarning) as caught:
        program = compiled("interp:0")
    (warning,) = caught
    assert str(warning.message) == (
        f"nothing is written to {blocked} (File exists). "
        "Set REALTA_DUMP to a folder that can be written, or unset it."
    )
    assert len(program.kernels) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled("reference:0")


def test_a_folder_that_goes_away_is_warned_of_once(tmp_path):
    with pytest.warns(RuntimeWarning, match="No such file or directory"):
        dumping.dump_file(str(tmp_path / "gone"), "x.graph", "text")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dumping.dump_file(str(tmp_path / "gone"), "y.graph", "text")


def test_names_are_readable_and_short(tmp_path):
    dump = dumping.open_dump(str(tmp_path), "<lambda> of a/b " + "long" * 50)
    assert re.fullmatch(r"0000-lambda_of_a_b_(long)+\w*", os.path.basename(dump.folder))
    assert len(os.path.basename(dump.folder)) < 70
    dumping.dump_file(dump.folder, "../../escape.graph", "text")
    assert os.listdir(dump.folder) == ["00-escape.graph"]
