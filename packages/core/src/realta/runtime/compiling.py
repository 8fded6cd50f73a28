"""Compiling: from a graph as it was recorded to a program that can be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from realta import passes
from realta.errors import CompilationError, RealtaError
from realta.graph import Graph, Node, Value, graph_key, node_of
from realta.runtime.contract import Executable, Options
from realta.runtime.control import CONTROL_STEPS
from realta.runtime.custom import CustomStep
from realta.runtime.cut import Cut, HostWork, Move, Place, Segment, cut
from realta.runtime.device import OpenDevice, resolve_device
from realta.runtime.dumping import Dump, open_dump
from realta.runtime.effects import EFFECT_STEPS
from realta.runtime.evaluate import evaluate_on
from realta.runtime.fallback import fallback_policy
from realta.runtime.hooks import CompileEvent, compile_wrappers, extra_passes, wrapped
from realta.runtime.placement import REFERENCE, Origin, Placement, ordinal_of
from realta.runtime.places import Places
from realta.runtime.planning import plan_for
from realta.runtime.program import Program
from realta.runtime.steps import (
    Check,
    HostStep,
    LaunchStep,
    MoveStep,
    Plan,
    Port,
    SlotOutput,
    Step,
)
from realta.runtime.storage import Storage

__all__ = [
    "DEFAULT_OPTIONS", "Assembly", "assemble", "by_core", "compile_program", "graph_device",
    "normal_form", "program_for", "run_graph", "run_program",
]  # fmt: skip

DEFAULT_OPTIONS: Final = Options()
_NONE: Final[frozenset[int]] = frozenset()
_STORES: Final = frozenset({"update_slice", "dynamic_update_slice", "scatter"})


def graph_device(graph: Graph) -> OpenDevice:
    """The device of its first output, node or input that names one, else ``cpu``."""
    for values in (graph.outputs, graph.nodes, graph.inputs):
        for value in values:
            if value.type.device:
                return resolve_device(value.type.device)
    return resolve_device("cpu")


def program_for(
    graph: Graph, options: Options = DEFAULT_OPTIONS, device: OpenDevice | None = None
) -> Program:
    """The program of a graph, from the device's cache or compiled now.

    Args:
        graph: as recorded; its structure is the key, its locations and what is bound to it are not.
        options: how to compile.
        device: the graph's device; found from the graph if left out.

    Raises:
        UnsupportedOp, CompilationError, FusionError: see `compile_program`.
    """
    home = graph_device(graph) if device is None else device
    key = (graph_key(graph), options.numerics, fallback_policy())
    found = home.programs.find(key)
    if found is not None:
        return found
    return home.programs.get_or_make(key, partial(compile_program, graph, home, options))


def run_graph(
    graph: Graph, options: Options = DEFAULT_OPTIONS, *, donated: frozenset[int] = _NONE
) -> list[Storage]:
    """Runs a graph whose inputs carry storages or arrays as their payload; one storage per output.

    Raises:
        RealtaError: see `program_for` and `Program.run`.
    """
    return run_program(program_for(graph, options), graph, donated=donated)


def run_program(
    program: Program, graph: Graph, *, donated: frozenset[int] = _NONE
) -> list[Storage]:
    """Runs a program on what the calling graph's inputs carry; errors name that graph's lines."""
    inputs = [value.payload for value in graph.inputs]
    return program.run(inputs, donated=donated, places=Places(graph.nodes))


def compile_program(
    graph: Graph, device: OpenDevice, options: Options = DEFAULT_OPTIONS
) -> Program:
    """Compiles a graph: normal form, a segment for each device, an executable for each segment.

    Raises:
        UnsupportedOp: an op that no device here takes, or that the fallback policy forbids.
        CompilationError, FusionError: a backend could not build a segment.
        ShapeError: an extent is symbolic still.
        OutOfMemory: a constant does not fit.
    """
    if not compile_wrappers:
        return _compile(graph, device, options)
    event = CompileEvent(device.name, graph, options)
    call = partial(_compile, graph, device, options)
    return wrapped(compile_wrappers, event, call)  # type: ignore[no-any-return]


def normal_form(graph: Graph, device: OpenDevice, options: Options = DEFAULT_OPTIONS) -> Graph:
    """The graph as the device's session gets it, apart from cuts; for `explain` and the CLI."""
    return _normalized(graph, device, options, Placement(fallback_policy()))


def by_core(device: OpenDevice) -> Callable[[Node], bool]:
    """Which ops of a device's graphs core runs itself; for `explain`."""
    return partial(Placement(fallback_policy()).is_by_core, device)


def _normalized(
    graph: Graph,
    device: OpenDevice,
    options: Options,
    placement: Placement,
    dump: Dump | None = None,
) -> Graph:
    def keeps(node: Node) -> bool:
        home = resolve_device(node.type.device) if node.type.device else device
        return placement.keeps(home, node)

    watch = None if dump is None else dump.graph
    for step in extra_passes:
        graph = step.run(graph)
        if watch is not None:
            watch(step.name, graph)
    return passes.normalize(
        graph, keeps=keeps, evaluate=_evaluate, numerics=options.numerics, watch=watch
    )


def _evaluate(node: Node, arrays: tuple[Any, ...]) -> tuple[Any, ...] | None:
    try:
        return evaluate_on(resolve_device(REFERENCE), node, arrays)
    except RealtaError:
        # What cannot be folded is computed when the graph runs, which says why it fails.
        return None


def _compile(graph: Graph, device: OpenDevice, options: Options) -> Program:
    assembly, checks = assemble(graph, device, options)
    program = assembly.program(checks)
    for node in assembly.source.nodes:
        node.where = None
    return program


def assemble(graph: Graph, device: OpenDevice, options: Options) -> tuple[Assembly, list[int]]:
    """A graph in normal form and in parts, and the numbers of its bounds checks."""
    source = passes.detach(graph)
    checks = []
    for ordinal, node in enumerate(source.nodes):
        node.where = Origin.of(graph.nodes[ordinal], ordinal)
        if node.op.name == "check_bounds":
            checks.append((ordinal, node))
    # A status is an output like any other until it is read.
    outputs = (*source.outputs, *[node for _, node in checks])
    whole = Graph(source.name, source.inputs, outputs, source.nodes)
    placement = Placement(fallback_policy())
    dump = open_dump(options.dump, graph.name)
    if dump is not None:
        dump.graph("recorded", whole)
    normal = _normalized(whole, device, options, placement, dump)
    parts = cut(normal, device.name, placement)
    assembly = Assembly(source, normal, parts, device, options, placement, dump)
    return assembly, [ordinal for ordinal, _ in checks]


class Assembly:
    """Numbers the places of a cut as slots and compiles its segments."""

    def __init__(
        self,
        source: Graph,
        normal: Graph,
        parts: Cut,
        device: OpenDevice,
        options: Options,
        placement: Placement,
        dump: Dump | None = None,
    ) -> None:
        self.dump = dump
        self.source = source
        self.normal = normal
        self.parts = parts
        self.device = device
        self.options = options
        self.fallbacks = tuple(placement.fallbacks)
        self.slots: dict[Place, int] = {}
        self.inner: dict[int, Program] = {}
        for place in parts.inputs:
            self.slots.setdefault(place, len(self.slots))

    def slot(self, place: Place) -> int:
        return self.slots.setdefault(place, len(self.slots))

    def program(self, checks: Sequence[int]) -> Program:
        self.prepare()
        steps = [self._step(step) for step in self.parts.steps]
        plan = self.plan(tuple(steps), checks)
        for step, drops in zip(steps, self.drops([step.touched for step in steps]), strict=True):
            step.drops = drops
        return Program(plan)

    def prepare(self) -> None:
        """Sees to it that inputs come once and in order."""
        self._refuse_repeated_inputs()
        self._keep_input_order()

    def plan(self, steps: tuple[Step, ...], checks: Sequence[int]) -> Plan:
        """What the program consists of, given its steps."""
        literals = tuple(
            [
                (self.slot(place), self._literal(place, node))
                for place, node in self.parts.literals.items()
            ]
        )
        places = self.parts.outputs
        outputs = [self.slot(place) for place in places]
        wanted = len(self.source.outputs)
        return Plan(
            device=self.device,
            source=self.source,
            steps=steps,
            slots=len(self.slots),
            inputs=tuple(
                [Port(resolve_device(d), v.type.with_device(d)) for v, d in self.parts.inputs]
            ),
            outputs=tuple(outputs[:wanted]),
            output_types=tuple([v.type.with_device(d) for v, d in places[:wanted]]),
            literals=literals,
            checks=tuple(
                [Check(slot, n) for slot, n in zip(outputs[wanted:], checks, strict=True)]
            ),
            fallbacks=self.fallbacks,
            donors=self._donors(),
        )

    def _refuse_repeated_inputs(self) -> None:
        if len(self.slots) != len(self.parts.inputs):
            raise CompilationError(
                f"the graph {self.source.name!r} lists one value as an input twice",
                fix="give each input once",
            )

    def _keep_input_order(self) -> None:
        """A graph that is one segment takes all inputs in their own order."""
        steps = self.parts.steps
        if len(steps) != 1 or not isinstance(steps[0], Segment):
            return
        whole = dict(zip(self.normal.inputs, self.parts.inputs, strict=True))
        if set(steps[0].reads.items()) <= set(whole.items()):
            steps[0].reads = whole

    def _literal(self, place: Place, node: Node) -> Storage:
        value, device = place
        return resolve_device(device).upload(node.attrs["value"].array, value.type)

    def _step(self, part: Segment | Move | HostWork) -> Step:
        if isinstance(part, Move):
            to = resolve_device(part.target[1])
            return MoveStep(self.slot(part.source), self.slot(part.target), to)
        if isinstance(part, HostWork):
            return self._host_step(part)
        device = resolve_device(part.device)
        graph = part.graph(self.source.name)
        reads = [self.slot(place) for place in part.reads.values()]
        outputs = []
        for value in part.results:
            type = value.type.with_device(part.device)
            nbytes = device.session.buffer_bytes(type)
            outputs.append(SlotOutput(self.slot((value, part.device)), type, nbytes))
        ordinals = [ordinal_of(node) for node in part.nodes]
        executable = _build(device, graph, _dumped(self.options, self.dump))
        if self.dump is not None:
            self.dump.kernels(device.name, graph.nodes, executable.kernels)
        return LaunchStep(device, executable, reads, outputs, ordinals, self.source.name)

    def _host_step(self, part: HostWork) -> HostStep:
        node = part.node
        reads = [self.slot(place) for place in part.reads]
        targets = [self.slot(place) for place in part.results]
        ordinal = ordinal_of(node)
        control = CONTROL_STEPS.get(node.op.name)
        if control is None:
            kind = EFFECT_STEPS.get(node.op.name, CustomStep)
            return kind(node, reads, targets, ordinal)
        programs = tuple([self._inner(node.attrs[name]) for name in node.op.graphs])
        return control(node, reads, targets, ordinal, programs)

    def _inner(self, graph: Graph) -> Program:
        """The program of a graph that is an attribute; many ops may share it."""
        found = self.inner.get(id(graph))
        if found is None:
            found = self.inner[id(graph)] = program_for(graph, self.options, self.device)
        return found

    def drops(self, touched: Sequence[set[int]]) -> list[tuple[int, ...]]:
        """Intermediate results that go after each step, the last one that reads them.

        Args:
            touched: the slots that each step reads or fills.
        """
        seen = {self.slots[place] for place in (*self.parts.outputs, *self.parts.literals)}
        seen |= set(range(len(self.parts.inputs)))
        found = []
        for slots in reversed(touched):
            found.append(tuple(sorted(slots - seen)))
            seen |= slots
        return found[::-1]

    def _donors(self) -> dict[int, int]:
        """Inputs that an output replaces store by store: input number to output number."""
        numbers = {value: n for n, value in enumerate(self.normal.inputs)}
        found: dict[int, int] = {}
        for output, value in enumerate(self.normal.outputs[: len(self.source.outputs)]):
            stored = _stored_into(value)
            number = numbers.get(stored)
            if number is not None and stored is not value and stored.type is value.type:
                found.setdefault(number, output)
        return found


def _stored_into(value: Value) -> Value:
    """What a chain of stores started from."""
    node = node_of(value)
    while node is not None:
        if node.op.name in _STORES:
            value = node.operands[0]
        elif node.op.name == "call":
            # What the shared graph stores into is one of its inputs, and so an operand.
            body = node.attrs["body"]
            inner = _stored_into(body.outputs[node.outputs.index(value)])
            if inner not in body.inputs:
                break
            value = node.operands[body.inputs.index(inner)]
        else:
            break
        node = node_of(value)
    return value


def _dumped(options: Options, dump: Dump | None) -> Options:
    """The options with which a session compiles: its files join those of the graph."""
    return options if dump is None else replace(options, dump=dump.folder)


def _build(device: OpenDevice, graph: Graph, options: Options) -> Executable:
    for value in (*graph.inputs, *graph.outputs):
        _ = value.type.static_shape
    if not hasattr(device.session, "fusion_rules") and _must_fuse(graph):
        plan_for(graph, device)  # raises: this session runs op by op, so nothing shares a kernel
    try:
        return device.session.compile(graph, options)
    except (RealtaError, MemoryError):
        raise
    except Exception as error:
        raise CompilationError(
            f"{device.name} failed to compile {graph.name!r}: {type(error).__name__}: {error}",
            where=f"{len(graph.nodes)} op(s)",
            fix="this is a fault of the backend; report it with the graph's text",
        ) from error


def _must_fuse(graph: Graph) -> bool:
    """Whether a region of the graph asks for one kernel."""
    return any(node.region is not None and node.region.fuse == "must" for node in graph.nodes)
