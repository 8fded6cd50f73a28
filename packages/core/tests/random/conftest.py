"""Random numbers are drawn on the reference device; the global stream begins anew in each test."""

import pytest
import realta


@pytest.fixture(autouse=True)
def _on_reference(reference):
    """The default device, and the stream's beginning."""
    realta.set_seed(0)
    yield
    realta.set_seed(0)
