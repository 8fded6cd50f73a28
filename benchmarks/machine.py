"""Machine facts: what a reader needs to compare two result files; no host names, no paths."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path

__all__ = ["facts", "versions"]

DISTRIBUTIONS = ("numpy", "realta", "realta-numpy", "torch")
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def text(path: Path) -> str:
    """Reads a small file; an empty string where there is none."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def processor() -> str:
    """The model that the kernel names."""
    found = re.search(r"^model name\s*:\s*(.+)$", text(Path("/proc/cpuinfo")), re.MULTILINE)
    return found[1] if found else platform.machine()


def caches() -> dict[str, str]:
    """Sizes of the caches that the first processor uses, by level."""
    found = {}
    for folder in sorted(CACHES.glob("index*")):
        if text(folder / "type") != "Instruction":
            found[f"L{text(folder / 'level')}"] = text(folder / "size")
    return found


def memory_gigabytes() -> float:
    """Main memory."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def facts() -> dict[str, object]:
    """Describes this machine."""
    huge_pages = re.search(r"\[(\w+)\]", text(HUGE_PAGES))
    return {
        "caches": caches(),
        "huge_pages": huge_pages[1] if huge_pages else "unknown",
        "memory_gib": memory_gigabytes(),
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Versions of Python and of the distributions that were measured and are installed."""
    found = {"python": platform.python_version()}
    for name in DISTRIBUTIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
