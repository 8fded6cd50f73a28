"""Drivers: the OpenCL platforms of this machine, those of installed wheels included.

An OpenCL loader finds drivers through small files, the ICDs, in a folder of the system. Drivers
that come as wheels put theirs into the environment, where no loader looks. So the loader is given a
folder with the system's files and theirs together, for the moment in which it looks: it looks once
per process. Whoever sets ``OCL_ICD_VENDORS`` or ``OPENCL_VENDOR_PATH`` decides alone.

Nothing is imported and no driver is touched before `platforms` is called.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from realta.backend import Unavailable
from realta.runtime import cache_enabled

__all__ = ["SYSTEM_ICDS", "load_pyopencl", "platforms"]

SYSTEM_ICDS: Final = Path("/etc/OpenCL/vendors")
_VARIABLES: Final = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
_WHEELS: Final = {"intel-opencl-rt": "libintelocl.so"}
"""Wheels with a driver whose ICD says nothing about where it was installed, and their libraries.
PoCL's wheel puts its ICD beside pyopencl's own loader, which looks there by itself."""
_FIX: Final = (
    "pip install 'realta-opencl[pocl]' brings a driver for the processor; for other devices "
    "install the vendor's driver and check it with clinfo"
)


def load_pyopencl() -> Any:
    """The module ``pyopencl``, or why it cannot be loaded.

    Returns:
        The module, or an `Unavailable`.
    """
    _keep_caches_within_bounds()
    try:
        return importlib.import_module("pyopencl")
    except Exception as error:
        return Unavailable(
            f"pyopencl cannot be imported: {type(error).__name__}: {error}",
            "pip install --force-reinstall pyopencl",
        )


def platforms() -> list[Any] | Unavailable:
    """Every platform that has a driver here, or why there is none."""
    cl = load_pyopencl()
    if isinstance(cl, Unavailable):
        return cl
    try:
        with _all_icds():
            found = list(cl.get_platforms())
    except Exception as error:
        # A loader without platforms raises, and so does one whose driver fails to start.
        return Unavailable(f"no OpenCL platform was found ({error}){_wrong_icds()}", _FIX)
    if not found:
        return Unavailable(f"no OpenCL platform was found{_wrong_icds()}", _FIX)
    return found


@contextmanager
def _all_icds() -> Iterator[None]:
    """Lets the loader find the drivers of wheels beside those of the system."""
    ours = _wheel_libraries()
    if not ours or any(os.environ.get(name) for name in _VARIABLES):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="realta-icd-") as folder:
        for path in _icd_files(SYSTEM_ICDS):
            with suppress(OSError):
                Path(folder, path.name).write_bytes(path.read_bytes())
        for name, library in ours.items():
            Path(folder, f"{name}.icd").write_text(str(library))
        os.environ[_VARIABLES[0]] = folder
        try:
            yield
        finally:
            os.environ.pop(_VARIABLES[0], None)


def _wheel_libraries() -> dict[str, Path]:
    """The libraries of drivers that are installed as wheels, by distribution."""
    found = {}
    for distribution, library in _WHEELS.items():
        try:
            files = importlib.metadata.files(distribution) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for file in files:
            path = Path(str(file.locate()))
            if file.name == library and path.is_file():
                found[distribution] = path.resolve()
    return found


def _icd_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".icd")
    except OSError:
        return []


def _wrong_icds() -> str:
    """What is wrong with the ICDs, as far as their files tell; empty if nothing is."""
    given = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), "")
    folder = Path(given) if given else SYSTEM_ICDS
    if given and not folder.exists() and "/" in given:
        name = next(name for name in _VARIABLES if os.environ.get(name))
        return f"; {name}={given} names nothing that exists"
    missing = []
    for path in _icd_files(folder):
        with suppress(OSError, UnicodeDecodeError):
            library = path.read_text().strip()
            if library.startswith("/") and not Path(library).exists():
                missing.append(f"{path} names {library}, which does not exist")
    return "".join(f"; {text}" for text in missing)


def _keep_caches_within_bounds() -> None:
    """Has PoCL keep its own kernels where it may: it fails where it cannot write them.

    Where caches are off it keeps them for the process only, and pyopencl nothing; where its own
    folder cannot be written, in one that goes with the process.
    """
    if not cache_enabled():
        os.environ.setdefault("POCL_KERNEL_CACHE", "0")
        os.environ.setdefault("PYOPENCL_NO_CACHE", "1")  # of what it generates to set arguments
    if os.environ.get("POCL_CACHE_DIR"):
        return
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(home, "pocl")
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        _temporary.append(tempfile.TemporaryDirectory(prefix="realta-pocl-"))
        os.environ["POCL_CACHE_DIR"] = _temporary[-1].name


_temporary: Final[list[tempfile.TemporaryDirectory[str]]] = []
"""Folders that go when the process ends."""
