"""Finding drivers: those of wheels beside those of the system; what is said without any."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from realta_opencl import drivers

PROBE = """
import json, sys
from realta_opencl.backend import OpenCLBackend
assert "pyopencl" not in sys.modules, "importing the plugin touched the driver"
from realta.backend import Unavailable
found = OpenCLBackend().probe()
if isinstance(found, Unavailable):
    print(json.dumps({"reason": found.reason, "fix": found.fix}))
else:
    print(json.dumps([[info.name, list(info.aliases)] for info in found]))
"""


def probed(**variables):
    environment = {k: v for k, v in os.environ.items() if k not in drivers._VARIABLES} | variables
    result = subprocess.run(
        [sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(result.stdout)


def test_drivers_of_wheels_are_found_without_a_variable(found):
    assert found.info.aliases[0] in {aliases[0] for _, aliases in probed()}


def test_the_order_is_the_same_in_each_process(found):
    assert probed() == probed()


def test_a_folder_without_drivers_is_respected(found, tmp_path):
    """pyopencl's own loader always adds the driver that stands beside it, if there is one."""
    shown = probed(OCL_ICD_VENDORS=str(tmp_path))
    names = [] if isinstance(shown, dict) else [aliases[0] for _, aliases in shown]
    assert "intel" not in names


def test_a_misspelt_folder_is_named(found, tmp_path):
    wrong = str(tmp_path / "nowhere")
    shown = probed(OCL_ICD_VENDORS=wrong)
    if isinstance(shown, dict):
        assert f"OCL_ICD_VENDORS={wrong} names nothing that exists" in shown["reason"]
        assert "realta-opencl[pocl]" in shown["fix"]
    else:
        assert all(aliases[0] == "pocl" for _, aliases in shown)


def test_an_icd_that_names_a_missing_library_is_named(monkeypatch, tmp_path):
    (tmp_path / "gone.icd").write_text("/opt/nowhere/libgone.so\n")
    (tmp_path / "fine.icd").write_text("libfine.so\n")
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    text = drivers._wrong_icds()
    assert "gone.icd names /opt/nowhere/libgone.so, which does not exist" in text
    assert "fine" not in text


@pytest.mark.parametrize("raised", [True, False])
def test_no_platform_is_an_answer(monkeypatch, raised):
    class Loader:
        def get_platforms(self):
            if raised:
                raise RuntimeError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")
            return []

    monkeypatch.setattr(drivers, "load_pyopencl", Loader)
    found = drivers.platforms()
    assert "no OpenCL platform was found" in found.reason
    assert "pip install 'realta-opencl[pocl]'" in found.fix


def test_a_pyopencl_that_cannot_be_imported_is_an_answer(monkeypatch):
    def fail(name):
        raise ImportError("libOpenCL.so.1: cannot open shared object file")

    monkeypatch.setattr(drivers.importlib, "import_module", fail)
    found = drivers.platforms()
    assert "cannot be imported: ImportError: libOpenCL.so.1" in found.reason
    assert "pyopencl" in found.fix


def test_the_environment_is_as_before(monkeypatch, tmp_path):
    library = tmp_path / "libours.so"
    library.write_text("")
    system = tmp_path / "system"
    system.mkdir()
    (system / "theirs.icd").write_text("libtheirs.so")
    monkeypatch.setattr(drivers, "_wheel_libraries", lambda: {"ours": library})
    monkeypatch.setattr(drivers, "SYSTEM_ICDS", system)
    for name in drivers._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    with drivers._all_icds():
        folder = os.environ["OCL_ICD_VENDORS"]
        seen = {path.name: path.read_text() for path in Path(folder).iterdir()}
    assert seen == {"ours.icd": str(library), "theirs.icd": "libtheirs.so"}
    assert "OCL_ICD_VENDORS" not in os.environ
    assert not os.path.exists(folder)


@pytest.mark.parametrize("variable", ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"])
def test_who_sets_a_variable_decides_alone(monkeypatch, tmp_path, variable):
    monkeypatch.setattr(drivers, "_wheel_libraries", lambda: {"ours": tmp_path})
    for name in drivers._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "/somewhere")
    with drivers._all_icds():
        assert os.environ[variable] == "/somewhere"
        assert len([name for name in drivers._VARIABLES if name in os.environ]) == 1


def test_drivers_keep_nothing_where_caches_are_off(monkeypatch):
    monkeypatch.setenv("REALTA_CACHE", "off")
    monkeypatch.delenv("POCL_KERNEL_CACHE", raising=False)
    monkeypatch.delenv("PYOPENCL_NO_CACHE", raising=False)
    monkeypatch.setenv("POCL_CACHE_DIR", "/given")
    drivers._keep_caches_within_bounds()
    assert os.environ["POCL_KERNEL_CACHE"] == "0"
    assert os.environ["PYOPENCL_NO_CACHE"] == "1"
    assert os.environ["POCL_CACHE_DIR"] == "/given"


def test_pocl_gets_a_folder_where_its_own_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("POCL_CACHE_DIR", "")
    monkeypatch.delenv("REALTA_CACHE", raising=False)
    folders = []
    monkeypatch.setattr(drivers, "_temporary", folders)
    drivers._keep_caches_within_bounds()
    assert os.path.isdir(os.environ["POCL_CACHE_DIR"])
    assert os.environ["POCL_CACHE_DIR"] == folders[0].name
    folders[0].cleanup()
