import errno
import subprocess
import sys
from pathlib import Path

import pytest
from realta.errors import ArgumentError
from realta.runtime import KernelCache, cache_directory, cache_enabled, shared_kernel_cache

RACE = """
import sys
from realta.runtime import KernelCache

cache = KernelCache(sys.argv[1])
for turn in range(40):
    key = cache.key("source", str(turn))
    found = cache.find(key)
    assert found is None or found == str(turn).encode() * 1000, "a torn entry"
    assert cache.keep(key, str(turn).encode() * 1000)
    assert cache.find(key) == str(turn).encode() * 1000
"""


@pytest.fixture
def cache(tmp_path):
    return KernelCache(tmp_path)


def files(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_an_entry_comes_back(cache):
    key = cache.key("a", b"b")
    assert cache.find(key) is None
    assert cache.keep(key, b"kernel")
    assert cache.find(key) == b"kernel"
    assert (cache.hits, cache.misses) == (1, 1)


def test_another_process_finds_it(cache, tmp_path):
    cache.keep(cache.key("a"), b"kernel")
    assert KernelCache(tmp_path).find(KernelCache.key("a")) == b"kernel"


def test_keys_tell_apart_how_parts_are_cut(cache):
    assert cache.key("ab", "c") != cache.key("a", "bc")
    assert cache.key("ab") != cache.key("ab", "")
    assert cache.key("é") == cache.key("é".encode())


@pytest.mark.parametrize("damage", [b"", b"realta kernel 1\n", b"something else entirely"])
def test_a_damaged_entry_is_none_and_goes(cache, damage):
    key = cache.key("a")
    cache.keep(key, b"kernel")
    (path,) = files(cache.directory)
    path.write_bytes(damage)
    assert cache.find(key) is None
    assert not path.exists()
    assert cache.keep(key, b"kernel")
    assert cache.find(key) == b"kernel"


@pytest.mark.parametrize("position", [0, 20, -1])
def test_one_wrong_byte_is_noticed(cache, position):
    key = cache.key("a")
    cache.keep(key, b"kernel")
    (path,) = files(cache.directory)
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(data)
    assert cache.find(key) is None


def test_a_cut_entry_is_noticed(cache):
    key = cache.key("a")
    cache.keep(key, b"kernel")
    (path,) = files(cache.directory)
    path.write_bytes(path.read_bytes()[:-1])
    assert cache.find(key) is None


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    cache = KernelCache(tmp_path / "file" / "below")
    assert not cache.keep(cache.key("a"), b"kernel")
    assert cache.find(cache.key("a")) is None
    assert cache.failures == 1
    assert not cache.info().writable
    assert cache.clear() == 0


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_read_only_disk_keeps_nothing_and_leaves_nothing(cache, monkeypatch, number):
    def fail(path, data):
        path.open("wb").close()
        raise OSError(number, "no")

    monkeypatch.setattr(Path, "write_bytes", fail)
    assert not cache.keep(cache.key("a"), b"kernel")
    assert cache.find(cache.key("a")) is None
    assert files(cache.directory) == []


def test_eight_processes_on_one_empty_cache(tmp_path):
    command = [sys.executable, "-c", RACE, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(8)]
    errors = [process.communicate()[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 8, errors
    assert KernelCache(tmp_path).info().entries == 40
    assert len(files(tmp_path)) == 40


def test_off_neither_reads_nor_writes(tmp_path):
    on, off = KernelCache(tmp_path), KernelCache(tmp_path, enabled=False)
    key = on.key("a")
    assert not off.keep(key, b"kernel")
    assert files(tmp_path) == []
    on.keep(key, b"kernel")
    assert off.find(key) is None
    off.discard(key)
    assert on.find(key) == b"kernel"


def test_info_counts_and_clear_removes_only_what_is_the_caches(cache):
    for name in "abc":
        cache.keep(cache.key(name), b"x" * 100)
    mine = cache.directory / "mine.bin"
    mine.write_text("not an entry")
    left = files(cache.directory / "kernels")[0].with_name("00-11.part")
    left.write_text("of a writer that was interrupted")
    info = cache.info()
    assert (info.entries, info.enabled, info.writable) == (3, True, True)
    assert info.bytes > 300
    assert cache.clear() == 3
    assert files(cache.directory) == [mine]
    assert cache.info().entries == 0


def test_the_environment_says_where_and_whether(monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.delenv("REALTA_CACHE", raising=False)
    assert cache_directory() == tmp_path / "here"
    assert shared_kernel_cache() is shared_kernel_cache()
    assert shared_kernel_cache().enabled
    monkeypatch.setenv("REALTA_CACHE", "off")
    assert not cache_enabled()
    assert not shared_kernel_cache().enabled
    monkeypatch.delenv("REALTA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_directory() == tmp_path / "caches" / "realta"


def test_a_misspelt_switch_is_refused(monkeypatch):
    monkeypatch.setenv("REALTA_CACHE", "0ff")
    with pytest.raises(ArgumentError, match="REALTA_CACHE is on or off"):
        shared_kernel_cache()
