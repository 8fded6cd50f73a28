"""EagerRealizationContext: a region that bounds fusion and runs as one graph when it is left."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any, ClassVar, Literal

from realta import runtime
from realta.context.abandoned import AbandonedRegion
from realta.context.base import YOUNG_ALONE, RecordingContext
from realta.context.handle import TensorHandle
from realta.context.location import caller_location
from realta.context.moves import MoveLog
from realta.context.running import realize, realize_again
from realta.context.trace import Trace, known_recipe, learn_recipe
from realta.errors import RealizationError
from realta.graph import Graph, Value
from realta.runtime import Storage

__all__ = ["EagerRealizationContext"]


class EagerRealizationContext(RecordingContext):
    """A fusion region: records its ops and realizes everything alive as one graph on exit.

    An exception inside abandons what has not run. Whatever keeps the region from ending well, in
    its body or at its end, puts tensors it stored to back to the versions they named before.

    Args:
        name: shown in errors and in `explain`.
        fuse: ``"may"``, ``"must"`` (one kernel or a `FusionError`) or ``"never"``.
        numerics: ``"exact"`` or ``"fast"``.
        on_sync: ``"error"`` or ``"split"`` (run what is recorded and go on) where one of its own
            tensors is realized inside.
        donor: a tensor whose buffer the region may use up if nobody else holds it.

    Attributes:
        last_run: the graph that it ran last and the graph's program.
    """

    kind: ClassVar[str] = "eager"

    def __init__(
        self,
        name: str = "",
        *,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        on_sync: Literal["error", "split"] = "error",
        donor: TensorHandle | None = None,
    ) -> None:
        super().__init__(name, fuse=fuse, numerics=numerics, on_sync=on_sync, node_budget=None)
        self._donor = donor
        self._moves = MoveLog()
        self._own_region = self.region
        self.last_run: tuple[Graph, runtime.Program] | None = None

    def _check_entry(self) -> None:
        if self.is_open:
            raise RealizationError(
                f"{self.describe()} is open already",
                where=f"{caller_location()}, opened at {self.opened_at}",
                fix="use a new EagerRealizationContext for an inner region",
            )

    def move(self, handle: Any, value: Value) -> None:
        """Moves a handle to a new version, which an exception in the region takes back."""
        self._moves.note(handle)
        self.adopt(handle, value)

    def move_to_storage(self, handle: Any, storage: Storage) -> None:
        """Moves a handle to a real version, which an exception in the region takes back."""
        self._moves.note(handle)
        super().move_to_storage(handle, storage)

    def _leave(self, error: BaseException | None) -> None:
        if error is not None:
            self._abandon(error)
            return
        try:
            with self.lock:
                if self.trace is None:
                    self._realize_all()
                else:
                    self._realize_traced(self.trace)
        except BaseException:
            self._moves.restore()
            raise
        self._moves.clear()

    def _abandon(self, error: BaseException) -> None:
        lost = self.live()
        self._moves.restore()
        region = AbandonedRegion(self.describe(), self.opened_at, error)
        for handle in lost:
            if handle._context is self and not handle._settle():
                handle._context = region
        self.pending.clear()
        self._effects.drop()

    def demand(self, handles: Sequence[Any]) -> None:
        """Realizes everything alive (one graph); inside the open region that follows ``on_sync``.

        Raises:
            RealizationError: the region is open and ``on_sync="error"``.
            ExecutionError: a launch failed; what it was to fill is poisoned.
            RealtaError: nothing ran; it may be tried again.
        """
        if self.is_open:
            if self.on_sync == "error":
                raise RealizationError(
                    f"a tensor of {self.describe()} is realized inside it",
                    where=f"{caller_location()}, region opened at {self.opened_at}",
                    fix='use the value behind the region, or open it with on_sync="split"',
                )
            self.splits.append(str(caller_location()))
        with self.lock:
            self._realize(self.live(), handles)

    def _realize_all(self) -> None:
        self._realize(self.live(), ())

    def _realize_traced(self, trace: Trace) -> None:
        """Does what `_realize` does, by the program of an earlier region with the same trace."""
        live = self._alive()
        values = [t._value for t in live]
        places = [v.place if v.place >= 0 else trace.place(v) for v in values]
        if not live or trace.broken or self.region is not self._own_region:
            self._realize_all()
            return
        policy = (self.region.fuse, self.region.numerics) if self.region is not None else None
        key = (tuple(trace.items), tuple(places), policy)
        recipe = known_recipe(key)
        if recipe is None:
            self._realize_all()
            if self.last_run is not None:
                learn_recipe(key, trace, values, *self.last_run)
            return
        result = recipe.result(trace.inputs)
        if result is not None:
            (handle,) = live
            handle._held, handle._value, handle._context = result, None, None
        else:
            storages = realize_again(self, recipe, trace, values)
            for handle, number in zip(live, recipe.results, strict=True):
                handle._held, handle._value, handle._context = storages[number], None, None
        self.trace = None
        self._recorded = 0
        # Not before: should it fail, it may be tried again, and this is where its tensors are.
        self.young.clear()
        self.pending.clear()

    def _alive(self) -> list[Any]:
        """Its unrealized tensors that are alive; sooner found where none was registered yet."""
        if self.pending:
            return self.live()
        return [
            t
            for t in self.young
            if getrefcount(t) > YOUNG_ALONE and t._context is self and not t._settle()
        ]

    def _realize(self, live: Sequence[Any], handles: Sequence[Any]) -> None:
        self.trace = None
        missing = [t for t in handles if t._context is self and not t._settle()]
        found = dict.fromkeys([t._value for t in (*live, *missing)])
        self._recorded = 0
        if found:
            demand, program = realize(self, list(found), poison=True, donor=self._donor)
            self.last_run = (demand.graph, program)
        self._compact()
        for handle in handles:
            handle._settle()
