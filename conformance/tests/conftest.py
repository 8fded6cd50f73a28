"""Fixtures of the suite's own tests."""

from collections.abc import Iterator

import pytest
from realta.backend.reference import Reference
from realta_conformance.device import Device, open_backend


@pytest.fixture
def reference() -> Iterator[Device]:
    device = open_backend(Reference())
    yield device
    device.close()
