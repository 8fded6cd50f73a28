"""The minimal backend: its size, and that it is found by its entry point alone."""

from importlib.metadata import entry_points
from pathlib import Path

import realta_minimal

SOURCE = Path(realta_minimal.__file__)


def test_it_has_at_most_thirty_lines():
    assert sum(bool(line.strip()) for line in SOURCE.read_text().splitlines()) <= 30


def test_it_uses_the_contract_and_types_and_nothing_else_of_core():
    imports = [
        line for line in SOURCE.read_text().splitlines() if "realta" in line and "import" in line
    ]
    assert imports == [
        "from realta.backend import OpByOpBackend, hookimpl",
        "from realta.types import bool_, float32, int32, int64",
    ]


def test_it_is_found_by_its_entry_point():
    (entry,) = entry_points(group="realta.backends.v1", name="minimal")
    assert entry.value == "realta_minimal"


def test_it_computes():
    import realta

    t = realta.Tensor([1.0, 2.0, 3.0], device="minimal")
    assert str((t + t).device) == "minimal:0"
    assert (t * t + t).tolist() == [2.0, 6.0, 12.0]
