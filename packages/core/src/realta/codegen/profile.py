"""DeviceProfile: what schedules must know about a device: a GPU's best is a CPU's worst."""

from __future__ import annotations

from typing import Final, Literal

from realta.codegen.ir import Tree
from realta.records import Record

__all__ = ["CPU_PROFILE", "GPU_PROFILE", "LOOP_PROFILE", "DeviceProfile", "Realization"]

Realization = Literal["vector", "items", "loop"]
"""How lanes are realized: as elements of explicit vectors in one work-item, as the work-items of a
group, or as turns of innermost loops that the compiler vectorizes."""


class DeviceProfile(Record):
    """Numbers and choices that schedules are made from.

    Args:
        name: ``cpu``, ``gpu`` or ``loop``.
        realization: how lanes are realized.
        lanes: lanes of a group.
        tree: the canonical order of float reductions on this device.
        workers: how many groups run at once; a schedule makes a few groups per worker on a CPU and
            as many as there is work on a GPU.
        chunk: elements that a group takes in one elementwise kernel, a multiple of `lanes`.
        scratch_bytes: most bytes of group memory of one kernel.
        lane_bytes: most bytes of arrays of each lane (registers on a GPU, first-level cache on a
            CPU).
        tile: edge of the square tiles of a transpose.
        host_contractions: whether contractions go to the host's BLAS rather than to a kernel.
        streaming: whether large outputs are stored past the caches.
        vector_bytes: with lanes that are work-items, bytes that each moves in one instruction where
            they are neighbours and aligned; 0 if the language cannot say that they are.
    """

    __slots__ = (
        "chunk", "host_contractions", "lane_bytes", "lanes", "name", "realization",
        "scratch_bytes", "streaming", "tile", "tree", "vector_bytes", "workers",
    )  # fmt: skip

    name: str
    realization: Realization
    lanes: int
    tree: Tree
    workers: int
    chunk: int
    scratch_bytes: int
    lane_bytes: int
    tile: int
    host_contractions: bool
    streaming: bool
    vector_bytes: int

    def __init__(
        self, name: str, realization: Realization, lanes: int, tree: Tree, *, workers: int,
        chunk: int, scratch_bytes: int, lane_bytes: int, tile: int,
        host_contractions: bool = False, streaming: bool = False,
        vector_bytes: int = 0,
    ) -> None:  # fmt: skip
        self._set(
            chunk, host_contractions, lane_bytes, lanes, name, realization, scratch_bytes,
            streaming, tile, tree, vector_bytes, workers,
        )  # fmt: skip

    def replace(self, **changes: object) -> DeviceProfile:
        """The same profile with some fields changed."""
        fields = {name: getattr(self, name) for name in self._fields} | changes
        first = [fields.pop(name) for name in ("name", "realization", "lanes", "tree")]
        return DeviceProfile(*first, **fields)


CPU_PROFILE: Final = DeviceProfile(
    "cpu", "vector", 16, Tree(16, 512), workers=2, chunk=16384, scratch_bytes=1 << 18,
    lane_bytes=1 << 12, tile=16, host_contractions=True, streaming=True,
)  # fmt: skip
"""A CPU: few large groups of one work-item, contiguous chunks, explicit vectors, no staging."""
GPU_PROFILE: Final = DeviceProfile(
    "gpu", "items", 256, Tree(32, 1024), workers=256, chunk=1024, scratch_bytes=32 << 10,
    lane_bytes=256, tile=32,
)  # fmt: skip
"""A GPU: 256 work-items a group, neighbours read neighbours, trees in group memory."""
LOOP_PROFILE: Final = DeviceProfile(
    "loop", "loop", 16, Tree(16, 512), workers=1, chunk=16384, scratch_bytes=1 << 18,
    lane_bytes=1 << 12, tile=16,
)  # fmt: skip
"""Plain C: lanes are innermost loops of sixteen turns, which compilers make vectors of."""
