"""KernelCache: what compilers made of kernel sources, kept on disk between processes.

Content-addressed: the key of an entry is a digest of all that its contents depend on. One file a
key, written under another name and renamed, so that any number of processes may share a folder
without locks: a reader sees a whole entry or none, and two writers of one key write the same thing.
A folder that cannot be read or written, a full disk and a damaged entry make the cache useless,
never wrong and never fatal.

``REALTA_CACHE=off`` neither reads nor writes; ``REALTA_CACHE_DIR`` says where the folder is.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from realta.errors import ArgumentError

__all__ = ["CacheInfo", "KernelCache", "cache_directory", "cache_enabled", "shared_kernel_cache"]

_MAGIC: Final = b"realta kernel 1\n"
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
_FOLDER: Final = "kernels"
_SUFFIX: Final = ".bin"
_PART: Final = ".part"


class CacheInfo(NamedTuple):
    """The state of a cache.

    Args:
        directory: its folder.
        enabled: whether it is used at all; not with ``REALTA_CACHE=off``.
        writable: whether an entry could be added now.
        entries: files in it.
        bytes: their size in all.
    """

    directory: str
    enabled: bool
    writable: bool
    entries: int
    bytes: int


class KernelCache:
    """Entries of one folder.

    Args:
        directory: the folder; made when the first entry is written.
        enabled: whether anything is read or written.

    Attributes:
        hits: entries found.
        misses: entries not found, damaged ones included.
        failures: entries that could not be written.
    """

    def __init__(self, directory: str | os.PathLike[str], *, enabled: bool = True) -> None:
        self.directory = Path(directory)
        self.enabled = enabled
        self.hits = 0
        self.misses = 0
        self.failures = 0

    @staticmethod
    def key(*parts: str | bytes) -> str:
        """The key of an entry: a digest of everything that its contents depend on.

        Args:
            parts: generator version, compiler, flags, device fingerprint, source.
        """
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode() if isinstance(part, str) else part
            digest.update(b"%d:" % len(data))  # so that no two lists of parts run together
            digest.update(data)
        return digest.hexdigest()

    def find(self, key: str) -> bytes | None:
        """The contents of an entry, or None; a damaged entry is removed."""
        if not self.enabled:
            return None
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            self.misses += 1
            return None
        contents = _unsealed(data)
        if contents is None:
            self.misses += 1
            self.discard(key)
            return None
        self.hits += 1
        return contents

    def keep(self, key: str, contents: bytes) -> bool:
        """Writes an entry; False if that was not possible, which is no error."""
        if not self.enabled:
            return False
        path = self._path(key)
        # Unique among processes and threads that share the folder, also over a network.
        part = path.with_name(f"{key}-{os.urandom(8).hex()}{_PART}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(_sealed(contents))
            part.replace(path)
        except OSError:
            self.failures += 1
            with suppress(OSError):
                part.unlink()
            return False
        return True

    def discard(self, key: str) -> None:
        """Removes an entry that turned out to be useless, if that is possible."""
        if self.enabled:
            with suppress(OSError):
                self._path(key).unlink()

    def info(self) -> CacheInfo:
        """How large it is, and whether it works."""
        sizes = []
        for path in self._files(_SUFFIX):
            with suppress(OSError):  # another process may have removed it meanwhile
                sizes.append(path.stat().st_size)
        return CacheInfo(
            str(self.directory), self.enabled, self._writable(), len(sizes), sum(sizes)
        )

    def clear(self) -> int:
        """Removes every entry, and what interrupted writers left; returns how many entries."""
        removed = 0
        for path in [*self._files(_SUFFIX), *self._files(_PART)]:
            with suppress(OSError):
                path.unlink()
                removed += path.suffix == _SUFFIX
        return removed

    def _path(self, key: str) -> Path:
        return self.directory / _FOLDER / key[:2] / (key + _SUFFIX)

    def _files(self, suffix: str) -> Iterator[Path]:
        # Only what has the form of an entry: the folder may be one that the user keeps other
        # things in.
        return (self.directory / _FOLDER).glob(f"[0-9a-f][0-9a-f]/*{suffix}")

    def _writable(self) -> bool:
        folder = self.directory / _FOLDER
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        return self.enabled and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def cache_enabled() -> bool:
    """Whether ``REALTA_CACHE`` leaves caches on disk on.

    Raises:
        ArgumentError: the variable is neither ``on`` nor ``off``.
    """
    given = os.environ.get("REALTA_CACHE", "").strip().lower()
    if given not in ("", "on", "off"):
        raise ArgumentError(
            f"REALTA_CACHE is on or off, got {given!r}",
            where="environment variable REALTA_CACHE",
            fix="unset it, or set it to off to neither read nor write",
        )
    return given != "off"


def cache_directory() -> Path:
    """``REALTA_CACHE_DIR``, else the folder ``realta`` where this system keeps users' caches."""
    given = os.environ.get("REALTA_CACHE_DIR", "").strip()
    if given:
        return Path(given).expanduser()
    return _user_caches() / "realta"


def shared_kernel_cache() -> KernelCache:
    """The cache that the environment describes.

    Raises:
        ArgumentError: ``REALTA_CACHE`` is neither ``on`` nor ``off``.
    """
    enabled, directory = cache_enabled(), cache_directory()
    kept = _kept.get((enabled, directory))
    if kept is None:
        kept = _kept.setdefault((enabled, directory), KernelCache(directory, enabled=enabled))
    return kept


_kept: Final[dict[tuple[bool, Path], KernelCache]] = {}


def _user_caches() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "").strip()
    if given:
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError:
        # A user without a home: a folder that cannot be made, so a cache that keeps nothing.
        return Path(os.devnull)
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "") or home / "AppData" / "Local")
    return home / ".cache"


def _sealed(contents: bytes) -> bytes:
    return b"".join([_MAGIC, hashlib.sha256(contents).digest(), contents])


def _unsealed(data: bytes) -> bytes | None:
    """The contents of an entry's file; None if it is not whole."""
    head = len(_MAGIC) + _DIGEST_BYTES
    if len(data) < head or not data.startswith(_MAGIC):
        return None
    contents = data[head:]
    return contents if hashlib.sha256(contents).digest() == data[len(_MAGIC) : head] else None
