"""Program: a compiled graph that can be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from realta.errors import OutOfMemory
from realta.graph import Graph, Node
from realta.passes.specialize import specialize
from realta.runtime.bounds import read_status
from realta.runtime.contract import Handle, KernelReport
from realta.runtime.failure import fault, no_memory, op_place, step_place
from realta.runtime.hooks import ExecuteEvent, execute_wrappers, wrapped
from realta.runtime.inputs import input_bytes, prepared, unread_launches
from realta.runtime.launch import Launch, Status
from realta.runtime.places import Places
from realta.runtime.quick import Quick, direct_call, quick_call
from realta.runtime.steps import HostStep, LaunchStep, MoveStep, Plan
from realta.runtime.storage import Storage
from realta.runtime.units import SMALL_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Program"]

_NONE: Final[frozenset[int]] = frozenset()


class Program:
    """A compiled graph. Runs from any thread.

    Failure before a launch leaves everything as it was; once a launch began, a failure is an
    `ExecutionError`. A program knows its ops by number only: whoever runs it passes the places of
    the calling graph's ops, since graphs of one structure share a program.

    Args:
        plan: what it consists of.

    Attributes:
        device: the graph's device.
        fallbacks: ops that another device does.
        launches: kernels that one run launches, work declared to run on the host not counted, nor
            what control flow may run.
        direct: ``direct(*handles) -> handle`` where that makes the one small result, else None.
        bare: the same for handles that the session itself made, where it has a shorter way for
            them; raises RuntimeError while another thread is in it.
    """

    __slots__ = (
        "__weakref__", "_kernels", "_only", "_quick", "_replaced", "_source", "_types", "bare",
        "device", "direct", "fallbacks", "launches", "output_types", "plan",
    )  # fmt: skip

    def __init__(self, plan: Plan) -> None:
        self.plan: Plan = plan
        self.device = plan.device
        self._source: Graph | None = None
        self._kernels: tuple[KernelReport, ...] | None = None
        self.fallbacks = plan.fallbacks
        self.output_types = plan.output_types
        launches = [step for step in plan.steps if isinstance(step, LaunchStep)]
        self.launches: int = sum(step.counted for step in launches)
        self._types = tuple([port.type for port in plan.inputs])
        self._replaced = plan.replaced()
        self._only = plan.only_launch()
        direct = direct_call(self._only)
        self.direct: Callable[..., Handle] | None = direct if len(plan.outputs) == 1 else None
        self.bare: Callable[..., Handle] | None = None
        if self._only is not None and self.direct is not None:
            self.bare = getattr(self._only.executable, "bare", None)
        self._quick: Quick | None = None
        if self._only is not None and direct is not None:
            self._quick = quick_call(self._only, plan.inputs, direct)

    def run(
        self,
        inputs: Sequence[Storage | NDArray[Any]],
        *,
        donated: frozenset[int] = _NONE,
        places: Places | None = None,
    ) -> list[Storage]:
        """Runs it.

        Args:
            inputs: one storage per input, or a NumPy array of its dtype and shape.
            donated: numbers of inputs whose buffers may be used up; these storages raise then.
            places: where the ops of the calling graph stand, for errors.

        Returns:
            One storage per output; on a device that returns early possibly still in flight.

        Raises:
            ExecutionError: a launch began and failed, or an input is poisoned by such a failure.
            IndexBoundsError: an input is poisoned by an index outside its axis.
            OutOfMemory, ArgumentError, DeviceError: nothing is changed; it may be tried again.
        """
        if not execute_wrappers:
            if self._quick is not None and not donated:
                found = self._run_quick(inputs, places)
                if found is not None:
                    return found
            return self._run(inputs, donated, places)
        event = ExecuteEvent(
            self.device.name, self.source.name, self.kernels,
            sum([input_bytes(x) for x in inputs]), sum([t.nbytes for t in self.output_types]),
        )  # fmt: skip
        call = partial(self._run, inputs, donated, places)
        return wrapped(execute_wrappers, event, call)  # type: ignore[no-any-return]

    @property
    def source(self) -> Graph:
        """The graph as it was given, without anything bound to it but extents."""
        if self._source is None:
            plan = self.plan
            self._source = specialize(plan.source, plan.dims) if plan.dims else plan.source
        return self._source

    @property
    def kernels(self) -> tuple[KernelReport, ...]:
        """Every kernel of a run."""
        if self._kernels is None:
            self._kernels = tuple([kernel for _, kernel, _ in self.members()])
        return self._kernels

    @property
    def fails_late(self) -> bool:
        """Whether what goes wrong in a run may show only when a result is waited for."""
        steps = self.plan.steps
        late = any(step.device.is_async for step in steps if isinstance(step, LaunchStep))
        inner = [p for step in steps if isinstance(step, HostStep) for p in step.programs]
        return late or bool(self.plan.checks) or any(program.fails_late for program in inner)

    def members(self) -> list[tuple[str, KernelReport, tuple[int, ...]]]:
        """For each kernel: its device, its report, and its ops' numbers in the calling graph.

        Kernels inside of control flow have the number of the op that may run them.
        """
        found: list[tuple[str, KernelReport, tuple[int, ...]]] = []
        for step in self.plan.steps:
            if isinstance(step, HostStep):
                inner = [member for program in step.programs for member in program.members()]
                outer = (step.ordinal,) if step.ordinal >= 0 else ()
                found += [(device, kernel, outer) for device, kernel, _ in inner]
            if isinstance(step, LaunchStep):
                for kernel in step.executable.kernels:
                    ordinals = sorted({step.ordinals[n] for n in kernel.nodes} - {-1})
                    found.append((step.device.name, kernel, tuple(ordinals)))
        return found

    # -- one launch -------------------------------------------------------------------------------

    def _run(
        self, inputs: Sequence[Any], donated: frozenset[int], places: Places | None
    ) -> list[Storage]:
        step = self._only
        if step is None:
            return self._run_steps(
                prepared(inputs, self.plan.inputs, self.plan.source), donated, places
            )
        handles = self._ready_handles(inputs)
        if handles is None or donated:
            inputs = prepared(inputs, self.plan.inputs, self.plan.source)
            if any(storage.launch is not None for storage in inputs) and unread_launches(inputs):
                return self._run_steps(inputs, donated, places)
            handles = [storage.handle for storage in inputs]
        device = step.device
        if device.lost is not None:
            raise device.lost
        if self._quick is not None and not donated:
            found = self._run_quick(inputs, places)
            if found is not None:
                return found
        return self._run_pooled(step, handles, inputs, donated, places)

    def _ready_handles(self, inputs: Sequence[Any]) -> list[Handle] | None:
        """The handles of inputs that are all as they have to be, else None."""
        types = self._types
        if len(inputs) != len(types):
            return None
        handles = []
        for storage, type in zip(inputs, types, strict=True):
            ready = storage.__class__ is Storage and storage.launch is None
            if not ready or storage.type is not type:
                return None
            handles.append(storage.handle)
        return handles

    def _run_quick(self, inputs: Sequence[Any], places: Places | None) -> list[Storage] | None:
        try:
            return self._quick(inputs)  # type: ignore[misc]
        except MemoryError as error:
            what = f"results of {self.source.name}"
            raise self.device.pool.out_of_memory(SMALL_BYTES, what) from error
        except Exception as error:
            self._fail(self._only, places, error)  # type: ignore[arg-type]

    def _run_pooled(
        self,
        step: LaunchStep,
        handles: list[Handle],
        inputs: Sequence[Any],
        donated: frozenset[int],
        places: Places | None,
    ) -> list[Storage]:
        taken = self._taken(donated, inputs) if donated else {}
        outputs = self._allocate(step, taken, places)
        # From here on donated inputs are gone, whatever happens.
        for output, number in taken.items():
            outputs[output] = inputs[number].donate()
        keep_alive = [inputs[number].block for number in donated]
        for number in donated:
            if inputs[number].handle is not None:
                inputs[number].retire()
        overwritten = frozenset(taken.values()) if taken else _NONE
        self._launch(step, handles, [output.handle for output in outputs], overwritten, places)
        del keep_alive
        if step.device.is_async:
            self._mark_in_flight(step, outputs, places)
        return outputs

    def _taken(self, donated: frozenset[int], inputs: Sequence[Storage]) -> dict[int, int]:
        """Output number to the input whose buffer it takes."""
        found: dict[int, int] = {}
        if not self.device.donates:
            return found
        for number in sorted(donated):
            output = self.plan.donors.get(number)
            # A buffer passed twice is still read under its other number; a small one has no block.
            shared = sum([inputs[number] is other for other in inputs]) > 1
            usable = output is not None and not shared and inputs[number].block is not None
            if usable and output is not None:
                found.setdefault(output, number)
        return found

    def _allocate(
        self, step: LaunchStep, taken: dict[int, int], places: Places | None
    ) -> list[Storage]:
        device = step.device
        acquire = device.pool.acquire
        outputs: list[Any] = []
        for number, output in enumerate(step.outputs):
            if number in taken:
                outputs.append(None)
                continue
            try:
                block = acquire(output.nbytes, output.type)
            except OutOfMemory as error:
                error.where += f", for {step_place(self.source, step, places)}"
                raise
            outputs.append(Storage(device, block.handle, output.type, block))
        return outputs

    def _launch(
        self,
        step: LaunchStep,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        overwritten: frozenset[int],
        places: Places | None,
    ) -> None:
        try:
            try:
                step.launch(inputs, outputs, overwritten)
            except MemoryError:
                if overwritten:
                    raise
                # Its temporaries did not fit; what the pool keeps for later may make room.
                step.device.pool.trim()
                step.launch(inputs, outputs, overwritten)
        except MemoryError as error:
            raise no_memory(self.source, step, places) from error
        except Exception as error:
            self._fail(step, places, error)

    def _mark_in_flight(
        self, step: LaunchStep, outputs: Sequence[Storage], places: Places | None
    ) -> None:
        kept = None if places is None else places.keep()
        launch = Launch((), (), partial(fault, self.source, step, kept))
        for output in outputs:
            output.launch = launch

    def _fail(self, step: LaunchStep, places: Places | None, error: Exception) -> NoReturn:
        found = fault(self.source, step, places, error)
        if found is error:
            raise error
        raise found from error

    # -- several steps ----------------------------------------------------------------------------

    def _run_steps(
        self, inputs: Sequence[Storage], donated: frozenset[int], places: Places | None
    ) -> list[Storage]:
        plan = self.plan
        slots: list[Any] = [*inputs, *[None] * (plan.slots - len(inputs))]
        for slot, storage in plan.literals:
            slots[slot] = storage
        unread = unread_launches(inputs)
        for fallback in plan.fallbacks:
            fallback.device.fallbacks[fallback.op] += 1
        taken = self._taken_by_steps(donated, inputs) if donated else {}
        for position, step in enumerate(plan.steps):
            if isinstance(step, LaunchStep):
                self._run_step(step, slots, places, taken.get(position, {}))
            elif isinstance(step, MoveStep):
                slots[step.target] = step.to.copy(slots[step.source])
            else:
                self._run_by_core(step, slots, unread, places, taken.get(position, {}))
            for slot in step.drops:
                slots[slot] = None
        outputs = [slots[slot] for slot in plan.outputs]
        fresh = [x for x in dict.fromkeys(outputs) if not any(x is given for given in inputs)]
        self._conclude(slots, fresh, unread, places)
        for number in donated:
            if not any(output is inputs[number] for output in outputs):
                inputs[number].retire()
        return outputs

    def _taken_by_steps(
        self, donated: frozenset[int], inputs: Sequence[Storage]
    ) -> dict[int, dict[int, int]]:
        """By step: output number to the input whose buffer it takes."""
        found: dict[int, dict[int, int]] = {}
        for number, (position, output) in self._replaced.items():
            shared = sum([inputs[number] is other for other in inputs]) > 1
            if number in donated and not shared and inputs[number].block is not None:
                found.setdefault(position, {})[output] = number
        return found

    def _run_step(
        self, step: LaunchStep, slots: list[Any], places: Places | None, taken: dict[int, int]
    ) -> None:
        if step.device.lost is not None:
            raise step.device.lost
        outputs = self._allocate(step, taken, places)
        handles = [slots[slot].handle for slot in step.reads]
        for place, number in taken.items():
            outputs[place] = slots[number].donate()
        overwritten = frozenset([step.reads.index(number) for number in taken.values()])
        self._launch(step, handles, [output.handle for output in outputs], overwritten, places)
        if step.device.is_async:
            self._mark_in_flight(step, outputs, places)
        for target, output in zip(step.outputs, outputs, strict=True):
            slots[target.slot] = output

    def _run_by_core(
        self,
        step: HostStep,
        slots: list[Any],
        unread: list[Launch],
        places: Places | None,
        taken: dict[int, int],
    ) -> None:
        given = [slots[slot] for slot in step.reads]
        donated = frozenset([step.reads.index(number) for number in taken.values()])
        found = step.run(given, self.source, places, donated)
        for launch in [storage.launch for storage in found]:
            # What went wrong inside of control flow goes wrong for all that is made of it.
            if launch is not None and (launch.error or not launch.known) and launch not in unread:
                unread.append(launch)
        for target, storage in zip(step.targets, found, strict=True):
            slots[target] = storage

    def _conclude(
        self,
        slots: list[Any],
        outputs: Sequence[Storage],
        unread: list[Launch],
        places: Places | None,
    ) -> None:
        """Reads bounds statuses now if that waits for nothing, else at the next wait."""
        checks = self.plan.checks
        if not checks and not unread:
            return
        statuses: list[Status] = []
        early = not unread
        for check in checks:
            status = slots[check.slot]
            early = early and status.launch is None
            node = partial(self._node, check.ordinal)
            place = partial(self._op_place, check.ordinal, places)
            statuses.append(partial(read_status, status, node, place))
        launch = Launch(statuses, unread)
        if early and launch.settle() is None:
            return
        if places is not None:
            places.keep()
        literals = {id(storage) for _, storage in self.plan.literals}
        for output in outputs:
            if id(output) in literals:
                continue
            if output.launch is not None:
                launch.locate = output.launch.locate
            output.launch = launch

    def _node(self, ordinal: int) -> Node:
        return self.source.nodes[ordinal]

    def _op_place(self, ordinal: int, places: Places | None) -> str:
        return op_place(self.source, ordinal, places)
