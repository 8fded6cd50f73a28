"""Release: builds what is published, twice, and checks what came out.

    python tools/release.py OUT [--types]

Every member that is not marked private becomes a wheel and a source distribution in OUT. The clock
of the archives is that of the last commit, so both builds have the same bytes. Checks: equal
hashes, metadata, contents, `twine check`, one fresh environment for each distribution in the order
of their dependencies with a smoke test in it, and with ``--types`` how much of the public API has a
known type (pyright). Exits 1 at the first thing that is wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PRIVATE: Final = "Private :: Do Not Upload"
LEAST_TYPED: Final = 77.0
"""Percent of the public API's symbols with a known type: never less than it was."""
COMPUTES: Final = (
    "import sys, realta; x = realta.Tensor([1.0, 2.0], device=sys.argv[1]); "
    "assert (x + x).tolist() == [2.0, 4.0]; print(x.device)"
)
SMOKE: Final = {
    "realta": ("python", "-c", COMPUTES, "cpu"),
    "realta-conformance": ("realta-conformance", "smoke", "--device", "reference:0"),
    "realta-numpy": ("python", "-c", COMPUTES, "numpy"),
    "realta-llvm": ("python", "-c", COMPUTES, "llvm"),
}
"""What shows that a distribution works where it was installed alone; others list their backend."""


class Wrong(Exception):
    """Something that must not be released."""


def published(root: Path = ROOT) -> dict[str, Path]:
    """The folders of what is published by distribution, each after what it depends on."""
    workspace = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    projects: dict[str, tuple[Path, set[str]]] = {}
    for member in workspace["tool"]["uv"]["workspace"]["members"]:
        project: dict[str, Any] = tomllib.loads(
            (root / member / "pyproject.toml").read_text("utf-8")
        )["project"]
        if PRIVATE not in project.get("classifiers", ()):
            needs = {re.split(r"[^\w-]", need)[0] for need in project.get("dependencies", ())}
            projects[project["name"]] = (root / member, needs)
    ordered: dict[str, Path] = {}
    while len(ordered) < len(projects):
        ready = [
            name
            for name, (_, needs) in projects.items()
            if name not in ordered and not (needs & projects.keys()) - ordered.keys()
        ]
        if not ready:
            raise Wrong("members depend on each other in a circle")
        ordered.update({name: projects[name][0] for name in ready})
    return ordered


def build(out: Path) -> dict[str, str]:
    """Builds every distribution; file names with the digests of their contents."""
    stamp = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": stamp}
    for folder in published().values():
        run("uv", "build", "--quiet", "--out-dir", str(out), str(folder), env=environment)
    files = sorted([*out.glob("*.whl"), *out.glob("*.tar.gz")])
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def run(*command: str, **options: Any) -> str:
    """What a command prints.

    Raises:
        Wrong: it failed.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise Wrong(f"{' '.join(command[:4])}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return str(done.stdout)


def check_wheel(path: Path) -> None:
    """Contents and metadata of a wheel.

    Raises:
        Wrong: something is missing, or something is in it that must not be.
    """
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        text = archive.read(metadata).decode()
    for needed in ("/py.typed", ".dist-info/licenses/LICENSE", "/__init__.py"):
        if not any(name.endswith(needed) for name in names):
            raise Wrong(f"{path.name} has no {needed.lstrip('/')}")
    _check_names(path.name, names)
    for field in ("Summary: ", "License-Expression: Apache-2.0", "Requires-Python: >=3.11"):
        if not any(line.startswith(field) for line in text.splitlines()):
            raise Wrong(f"{path.name} has no metadata {field!r}")
    if "\n\n# " not in text:
        raise Wrong(f"{path.name} has no README")


def check_sdist(path: Path) -> None:
    """Contents of a source distribution.

    Raises:
        Wrong: as for a wheel.
    """
    with tarfile.open(path) as archive:
        names = archive.getnames()
    for needed in ("/pyproject.toml", "/LICENSE", "/README.md", "/PKG-INFO"):
        if not any(name.count("/") == 1 and name.endswith(needed) for name in names):
            raise Wrong(f"{path.name} has no {needed.lstrip('/')}")
    _check_names(path.name, names)


def _check_names(archive: str, names: Sequence[str]) -> None:
    for name in names:
        if "__pycache__" in name or re.search(r"(^|/)(tests|\.git|build|dist)/", name):
            raise Wrong(f"{archive} has {name} in it")


def install(name: str, out: Path, folder: Path) -> str:
    """Installs a distribution into an environment of its own and tries it.

    Raises:
        Wrong: it does not install, or it does not work.
    """
    home = folder / name
    run("uv", "venv", "--quiet", "--python", sys.executable, str(home))
    options = ("--find-links", str(out), "--constraint", str(ROOT / "constraints.txt"))
    python = home / "bin" / "python"
    run("uv", "pip", "install", "--quiet", "--python", str(python), *options, name)
    short = name.removeprefix("realta-")
    command = SMOKE.get(name, ("realta", "backends"))
    text = run(str(home / "bin" / command[0]), *command[1:], cwd=folder)
    if command[:2] == ("realta", "backends") and short not in text:
        raise Wrong(f"{name} is installed, but its backend is not listed:\n{text}")
    return text.strip().splitlines()[-1]


def typed(out: Path, folder: Path) -> float:
    """Percent of the public API of core whose type is known, as pyright counts.

    Raises:
        Wrong: less than before.
    """
    home = folder / "types"
    run("uv", "venv", "--quiet", "--python", sys.executable, str(home))
    python = ("--python", str(home / "bin" / "python"))
    run("uv", "pip", "install", "--quiet", *python, "--find-links", str(out), "realta")
    paths = os.pathsep.join([str(home / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": paths, "VIRTUAL_ENV": str(home)}
    command = ("pyright", "--verifytypes", "realta", "--ignoreexternal", "--outputjson")
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    score = 100 * float(json.loads(done.stdout)["typeCompleteness"]["completenessScore"])
    if score < LEAST_TYPED:
        raise Wrong(f"{score:.1f} % of the public API has a known type, {LEAST_TYPED} % before")
    return score


def main(arguments: Sequence[str]) -> int:
    """Builds and checks; returns the exit code."""
    out = Path(arguments[0]).resolve()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            built, again = build(out), build(folder / "again")
            if built != again:
                changed = sorted(name for name in built if built[name] != again.get(name))
                raise Wrong(f"built twice, and not the same: {', '.join(changed)}")
            for name, digest in built.items():
                (check_wheel if name.endswith(".whl") else check_sdist)(out / name)
                print(f"{digest}  {name}", flush=True)
            run("twine", "check", "--strict", *[str(out / name) for name in built])
            for name in published():
                print(f"{name}: {install(name, out, folder)}", flush=True)
            if "--types" in arguments:
                print(f"types: {typed(out, folder):.1f} % of the public API is known", flush=True)
    except Wrong as problem:
        print(f"not to be released: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
