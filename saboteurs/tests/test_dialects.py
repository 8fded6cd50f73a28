"""Dialects with a fault, through real drivers: the suite finds each, and nothing without it."""

import os

import pytest
from realta.errors import BackendUnavailable
from realta_saboteurs.dialect_faults import DIALECT_FAULTS, failing_checks


@pytest.mark.slow
@pytest.mark.parametrize("fault", DIALECT_FAULTS, ids=lambda fault: fault.name)
def test_a_dialect_with_a_fault_is_caught(fault, monkeypatch, tmp_path):
    monkeypatch.setenv("REALTA_OPENCL_PROFILE", fault.profile)
    monkeypatch.setenv("REALTA_CACHE_DIR", str(tmp_path))
    try:
        found = failing_checks(fault, on=True)
    except (BackendUnavailable, ModuleNotFoundError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))
    assert fault.fails <= found
    assert not failing_checks(fault, on=False)
