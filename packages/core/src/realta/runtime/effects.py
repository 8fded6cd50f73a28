"""Effects: core's executor of `print` and `assert_`, on the host and in the order of a program."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from realta.errors import AssertionFailed
from realta.graph import Graph
from realta.runtime.device import resolve_device
from realta.runtime.failure import op_place
from realta.runtime.showing import show
from realta.runtime.steps import HostStep

if TYPE_CHECKING:
    from realta.runtime.places import Places
    from realta.runtime.storage import Storage

__all__ = ["EFFECT_STEPS", "AssertStep", "PrintStep"]


class _EffectStep(HostStep):
    __slots__ = ()

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        value = inputs[0]
        self.act(value, source, places)
        token = self.node.types[0]
        device = resolve_device(token.device) if token.device else value.device
        return [device.empty(token.with_device(device.name))]

    def act(self, value: Storage, source: Graph, places: Places | None) -> None:
        """The effect."""
        raise NotImplementedError


class PrintStep(_EffectStep):
    """Prints a value on standard output."""

    __slots__ = ()

    def act(self, value: Storage, source: Graph, places: Places | None) -> None:
        name = self.node.attrs["name"]
        text = show(value)
        sys.stdout.write(f"{name}: {text}\n" if name else f"{text}\n")
        sys.stdout.flush()


class AssertStep(_EffectStep):
    """Fails unless every element is true."""

    __slots__ = ()

    def act(self, value: Storage, source: Graph, places: Places | None) -> None:
        array = value.numpy()
        if array.all():
            return
        place = op_place(source, self.ordinal, places)
        first = tuple([int(n) for n in np.argwhere(~array)[0]])
        message = self.node.attrs["message"]
        raise AssertionFailed(
            message or "an assertion does not hold",
            where=f"{place}, element {list(first)}" if first else place,
            fix="what was recorded after it did not become real; mend the values and run again",
        )


EFFECT_STEPS: Final[dict[str, type[HostStep]]] = {"print": PrintStep, "assert_": AssertStep}
"""By op name."""
