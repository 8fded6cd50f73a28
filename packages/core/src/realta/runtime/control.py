"""Control flow: core's executor of ops that run graphs; only these run on devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from realta.graph import Graph, Node
from realta.runtime.program import Program
from realta.runtime.steps import HostStep
from realta.runtime.storage import Storage, uniquely_held

if TYPE_CHECKING:
    from realta.runtime.places import Places

__all__ = ["CONTROL_STEPS", "CallStep", "CondStep", "ControlStep", "LoopStep"]


class ControlStep(HostStep):
    """An op that runs graphs.

    Args:
        node: the op.
        reads: slots of its operands.
        targets: slots of its results.
        ordinal: its number in the calling graph.
        programs: the programs of its graphs, in the order of its attributes.
    """

    __slots__ = ("programs",)

    def __init__(
        self,
        node: Node,
        reads: Sequence[int],
        targets: Sequence[int],
        ordinal: int,
        programs: tuple[Program, ...],
    ) -> None:
        super().__init__(node, reads, targets, ordinal)
        self.programs = programs

    def inside(self, places: Places | None) -> list[Places | None]:
        """Where the ops of its graphs stand."""
        if places is None:
            return [None] * len(self.programs)
        return [places.inside(self.ordinal, name) for name in self.node.op.graphs]


class CondStep(ControlStep):
    """Reads the predicate and runs one of two programs."""

    __slots__ = ()

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        number = 0 if bool(inputs[0].numpy()) else 1
        return self.programs[number].run(inputs[1:], places=self.inside(places)[number])


class LoopStep(ControlStep):
    """Runs the predicate and the body in turns.

    What a step of the body stores into, and nobody else holds, is donated to it: a cache that grows
    is written in place.
    """

    __slots__ = ()

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        count = self.node.attrs["carried"]
        carried, captures = inputs[:count], inputs[count:]
        predicate, body = self.programs
        at_predicate, at_body = self.inside(places)
        stored = [n for n in body.plan.donors if n < count]
        while bool(predicate.run([*carried, *captures], places=at_predicate)[0].numpy()):
            donated = frozenset([n for n in stored if uniquely_held(carried[n], 1)])
            carried = body.run([*carried, *captures], donated=donated, places=at_body)
        return carried


class CallStep(ControlStep):
    """Runs a program that other calls run as well."""

    __slots__ = ()

    donates = True

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        return self.programs[0].run(inputs, donated=donated, places=self.inside(places)[0])


CONTROL_STEPS: Final[dict[str, type[ControlStep]]] = {
    "call": CallStep, "cond": CondStep, "while_loop": LoopStep,
}  # fmt: skip
"""By op name."""
