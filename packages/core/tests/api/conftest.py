"""Tensors go to the reference device."""

import pytest


@pytest.fixture(autouse=True)
def _on_reference(reference):
    """The default device."""
