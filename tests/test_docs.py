"""The documentation: its examples are run, its generated parts fresh, its links lead somewhere."""

import re
import tokenize
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
import realta.backend
import realta.realization_context
import realta.runtime.contract
import realta_conformance.cli.entry
from realta import errors
from realta.cli.main import COMMANDS, _parser
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

from tools import gen_reference

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
SOURCES = ("packages/*/src", "conformance/src", "examples", "benchmarks", "tools", "saboteurs/src")
NOT_RUN = {"", "c", "console", "cpp", "text", "toml"}
"""Languages of fences that hold no Python."""


def fences(text: str) -> Iterator[tuple[str, str]]:
    """The language and the body of each fenced block."""
    for found in re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield found[1], found[2]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_fence_is_run_or_holds_no_python(page: Path) -> None:
    for language, body in fences(page.read_text(encoding="utf-8")):
        assert language in NOT_RUN | {"python"}, f"```{language} is skipped without a word"
        assert (">>>" in body) == (language == "python"), body


def test_every_example_is_collected() -> None:
    runner = Sybil(parsers=[PythonCodeBlockParser()], patterns=["*.md"])
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        prompts = len(re.findall(r"^\s*>>> ", text, re.MULTILINE))
        collected = len(list(runner.parse(page)))
        assert collected == prompts, f"{page.name}: {prompts} prompts, {collected} examples run"


def test_generated_pages_are_fresh() -> None:
    assert gen_reference.stale() == [], "run: python tools/gen_reference.py"


def test_staleness_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(gen_reference.BLOCKS, "bounds", lambda: "something else\n")
    assert gen_reference.stale() == [DOCS / "spec" / "numerics.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_relative_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), f"{page.name} links to {target}"
        if page.is_relative_to(DOCS):
            assert path.is_relative_to(DOCS), f"{page.name} links out of the site to {target}"
        if anchor and path.suffix == ".md":
            assert anchor in anchors(path.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    """The anchors that mkdocs gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[-\s]+", "-", heading) for heading in plain}


def variables() -> set[str]:
    """Every name of ours that looks like an environment variable in a string of the code."""
    found = set()
    for pattern in SOURCES:
        for folder in ROOT.glob(pattern):
            for path in folder.rglob("*.py"):
                for token in tokenize.tokenize(BytesIO(path.read_bytes()).readline):
                    if token.type == tokenize.STRING:
                        found |= set(re.findall(r"\bREALTA_[A-Z][A-Z_]*\b", token.string))
    return found


def test_every_environment_variable_is_described() -> None:
    page = (DOCS / "reference" / "environment.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == variables()


def options(parser: object) -> Iterator[tuple[str, str]]:
    """The commands of a parser with the options of each."""
    (commands,) = [a.choices for a in parser._actions if hasattr(a, "choices") and a.choices]  # type: ignore[attr-defined]
    for name, command in commands.items():
        for action in command._actions:
            for option in action.option_strings:
                if option.startswith("--"):
                    yield name, option


def test_every_command_and_option_is_described() -> None:
    page = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    core, suite = page.split("## realta-conformance")
    for text, parser, program in (
        (core, _parser(), "realta"),
        (suite, realta_conformance.cli.entry._parser(), "realta-conformance"),
    ):
        for command, option in options(parser):
            assert f"`{program} {command}" in text
            if option != "--help":
                assert option in text, f"{program} {command} {option}"
    assert len(COMMANDS) == len(re.findall(r"^\| `realta ", core, re.MULTILINE))


def test_the_contract_page_has_every_name_of_the_contract() -> None:
    page = (DOCS / "spec" / "contract.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^### (\w+)$", page, re.MULTILINE))
    protocols = {n for n in realta.runtime.contract.__all__ if n not in ("EMPTY", "SPEC", "Handle")}
    assert headings == protocols
    assert set(realta.runtime.contract.__all__) <= set(realta.backend.__all__)
    for name in ("OpByOpBackend", "hookimpl"):
        assert name in page
        assert name in realta.backend.__all__


def test_every_error_and_context_is_described() -> None:
    page = (DOCS / "reference" / "errors.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^## (\w+)$", page, re.MULTILINE)) == set(errors.__all__)
    api = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    for name in realta.realization_context.__all__:
        assert f".{name}\n" in api


def test_readme_shows_its_example_early_and_stays_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    example = next(body for language, body in fences("\n".join(lines)) if language == "python")
    code = [line for line in example.splitlines() if line.startswith((">>> ", "... "))]
    assert len(code) <= 12
    assert "graph " in example
    assert next(n for n, line in enumerate(lines) if line.startswith("```python")) < 20
    assert len(lines) <= 120
