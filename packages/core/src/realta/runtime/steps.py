"""Steps: what a program does, in order: launches on devices, moves, and what core does itself."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from realta.graph import Graph, Node
from realta.runtime.contract import EMPTY, Executable, Handle
from realta.types import TensorType

if TYPE_CHECKING:
    from realta.runtime.device import OpenDevice
    from realta.runtime.places import Places
    from realta.runtime.program import Program
    from realta.runtime.storage import Storage

__all__ = [
    "Check", "Fallback", "HostStep", "LaunchStep", "MoveStep", "Plan", "Port", "SlotOutput",
    "Step",
]  # fmt: skip


class SlotOutput(NamedTuple):
    """An output of a launch: the slot it fills, its type, and the bytes of its buffer."""

    slot: int
    type: TensorType
    nbytes: int


class Port(NamedTuple):
    """An input of a program: where it has to be and what it has to be."""

    device: OpenDevice
    type: TensorType


class Check(NamedTuple):
    """A bounds status: the slot that holds it, and the check's number in the calling graph."""

    slot: int
    ordinal: int


class Fallback(NamedTuple):
    """An op that another device does.

    Args:
        op: its name.
        device: the device that lacks it.
        reason: why.
        ordinal: its number in the calling graph, −1 if it has none there.
    """

    op: str
    device: OpenDevice
    reason: str
    ordinal: int


class LaunchStep:
    """One executable on one device, with the slots it reads and fills.

    Args:
        device: where it runs.
        executable: what runs.
        reads: slots of its inputs.
        outputs: what it fills.
        ordinals: for each node of the executable's graph its number in the calling graph, or −1.
        name: for messages.
    """

    __slots__ = (
        "counted", "device", "drops", "executable", "guard", "name", "ordinals", "outputs", "reads",
    )  # fmt: skip

    def __init__(
        self,
        device: OpenDevice,
        executable: Executable,
        reads: Sequence[int],
        outputs: Sequence[SlotOutput],
        ordinals: Sequence[int],
        name: str,
    ) -> None:
        self.device = device
        self.executable = executable
        self.reads = tuple(reads)
        self.outputs = tuple(outputs)
        self.ordinals = tuple(ordinals)
        self.name = name
        counted = getattr(executable, "counted", None)
        if counted is None:
            counted = sum(not kernel.host for kernel in executable.kernels)
        self.counted: int = counted
        self.drops: tuple[int, ...] = ()
        """Slots that nobody needs after this step."""
        self.guard = None if executable.reentrant else threading.Lock()

    @property
    def touched(self) -> set[int]:
        """The slots it reads or fills."""
        return {*self.reads, *self.fills}

    @property
    def fills(self) -> tuple[int, ...]:
        """The slots it fills."""
        return tuple([output.slot for output in self.outputs])

    @property
    def donates(self) -> bool:
        """Whether it can write a result over what it reads."""
        return self.device.donates

    def launch(
        self, inputs: Sequence[Handle], outputs: Sequence[Handle], donated: frozenset[int]
    ) -> None:
        """Runs it on handles."""
        guard = self.guard
        if guard is None:
            self.executable.run(inputs, outputs, donated=donated)
        else:
            with guard:
                self.executable.run(inputs, outputs, donated=donated)
        self.device.launched += self.counted


class MoveStep:
    """A copy from the device of one slot to another device."""

    __slots__ = ("drops", "source", "target", "to")

    def __init__(self, source: int, target: int, to: OpenDevice) -> None:
        self.source = source
        self.target = target
        self.to = to
        self.drops: tuple[int, ...] = ()

    reads: tuple[int, ...] = ()
    fills: tuple[int, ...] = ()
    donates: bool = False

    @property
    def touched(self) -> set[int]:
        """The slots it reads or fills."""
        return {self.source, self.target}


class HostStep:
    """What core does itself, on the host: control flow, effects, functions of the user.

    Args:
        node: the op.
        reads: slots of its operands.
        targets: slots of its results.
        ordinal: its number in the calling graph, −1 if it has none there.
    """

    __slots__ = ("drops", "node", "ordinal", "reads", "targets")

    programs: tuple[Program, ...] = ()
    """What it may run on devices."""
    donates: bool = False
    """Whether it can write a result over what it reads."""

    def __init__(
        self, node: Node, reads: Sequence[int], targets: Sequence[int], ordinal: int
    ) -> None:
        self.node = node
        self.reads = tuple(reads)
        self.targets = tuple(targets)
        self.ordinal = ordinal
        self.drops: tuple[int, ...] = ()

    @property
    def touched(self) -> set[int]:
        """The slots it reads or fills."""
        return {*self.reads, *self.targets}

    @property
    def fills(self) -> tuple[int, ...]:
        """The slots it fills."""
        return self.targets

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        """Does it.

        Args:
            inputs: the operands.
            source: the calling graph's structure.
            places: where the calling graph's ops stand, for errors.
            donated: numbers of operands whose buffers may be used up, if it donates.

        Returns:
            The results.
        """
        raise NotImplementedError


Step = LaunchStep | MoveStep | HostStep


class Plan(NamedTuple):
    """All that a program consists of.

    Args:
        device: the graph's device.
        source: the graph as it was given, without anything bound to it.
        steps: what to do, in order.
        slots: number of slots; the first ones are the inputs.
        inputs: where each input has to be.
        outputs: slot of each output.
        output_types: type of each output.
        literals: slots that are filled once and for all.
        checks: bounds statuses.
        fallbacks: ops that another device does.
        donors: inputs whose buffers the only launch may write over: input number to output number.
        dims: what the names of symbolic extents in ``source`` are bound to.
    """

    device: OpenDevice
    source: Graph
    steps: tuple[Step, ...]
    slots: int
    inputs: tuple[Port, ...]
    outputs: tuple[int, ...]
    output_types: tuple[TensorType, ...]
    literals: tuple[tuple[int, Storage], ...]
    checks: tuple[Check, ...]
    fallbacks: tuple[Fallback, ...]
    donors: Mapping[int, int]
    dims: Mapping[str, int] = EMPTY

    def only_launch(self) -> LaunchStep | None:
        """The launch of a plan that is nothing else, from the inputs to the outputs in order."""
        if len(self.steps) != 1 or self.literals or self.checks or self.fallbacks:
            return None
        step = self.steps[0]
        if not isinstance(step, LaunchStep) or step.reads != tuple(range(len(self.inputs))):
            return None
        filled = tuple([output.slot for output in step.outputs])
        return step if filled == self.outputs else None

    def replaced(self) -> dict[int, tuple[int, int]]:
        """Inputs that an output can be written over: to the number of a step and its output.

        The step that makes the output reads the input, and nothing reads it later.
        """
        found: dict[int, tuple[int, int]] = {}
        for number, output in self.donors.items():
            slot = self.outputs[output]
            readers = [n for n, step in enumerate(self.steps) if number in step.touched]
            if not readers or number in self.outputs:
                continue
            last = self.steps[readers[-1]]
            if number in last.reads and last.donates:
                made = [n for n, target in enumerate(last.fills) if target == slot]
                if made:
                    found[number] = (readers[-1], made[0])
        return found
