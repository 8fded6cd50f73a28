"""Version negotiation: backends of older and newer contracts beside this core."""

import numpy as np
import pytest
import realta
from realta.backend import SPEC, Capabilities, DeviceInfo, OpByOpBackend, OpByOpSession, declare
from realta.errors import BackendUnavailable
from realta.plugins import (
    backends,
    close_devices,
    forget_plugins,
    load_backend,
    register_backend,
    unregister_backend,
)
from realta.types import float32

MAJOR = int(SPEC.partition(".")[0])
KERNELS = {"add": lambda node, x, y: x + y, "neg": lambda node, x: -x}


@pytest.fixture
def open_fake():
    """Registers a backend and makes a tensor on its device."""

    def make(backend):
        register_backend(backend)
        return realta.Tensor(np.float32([1, 2]), device=backend.name)

    yield make
    for name in ("newer", "older"):
        close_devices(name)
        unregister_backend(name)


class NewerSession(OpByOpSession):
    """What a later minor may add: features, attributes and methods of which core knows nothing."""

    def __init__(self, backend):
        super().__init__(backend)
        own = self.capabilities
        self.capabilities = Capabilities(
            own.storage, {**own.ops, "an_op_of_1_9": frozenset({float32})},
            composites=own.composites, features=frozenset({"teleport"}),
        )  # fmt: skip

    def prefetch(self, handle):
        raise AssertionError("core of 1.0 knows no prefetch")


class Newer(OpByOpBackend):
    name = "newer"
    spec = f"{MAJOR}.9"
    kernels = {**KERNELS, "an_op_of_1_9": lambda node, x: x}

    def open(self, device):
        return NewerSession(self)


def test_a_newer_minor_is_used_for_what_both_know(open_fake):
    x = open_fake(Newer())
    assert (-(x + x)).tolist() == [-2.0, -4.0]
    assert realta.compile(lambda x: x + x)(x.type)(x).tolist() == [2.0, 4.0]


def test_declaring_leaves_out_ops_of_later_versions():
    assert declare(Newer.kernels, {float32}) == declare(KERNELS, {float32})


class OlderSession:
    """A session of the first contract: the required methods, and no optional attribute."""

    def __init__(self, inner):
        self._inner = inner
        self.capabilities = inner.capabilities
        self.fingerprint = inner.fingerprint
        for name in (
            "supports", "buffer_bytes", "allocate", "free", "write", "read", "copy", "view",
            "compile", "wait", "close",
        ):  # fmt: skip
            setattr(self, name, getattr(inner, name))


class Older(OpByOpBackend):
    name = "older"
    spec = f"{MAJOR}.0"
    kernels = KERNELS

    def open(self, device):
        return OlderSession(super().open(device))


def test_an_older_minor_works_without_what_came_later(open_fake, monkeypatch):
    monkeypatch.setattr(realta.runtime, "SPEC", f"{MAJOR}.9")
    x = open_fake(Older())
    assert (-(x + x)).tolist() == [-2.0, -4.0]
    with realta.lazy():
        pending = -(x + x)
    assert pending.tolist() == [-2.0, -4.0]
    realta.explain(lambda x: x + x, x)


SOURCE = """
from realta.backend import OpByOpBackend, hookimpl

class B(OpByOpBackend):
    name = "x"
    spec = "{spec}"
    kernels = {{"add": lambda node, x, y: x + y}}

realta_backends = hookimpl(lambda: [B()])
"""


@pytest.mark.parametrize("minor", [0, 1, 9, 10])
def test_every_minor_of_the_major_is_loaded(distribution, minor):
    distribution("realta-x", "1.0", {"x": SOURCE.format(spec=f"{MAJOR}.{minor}")})
    assert load_backend("x").spec == f"{MAJOR}.{minor}"


@pytest.mark.parametrize(
    ("major", "upgrade"), [(MAJOR - 1, "realta-x"), (MAJOR + 1, "realta")], ids=["older", "newer"]
)
def test_another_major_is_never_imported(distribution, major, upgrade):
    source = "raise AssertionError('imported')\n"
    distribution("realta-x", "2.5", {"x": source}, group=f"realta.backends.v{major}")
    (entry,) = [e for e in backends(probe=True) if e.name == "x"]
    assert entry.state == "unusable"
    with pytest.raises(BackendUnavailable) as caught:
        realta.Tensor([1.0], device="x")
    assert str(caught.value) == (
        f"the plugin 'x' of realta-x 2.5 follows contract {major}, this core {SPEC}\n"
        f"  where: backend 'x'\n  fix: pip install --upgrade {upgrade}"
    )


def test_one_distribution_may_serve_two_majors(distribution):
    distribution("realta-x", "1.0", {"x": SOURCE.format(spec=SPEC)})
    later = "raise AssertionError('imported')\n"
    distribution("realta-y", "1.0", {"x": later}, group=f"realta.backends.v{MAJOR + 1}")
    forget_plugins()
    assert load_backend("x").spec == SPEC
    assert DeviceInfo(0, "x (op by op)", kind="host") in load_backend("x").probe()
