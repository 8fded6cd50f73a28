"""Random probes: published vectors of Philox, so that oracle and device cannot both be wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from realta.graph import Builder
from realta.types import TensorType, as_dtype

from realta_conformance.device import Device
from realta_conformance.probes.probe import Finding, probe

_UINT32: Final = as_dtype("uint32")
VECTORS: Final = (((0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),)
"""Counter words 2 and 3, key, and the lanes of block 0 (Random123, kat_vectors)."""


@probe("random")
def published_vectors(device: Device) -> Iterator[Finding]:
    """Philox4x32-10 gives the lanes that its authors published.

    If this fails, check the order of the lanes and of the words of counter and key, the number of
    rounds (10), and that the key is bumped between rounds, not before the first.
    """
    if _UINT32 not in device.capabilities.ops.get("philox_bits", frozenset()):
        yield Finding(skipped="core makes the bits on the host for this device")
        return
    state_type, bits_type = TensorType(_UINT32, (4,)), TensorType(_UINT32, (4,))
    for n, (counter, key, lanes) in enumerate(VECTORS):
        builder = Builder("probe")
        state = builder.input(state_type, "state")
        executable = device.compile(
            builder.finish(builder.philox_bits(state, shape=(4,), dtype=_UINT32, device=""))
        )
        given = device.upload(np.array([*counter, *key], np.uint32), state_type)
        outputs = device.run(executable, [given], [bits_type])
        found = [int(v) for v in device.read(outputs[0], bits_type)]
        device.free([given, *outputs])
        executable.close()
        wrong = (
            ""
            if found == list(lanes)
            else f"{[hex(v) for v in found]}, must be {[hex(v) for v in lanes]}"
        )
        yield Finding(f"vector-{n}", wrong, "uint32")
