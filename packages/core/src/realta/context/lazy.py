"""LazyRealizationContext and `lazy()`: nothing runs until a value is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from realta.context.base import DEFAULT_NODE_BUDGET, RecordingContext
from realta.context.location import caller_location
from realta.context.running import realize

__all__ = ["LazyRealizationContext"]


class LazyRealizationContext(RecordingContext):
    """Records its ops; realizing a tensor runs what that tensor needs and nothing else.

    It may be entered again and goes on collecting. Realizing inside the open block works.

    Args:
        name: shown in errors and in `explain`.
        fuse: fusion policy of its ops.
        numerics: ``"exact"`` or ``"fast"``.
        node_budget: pending nodes (creation and random ones do not count) beyond which newly recorded
            tensors are realized at once, with one warning.
    """

    kind: ClassVar[str] = "lazy"

    def __init__(
        self,
        name: str = "",
        *,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        node_budget: int | None = DEFAULT_NODE_BUDGET,
    ) -> None:
        super().__init__(
            name, fuse=fuse, numerics=numerics, on_sync="split", node_budget=node_budget
        )

    def demand(self, handles: Sequence[Any]) -> None:
        """Makes these tensors real; concurrent demands do the work once."""
        with self.lock:
            wanted = dict.fromkeys(
                [t._value for t in handles if t._context is self and not t._settle()]
            )
            if wanted:
                realize(self, list(wanted), poison=False)
            for handle in handles:
                handle._settle()

    def _over_budget(self, handle: Any) -> None:
        self._recorded = 0
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.describe()} holds more than {self.node_budget} pending ops and realizes what is "
                f"recorded now, at {caller_location()}; realize results in the loop, or raise node_budget",
                RuntimeWarning,
                stacklevel=2,
            )
        self.demand((handle,))
