"""CudaExecutable: a planned graph; launches that are given again are replayed as one CUDA graph."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from realta.backend import DeviceFault, KernelExecutable, Options
from realta.fusion import Plan

from realta_cuda.errors import fault

if TYPE_CHECKING:
    from realta_cuda.session import CudaSession

__all__ = ["LEAST_LAUNCHES", "CudaExecutable"]

LEAST_LAUNCHES: Final = 2
"""From so many launches on, one launch of a CUDA graph costs less than they do."""
_MOST_GRAPHS: Final = 8
"""CUDA graphs kept by an executable, one for each set of addresses."""


class CudaExecutable(KernelExecutable):
    """A compiled graph.

    The addresses that a run works on decide which CUDA graph it is. Core's pool hands out the same
    buffers again and again, so few graphs serve all runs of a loop; a set of addresses that comes
    a second time is captured, and replayed from the third time on.

    Args:
        session: the session that compiled it.
        plan: the kernels.
        options: compile options.
    """

    def __init__(self, session: CudaSession, plan: Plan, options: Options) -> None:
        self._cuda = session
        self._graphs: OrderedDict[tuple[int, ...], Any] = OrderedDict()
        super().__init__(session, plan, options)
        self._names = tuple(dict.fromkeys(report.name for report in self.kernels))
        self._worth = len(self.kernels) >= LEAST_LAUNCHES

    def submit(self, slots: Sequence[Any]) -> None:
        session = self._cuda
        session.enter()
        session.running.append(self._names)
        if not (self._worth and session.captures):
            super().submit(slots)
            return
        key = tuple([handle.pointer for handle in slots])
        graph = self._graphs.get(key, self)
        if graph is self:
            self._graphs[key] = None
            if len(self._graphs) > _MOST_GRAPHS:
                _close(self._graphs.popitem(last=False)[1])
        elif graph is None:
            graph = self._graphs[key] = self._capture(slots)
            self._graphs.move_to_end(key)
        if graph is self or graph is None:
            super().submit(slots)
            return
        try:
            graph.launch(session.stream)
        except Exception as error:
            raise fault(error, "a CUDA graph could not be launched", self._names) from error

    def _capture(self, slots: Sequence[Any]) -> Any:
        """The launches as a CUDA graph; None if they cannot be captured."""
        session = self._cuda
        builder = session.device.create_graph_builder()
        try:
            # Relaxed: other threads may allocate meanwhile, which has nothing to do with this.
            builder.begin_building(mode="relaxed")
            session.target = builder
            try:
                super().submit(slots)
            finally:
                session.target = session.stream
                builder.end_building()
            return builder.complete()
        except DeviceFault:
            self._worth = False
            return None
        finally:
            builder.close()

    def close(self) -> None:
        """Frees its constants and its CUDA graphs; it must not be run any more."""
        while self._graphs:
            _close(self._graphs.popitem()[1])
        super().close()


def _close(graph: Any) -> None:
    if graph is not None:
        graph.close()
