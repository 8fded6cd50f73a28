"""The guide: its commands are found, run in order in one shell, and stop at the first failure."""

from pathlib import Path

import pytest

from tools import guide

PAGE = """# T

```console
mkdir sub && cd sub
cat > a.txt <<'EOF'
one
EOF
```

```text
false
```

<!-- not run: it needs an account -->

```console
twine upload dist/*
```

```console
pwd | sed 's|.*/||' >> a.txt
```
"""


def test_blocks_are_told_apart():
    found = guide.blocks(PAGE)
    assert [(block.line, block.reason) for block in found] == [
        (3, ""),
        (16, "it needs an account"),
        (20, ""),
    ]
    assert "twine" not in guide.script(PAGE, "t.md")


def test_commands_share_one_shell(tmp_path):
    page = tmp_path / "t.md"
    page.write_text(PAGE)
    folder = tmp_path / "empty"
    folder.mkdir()
    assert guide.main([str(page), "--folder", str(folder)]) == 0
    assert (folder / "sub" / "a.txt").read_text() == "one\nsub\n"
    assert guide.main([str(page), "--folder", str(folder)]) == 2


def test_the_first_failure_counts(tmp_path):
    page = tmp_path / "t.md"
    page.write_text("```console\n(exit 7)\ntouch never\n```\n\n```console\ntouch never\n```\n")
    folder = tmp_path / "empty"
    folder.mkdir()
    assert guide.main([str(page), "--folder", str(folder)]) == 7
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("tier", ["op", "kernel", "graph"])
def test_each_guide_goes_from_an_empty_folder_to_a_certified_backend(tier):
    page = Path(__file__).parent.parent / f"docs/howto/backend-{tier}.md"
    text = guide.script(page.read_text("utf-8"), page.name)
    assert f"realta new-backend abacus --tier {tier}" in text
    assert "realta-conformance run --device abacus:0 --level core" in text
    assert "python -m build" in text
