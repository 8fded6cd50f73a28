import json

import pytest
from realta.cli import main
from realta.runtime import shared_kernel_cache


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("REALTA_CACHE", raising=False)
    return tmp_path


def run_json(capsys, *arguments):
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_info_tells_where_and_how_many(capsys, folder):
    cache = shared_kernel_cache()
    cache.keep(cache.key("a"), b"kernel")
    code, data = run_json(capsys, "cache", "info")
    assert code == 0
    assert (data["directory"], data["entries"]) == (str(folder), 1)
    assert main(["cache", "info"]) == 0
    assert str(folder) in capsys.readouterr().out


def test_clear_removes_them(capsys):
    cache = shared_kernel_cache()
    for name in "ab":
        cache.keep(cache.key(name), b"kernel")
    assert main(["cache", "clear"]) == 0
    assert "removed 2 kernel(s)" in capsys.readouterr().out
    assert cache.info().entries == 0


def test_off_is_shown(capsys, monkeypatch):
    monkeypatch.setenv("REALTA_CACHE", "off")
    assert main(["cache", "info"]) == 0
    assert "REALTA_CACHE=off" in capsys.readouterr().out


def test_a_misspelt_switch_is_an_error_of_the_command(capsys, monkeypatch):
    monkeypatch.setenv("REALTA_CACHE", "never")
    assert main(["cache", "info"]) == 2
    assert "REALTA_CACHE is on or off" in capsys.readouterr().err
