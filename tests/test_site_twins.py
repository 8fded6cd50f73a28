"""The site's Markdown: each page has a twin, and llms.txt lists all of them."""

import re
from pathlib import Path
from typing import Any

import pytest

from tools import site_twins

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    given: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return given | {"docs_dir": str(DOCS), "site_dir": str(tmp_path)}


def test_mkdocs_runs_the_hook(config: dict[str, Any]) -> None:
    assert config["hooks"] == ["tools/site_twins.py"]


def test_each_page_has_a_twin(config: dict[str, Any], tmp_path: Path) -> None:
    site_twins.on_post_build(config)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")} == PAGES
    same = DOCS / "explain" / "fusion.md"
    assert (tmp_path / "explain" / "fusion.md").read_text("utf-8") == same.read_text("utf-8")
    api = (tmp_path / "reference" / "api.md").read_text("utf-8")
    assert "\n:::" not in api
    assert "The kernels that would run, with their ops" in api


def test_the_index_lists_each_page_with_a_sentence(config: dict[str, Any]) -> None:
    text = site_twins.index(config)
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    assert {name for name, _ in listed} == PAGES
    assert len(listed) == len(PAGES)
    assert text.startswith("# Realta\n\n> A tensor library in which")
    for name, sentence in listed:
        assert 10 < len(sentence) < 300, name
        assert "](" not in sentence, name


def test_a_docstring_stands_where_it_is_taken_in() -> None:
    page = "# T\n\n::: tools.site_twins.summary\n    options:\n      toc_label: first\n\nEnd.\n"
    assert site_twins.twin(page) == (
        "# T\n\n```text\nfirst(text: 'str') -> 'str'\n```\n\n"
        "The first sentence of a page, without links and on one line.\n\nEnd.\n"
    )


def test_a_summary_is_the_first_sentence_of_prose() -> None:
    page = "<!-- made -->\n# T\n\n```python\n>>> 1\n1\n```\n\n"
    page += "| a |\n\nSee [this](x.md), it\nworks. More.\n"
    assert site_twins.summary(page) == "See this, it works."
