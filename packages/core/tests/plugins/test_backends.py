import sys

import numpy as np
import pytest
from realta.backend import OpByOpBackend, Unavailable
from realta.errors import BackendNotFound, BackendUnavailable
from realta.plugins import (
    backends,
    load_backend,
    open_device,
    probe_backend,
    register_backend,
    unregister_backend,
)


def entry(name, *, probe=True):
    return next(e for e in backends(probe=probe) if e.name == name)


def test_a_plugin_is_loaded_by_name_and_no_other_is(distribution):
    distribution("realta-good", "1.0", {"good": ""})
    distribution("realta-other", "1.0", {"other": ""})
    assert entry("good", probe=False).state == "installed"
    assert load_backend("good").name == "good"
    assert "test_plugin_realta_other_other" not in sys.modules
    assert entry("good").state == "available"
    assert entry("good").distribution == "realta-good"
    assert load_backend("good") is load_backend("good")


def test_a_plugin_whose_import_raises_is_explained_and_breaks_no_other(distribution):
    root = distribution("realta-broken", "0.3", {"broken": "import missing_thing\n"})
    distribution("realta-good", "1.0", {"good": ""})
    for _ in range(2):
        with pytest.raises(BackendUnavailable) as caught:
            open_device("broken:0")
        assert str(caught.value) == (
            "the plugin 'broken' of realta-broken 0.3 cannot be loaded: "
            "ModuleNotFoundError: No module named 'missing_thing'\n"
            "  where: entry point broken = test_plugin_realta_broken_broken, raised at "
            f"{root}/test_plugin_realta_broken_broken.py:1\n"
            "  fix: pip install --upgrade realta-broken, or uninstall it; other backends work"
        )
        assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert entry("broken").state == "broken"
    assert "missing_thing" in entry("broken").reason
    one = np.ones((), np.float32)
    assert open_device("good:0").upload(one).numpy() == 1


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemError('driver')", "SystemError: driver"),
        (
            (
                "from realta.backend import hookimpl\n@hookimpl\ndef realta_backends():\n"
                "    raise OSError('no library')"
            ),
            "OSError: no library",
        ),
        (
            "from realta.backend import hookimpl\n@hookimpl\ndef realta_backends(extra): pass",
            "PluginValidationError",
        ),
    ],
)
def test_whatever_a_plugin_raises_is_wrapped(distribution, source, text):
    distribution("realta-x", "1.0", {"x": source})
    with pytest.raises(BackendUnavailable) as caught:
        load_backend("x")
    assert text in caught.value.what


def test_a_plugin_without_the_backend_it_names_is_told_so(distribution):
    distribution("realta-x", "1.0", {"x": "y = 1"})
    with pytest.raises(BackendUnavailable) as caught:
        load_backend("x")
    assert str(caught.value) == (
        "the plugin 'x' of realta-x 1.0 brings no backend of that name, but none\n"
        "  where: entry point x = test_plugin_realta_x_x\n"
        "  fix: return a backend with name 'x' from realta_backends()"
    )


def test_an_unknown_name_lists_what_is_installed_and_what_is_not_usable(distribution, monkeypatch):
    monkeypatch.setenv("REALTA_PLUGINS", "good,broken")
    distribution("realta-good", "1.0", {"good": ""})
    distribution("realta-broken", "0.3", {"broken": "1 / 0"})
    monkeypatch.setattr(sys.modules["realta.plugins.backends"], "_PUBLISHED", ("holodeck",))
    with pytest.raises(BackendNotFound) as caught:
        load_backend("holodeck")
    error = caught.value
    assert error.what == "no installed backend is called 'holodeck'"
    assert error.fix.startswith("pip install realta-holodeck; installed: good (realta-good 1.0), ")
    assert "reference (realta 0.1.0)" in error.fix
    assert "broken (the plugin 'broken' of realta-broken 0.3 cannot be loaded: Zero" in error.fix
    with pytest.raises(BackendNotFound, match="did you mean 'good'"):
        load_backend("goood")


def test_two_distributions_of_one_name_are_both_named(distribution):
    distribution("realta-x", "1.0", {"same": ""})
    distribution("vendor-x", "2.0", {"same": ""})
    with pytest.raises(BackendUnavailable) as caught:
        load_backend("same")
    assert str(caught.value) == (
        "2 distributions bring the backend 'same': realta-x 1.0 and vendor-x 2.0\n"
        "  where: backend 'same'\n"
        "  fix: uninstall all but one of them"
    )
    assert entry("same").state == "unusable"


@pytest.mark.parametrize(("major", "side"), [(2, "realta"), (0, "realta-x")])
def test_another_major_is_unusable_and_names_the_side_to_upgrade(distribution, major, side):
    distribution("realta-x", "1.0", {"x": ""}, group=f"realta.backends.v{major}")
    with pytest.raises(BackendUnavailable) as caught:
        load_backend("x")
    assert str(caught.value) == (
        f"the plugin 'x' of realta-x 1.0 follows contract {major}, this core 1.0\n"
        "  where: backend 'x'\n"
        f"  fix: pip install --upgrade {side}"
    )
    assert entry("x").state == "unusable"


def test_a_plugin_found_under_both_majors_is_used(distribution):
    root = distribution("realta-x", "1.0", {"x": ""})
    points = root / "realta_x-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text() + "[realta.backends.v2]\nx = nowhere\n")
    assert load_backend("x").name == "x"


def test_a_backend_that_speaks_another_contract_is_refused(distribution):
    source = (
        "from realta.backend import OpByOpBackend, hookimpl\n"
        "class B(OpByOpBackend):\n    name = 'x'\n    spec = '3.0'\n"
        "@hookimpl\ndef realta_backends():\n    return [B()]\n"
    )
    distribution("realta-x", "1.0", {"x": source})
    with pytest.raises(BackendUnavailable, match=r"follows contract 3\.0, this core 1\.0"):
        load_backend("x")


def test_the_environment_restricts_plugins(distribution, monkeypatch):
    distribution("realta-good", "1.0", {"good": ""})
    distribution("realta-other", "1.0", {"other": ""})
    monkeypatch.setenv("REALTA_PLUGINS", "other")
    assert load_backend("other").name == "other"
    with pytest.raises(BackendUnavailable) as caught:
        load_backend("good")
    assert str(caught.value) == (
        "the plugin 'good' is disabled by REALTA_PLUGINS=other\n"
        "  where: backend 'good'\n"
        "  fix: unset REALTA_PLUGINS or add good to it"
    )
    assert entry("good").state == "disabled"
    monkeypatch.setenv("REALTA_PLUGINS", "off")
    assert {e.name for e in backends(probe=True) if e.state == "available"} == {"reference"}


class Absent(OpByOpBackend):
    name = "absent"

    def probe(self):
        return Unavailable("there is no such chip", "solder one in")


class Raising(OpByOpBackend):
    name = "raising"

    def probe(self):
        raise OSError("libchip.so.1: cannot open")


class Empty(OpByOpBackend):
    name = "empty"

    def probe(self):
        return ()


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        (
            Absent(),
            (
                "the backend 'absent' cannot run on this machine: there is no such chip\n"
                "  where: backend 'absent'\n  fix: solder one in"
            ),
        ),
        (
            Raising(),
            (
                "the backend 'raising' cannot run on this machine: its probe raised OSError: "
                "libchip.so.1: cannot open\n  where: backend 'raising'\n"
                "  fix: report it to whoever publishes the backend"
            ),
        ),
        (
            Empty(),
            (
                "the backend 'empty' cannot run on this machine: it found no device\n"
                "  where: backend 'empty'\n  fix: see `realta doctor`"
            ),
        ),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_backend_without_hardware_says_why(backend, text):
    register_backend(backend)
    try:
        with pytest.raises(BackendUnavailable) as caught:
            probe_backend(backend.name)
        assert str(caught.value) == text
        assert entry(backend.name).state == "unavailable"
    finally:
        unregister_backend(backend.name)


def test_a_probe_is_asked_once(distribution):
    asked = []

    class Counted(OpByOpBackend):
        name = "counted"

        def probe(self):
            asked.append(1)
            return super().probe()

    register_backend(Counted())
    try:
        probe_backend("counted")
        open_device("counted:0")
        backends(probe=True)
    finally:
        unregister_backend("counted")
    assert asked == [1]
