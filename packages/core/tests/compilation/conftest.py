"""Tests of compilation run on the reference device unless they choose another."""

import pytest


@pytest.fixture(autouse=True)
def _on_reference(reference):
    """The default device."""
