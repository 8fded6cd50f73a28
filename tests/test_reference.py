"""The op reference: every op once, and the page in the repository is what the registry says."""

from realta.ops import all_ops

from tools import gen_reference


def test_every_op_has_one_section():
    text = gen_reference.page()
    for op in all_ops():
        if "." not in op.name:
            assert text.count(f"\n## {op.name}\n") == 1
            assert op.doc in text


def test_composites_show_their_decomposition():
    text = gen_reference.page()
    graph = text.split("graph silu(", 1)[1].split("```", 1)[0]
    assert "exp(" in graph
    assert "sub(" not in graph


def test_the_page_is_current(capsys):
    assert gen_reference.main(["--check"]) == 0, capsys.readouterr().out


def test_check_finds_a_stale_page(tmp_path, monkeypatch, capsys):
    stale = tmp_path / "docs" / "ops.md"
    stale.parent.mkdir()
    stale.write_text("old", encoding="utf-8")
    monkeypatch.setattr(gen_reference, "PAGE", stale)
    monkeypatch.setattr(gen_reference, "ROOT", tmp_path)
    assert gen_reference.main(["--check"]) == 1
    assert "ops.md is not what the registry says" in capsys.readouterr().out
    assert gen_reference.main([]) == 0
    assert gen_reference.main(["--check"]) == 0
