import sys

from realta.cli.output import show_json, show_table


def test_a_table_has_aligned_columns_and_no_trailing_blanks(capsys):
    show_table(("name", "n"), [("first", 1), ("x", 100)])
    assert capsys.readouterr().out == "name   n\n-----  ---\nfirst  1\nx      100\n"


def test_an_empty_table_shows_its_head(capsys):
    show_table(("name", "n"), [])
    assert capsys.readouterr().out == "name  n\n----  -\n"


def test_json_is_sorted_and_keeps_letters(capsys):
    show_json({"b": 1, "a": "réalta"})
    assert capsys.readouterr().out == '{\n  "a": "réalta",\n  "b": 1\n}\n'


def test_a_terminal_gets_the_same_cells(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_table(("name", "n"), [("[bold]first", 1)])
    out = capsys.readouterr().out
    assert "[bold]first" in out
    assert "name" in out
