import pickle

import pytest
from realta.backend import DeviceInfo, OpByOpBackend
from realta.errors import ArgumentError, BackendNotFound, BackendUnavailable
from realta.plugins import (
    CPU,
    Accelerator,
    Device,
    close_devices,
    device_of,
    devices,
    register_backend,
    unregister_backend,
)
from realta.plugins import device as module


class Hosted(OpByOpBackend):
    name = "hosted"


class Board(OpByOpBackend):
    name = "board"

    def probe(self):
        return (DeviceInfo(0, "a board", aliases=("fast",)), DeviceInfo(1, "another"))


@pytest.fixture(autouse=True)
def registered():
    register_backend(Hosted())
    register_backend(Board())
    yield
    for name in ("hosted", "board"):
        close_devices(name)
        unregister_backend(name)
    module._missing.clear()


def test_all_spellings_of_a_device_are_equal():
    spelled = [
        Device("board"), Device("board", 0), Device("board:0"), Device("board:fast"),
        Device(Device("board")), device_of("board"), device_of(Device("board:0")),
    ]  # fmt: skip
    assert len(set(spelled)) == 1
    assert Device("board") != Device("board", 1)
    assert Device("board") != "board:0"


def test_it_shows_what_it_resolved_to():
    device = Device("board:fast")
    assert (repr(device), str(device)) == ("Device('board:0')", "board:0")
    assert (device.backend, device.index, device.is_host) == ("board", 0, False)
    assert device.info.name == "a board"
    assert device.open().name == "board:0"


def test_cpu_is_a_host():
    assert CPU().is_host
    assert CPU() == Device("cpu")


def test_accelerators_are_numbered(monkeypatch):
    monkeypatch.setenv("REALTA_PLUGINS", "off")  # those of this machine do not count here
    assert Accelerator() == Accelerator(0) == Device("board", 0)
    assert Accelerator(1) == Device("board", 1)
    with pytest.raises(BackendUnavailable) as caught:
        Accelerator(2)
    assert caught.value.what == "there is no accelerator 2: 2 found (board:0, board:1)"
    assert caught.value.where == "Accelerator(2)"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((3,), "a device is given by its name, got int"),
        (("board:0", 1), "'board:0' has an index already, so 1 is one too many"),
        (("board", -1), "a device's index is an int >= 0, got -1"),
        (("board", True), "a device's index is an int >= 0, got True"),
    ],
)
def test_what_names_no_device_is_refused(arguments, text):
    with pytest.raises(ArgumentError) as caught:
        Device(*arguments)
    assert caught.value.what == text


def test_devices_lists_hosts_and_accelerators():
    names = [device.name for device in devices()]
    assert {"board:0", "board:1", "hosted:0", "reference:0"} <= set(names)
    assert names == sorted(names)


def test_devices_are_pickled_by_what_they_resolved_to():
    for device in (Device("hosted"), Device("board", 1)):
        assert pickle.loads(pickle.dumps(device)) == device


def test_a_host_that_is_missing_becomes_cpu_with_one_warning():
    data = pickle.dumps(Device("hosted"))
    close_devices("hosted")
    unregister_backend("hosted")
    with pytest.warns(RuntimeWarning, match="hosted:0 is not usable here"):
        assert pickle.loads(data) == CPU()
    assert pickle.loads(data) == CPU()


def test_an_accelerator_that_is_missing_raises():
    data = pickle.dumps(Device("board"))
    close_devices("board")
    unregister_backend("board")
    with pytest.raises(BackendNotFound, match="no installed backend is called 'board'"):
        pickle.loads(data)
