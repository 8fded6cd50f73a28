import ast
import json
import re
import tomllib

import pytest
from realta.cli import main
from realta.cli.new_backend import TIERS
from realta.runtime import SPEC


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_of_the_template_is_left_over(folder, capsys, tier):
    assert main(["new-backend", "two_words", "--tier", tier]) == 0
    shown = capsys.readouterr().out
    root = folder / "realta-two-words"
    files = sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    assert {"pyproject.toml", "README.md", "conformance.toml", ".gitignore"} <= set(files)
    assert {".github/workflows/conformance.yml", "tests/test_two_words.py"} <= set(files)
    assert {"src/realta_two_words/__init__.py", "src/realta_two_words/py.typed"} <= set(files)
    for name in files:
        assert f"  {name}\n" in shown
        text = (root / name).read_text()
        assert not re.search(r"@[a-z]+@", text), name
        if name.endswith(".py"):
            assert ast.get_docstring(ast.parse(text)), name


def test_metadata_fit_this_version(folder):
    main(["new-backend", "chip"])
    data = tomllib.loads((folder / "realta-chip" / "pyproject.toml").read_text())
    project = data["project"]
    assert project["name"] == "realta-chip"
    assert project["entry-points"] == {
        f"realta.backends.v{SPEC.partition('.')[0]}": {"chip": "realta_chip"}
    }
    assert project["dependencies"] == ["realta>=0.1,<0.2"]
    workflow = (folder / "realta-chip" / ".github/workflows/conformance.yml").read_text()
    assert "vars.REALTA_INSTALL || 'realta realta-conformance'" in workflow
    assert "--device chip:0" in workflow


def test_templates_use_the_facades_only(folder):
    for tier in TIERS:
        main(["new-backend", f"my_{tier}", "--tier", tier])
    own = {f"realta_my_{tier}" for tier in TIERS}
    found = set()
    for path in folder.glob("*/src/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.startswith("realta"):
                found.add(node.module)
    assert {name for name in found if name.partition(".")[0] not in own} == {
        "realta.backend",
        "realta.codegen",
    }


def test_it_tells_json(folder, capsys):
    assert main(["new-backend", "chip", "--into", "here/there", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["folder"], data["device"], data["tier"]) == ("here/there", "chip:0", "op")
    assert all((folder / "here/there" / name).exists() for name in data["files"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "My-Chip",
            (
                "realta new-backend: a backend cannot be called 'My-Chip'\n"
                "  where: realta new-backend My-Chip\n"
                "  fix: use lower-case letters, digits and _, "
                "beginning with a letter, as in my_chip\n"
            ),
        ),
        (
            "cpu",
            (
                "realta new-backend: the name 'cpu' means something else in device names\n"
                "  where: realta new-backend cpu\n"
                "  fix: choose one that is not among "
                "accelerator, conformance, core, cpu, interp, reference\n"
            ),
        ),
    ],
    ids=["spelling", "taken"],
)
def test_what_is_no_name_is_refused(folder, capsys, name, text):
    assert main(["new-backend", name]) == 2
    assert capsys.readouterr().err == text
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["class", "_x", "x_", "1x", "", "x y"])
def test_names_that_no_module_can_have_are_refused(folder, capsys, name):
    assert main(["new-backend", "--", name]) == 2
    assert "cannot be called" in capsys.readouterr().err


def test_a_folder_with_something_in_it_is_left_alone(folder, capsys):
    (folder / "realta-chip").mkdir()
    (folder / "realta-chip" / "mine.txt").write_text("mine")
    assert main(["new-backend", "chip"]) == 2
    assert capsys.readouterr().err == (
        "realta new-backend: there is something already where the repository is to go\n"
        "  where: realta-chip\n"
        "  fix: give another folder with --into, or empty that one\n"
    )
    assert [p.name for p in (folder / "realta-chip").iterdir()] == ["mine.txt"]
