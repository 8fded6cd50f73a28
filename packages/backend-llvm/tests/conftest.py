"""Shared by the tests of the LLVM backend: sessions of every width, and a cache apart."""

import os

import pytest
from realta_llvm.machine import this_machine
from realta_llvm.session import LLVMSession


@pytest.fixture(autouse=True, scope="session")
def cache_folder(tmp_path_factory):
    """Kernels are kept away from those of the user."""
    before = os.environ.get("REALTA_CACHE_DIR")
    os.environ["REALTA_CACHE_DIR"] = str(tmp_path_factory.mktemp("kernels"))
    yield
    if before is None:
        del os.environ["REALTA_CACHE_DIR"]
    else:
        os.environ["REALTA_CACHE_DIR"] = before


@pytest.fixture(params=[4, 8, 16])
def session(request):
    """The processor with vectors of each width."""
    opened = LLVMSession(this_machine(), request.param)
    yield opened
    opened.close()
