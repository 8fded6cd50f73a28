"""Writes the golden texts anew: ``python -m tests.errors``; read the difference before a commit."""

import tempfile
from pathlib import Path

import pytest
import realta
from realta.errors import RealtaError
from realta.plugins import close_devices, forget_plugins

from tests.errors import (
    control,
    devices,
    failures,
    graphs,
    habits,
    indexing,
    kernels,
    models,
    realizing,
    standard,
    values,
    windows,
)
from tests.errors.catalogue import CASES, HERE, Place, normalized, written

MODULES = (
    control,
    devices,
    failures,
    graphs,
    habits,
    indexing,
    kernels,
    models,
    realizing,
    standard,
    values,
    windows,
)


def text_of(case, folder: Path) -> str:
    """The text of a case's error."""
    undo = pytest.MonkeyPatch()
    try:
        with realta.default_device("reference:0"):
            case.provoke(Place(folder, undo))
    except RealtaError as error:
        return normalized(str(error), folder)
    finally:
        undo.undo()
        forget_plugins()
        close_devices()
    raise SystemExit(f"{case.group}: {case.title} raises nothing")


def main() -> None:
    """Writes one file for each group."""
    for module in MODULES:
        group = module.__name__.rpartition(".")[2]
        texts = {}
        for case in CASES:
            if case.group == group:
                with tempfile.TemporaryDirectory() as folder:
                    texts[case.title] = text_of(case, Path(folder))
        (HERE / f"{group}.txt").write_text(written(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
