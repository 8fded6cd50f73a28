import threading
import warnings

import pytest
from realta.backend import DeviceInfo, OpByOpBackend
from realta.errors import ArgumentError, BackendNotFound, DeviceError
from realta.plugins import (
    accelerators,
    close_devices,
    device_info,
    is_host,
    open_device,
    register_backend,
    resolve_device_name,
    unregister_backend,
)


class Board(OpByOpBackend):
    """Two accelerators, the second with an alias and a uid."""

    name = "board"
    opened = 0

    def probe(self):
        return (
            DeviceInfo(0, "first board"),
            DeviceInfo(1, "second board", uid="1234-abcd", aliases=("fast",)),
        )

    def open(self, device):
        type(self).opened += 1
        return super().open(device)


@pytest.fixture
def register():
    names = []

    def add(backend):
        names.append(backend.name)
        close_devices(backend.name)
        register_backend(backend)

    yield add
    for name in names:
        close_devices(name)
        unregister_backend(name)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("board", "board:0"),
        ("board:0", "board:0"),
        ("board:1", "board:1"),
        ("board:fast", "board:1"),
        ("board:1234-abcd", "board:1"),
        ("reference", "reference:0"),
    ],
)
def test_names_resolve(register, name, canonical):
    register(Board())
    assert resolve_device_name(name) == canonical


@pytest.mark.parametrize("name", ["", ":0", "numpy:", "a:b:c"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(ArgumentError) as caught:
        resolve_device_name(name)
    assert str(caught.value) == (
        f"{name!r} is not a device name\n  where: device {name!r}\n"
        '  fix: write it like "cpu", "numpy:0" or "cuda:1"'
    )


@pytest.mark.parametrize("name", ["board:7", "board:slow"])
def test_a_device_that_is_not_there_lists_those_that_are(register, name):
    register(Board())
    with pytest.raises(DeviceError) as caught:
        open_device(name)
    assert str(caught.value) == (
        f"the backend 'board' has no device {name.partition(':')[2]}\n"
        f"  where: device '{name}'\n"
        "  fix: it has board:0 (first board), board:1 (second board, also board:fast)"
    )


def test_an_unknown_backend_names_the_device_that_was_asked_for():
    with pytest.raises(BackendNotFound) as caught:
        open_device("nonsense:3")
    assert caught.value.what == "no installed backend is called 'nonsense'"
    assert caught.value.where == "device 'nonsense:3'"


def test_a_device_is_opened_once_by_whichever_thread(register):
    register(Board())
    Board.opened = 0
    barrier = threading.Barrier(6)
    found = []

    def work():
        barrier.wait()
        found.append(open_device("board:fast"))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(device) for device in found}) == 1
    assert Board.opened == 1
    assert open_device("board:1") is found[0]


def test_devices_know_whether_they_are_hosts(register):
    register(Board())
    assert not is_host("board:0")
    assert is_host("reference:0")
    assert device_info("board:1").name == "second board"


def test_accelerators_are_cuda_first_and_opencl_last(register):
    for name in ("opencl", "zeta", "cuda", "alpha"):
        register(type("Made", (Board,), {"name": name})())
    found = [
        name
        for name in accelerators()
        if name.partition(":")[0] in ("opencl", "zeta", "cuda", "alpha")
    ]
    assert found == [
        "cuda:0", "cuda:1", "alpha:0", "alpha:1", "zeta:0", "zeta:1", "opencl:0", "opencl:1",
    ]  # fmt: skip


class Host(OpByOpBackend):
    """A host device under a name that ``cpu`` may stand for."""


def test_cpu_is_the_best_host_that_works(register, monkeypatch):
    monkeypatch.setenv("REALTA_PLUGINS", "off")
    assert resolve_device_name("cpu") == "reference:0"
    close_devices()
    register(type("Numpy", (Host,), {"name": "numpy"})())
    monkeypatch.setenv("REALTA_PLUGINS", "numpy")
    assert resolve_device_name("cpu") == "numpy:0"
    monkeypatch.delenv("REALTA_PLUGINS")
    register(type("Llvm", (Host,), {"name": "llvm"})())
    assert resolve_device_name("cpu") == "llvm:0"


def test_cpu_passes_over_a_broken_host_with_one_warning(register, distribution):
    distribution("realta-llvm", "0.1", {"llvm": "import missing_thing"})
    register(type("Numpy", (Host,), {"name": "numpy"})())
    with pytest.warns(RuntimeWarning, match="cpu does not mean llvm:0 although it is installed"):
        assert resolve_device_name("cpu") == "numpy:0"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert resolve_device_name("cpu:0") == "numpy:0"
