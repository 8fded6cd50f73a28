"""Reopening: what was compiled for a device as it was opened before is not used for it again."""

import numpy as np
import pytest
import realta
from realta.backend import DeviceFault, OpByOpBackend
from realta.plugins import close_devices, register_backend, unregister_backend


class Losing(OpByOpBackend):
    """Loses its device at the first addition that is asked to."""

    name = "losing"
    failing = False

    @staticmethod
    def _add(node, x, y):
        if Losing.failing:
            raise DeviceFault("the device fell off the bus", kind="lost", fatal=True)
        return x + y

    kernels = {
        "add": _add,
        "broadcast": lambda node, x: np.broadcast_to(x, node.attrs["shape"]),
    }


def test_bare_calls_go_on_after_a_device_was_lost_and_opened_again():
    register_backend(Losing())
    try:
        x = realta.Tensor([1.0, 2.0], device="losing")
        assert (x + x).tolist() == (x + x).tolist() == [2.0, 4.0]
        Losing.failing = True
        with pytest.raises(DeviceFault, match="fell off the bus"):
            (x + x).numpy()
        Losing.failing = False
        y = realta.Tensor([1.0, 2.0], device="losing")
        assert (y + y).tolist() == [2.0, 4.0]
    finally:
        close_devices("losing")
        unregister_backend("losing")


def test_bare_calls_go_on_after_devices_were_closed():
    def spent():
        x = realta.zeros((3,), device="reference") + 1.0
        realta.compile(lambda x: x + 1, donate=(0,))(x.type)(x)
        try:
            return (x + 1.0).tolist()
        except realta.errors.RealizationError:
            return "donated"

    assert spent() == "donated"
    close_devices()
    assert spent() == "donated"
