"""Open programs: a graph with named extents, compiled once and bound to numbers for each call.

It is compiled for the first extents that it meets. What was decided by them on the way is noted,
and extents for which all of it would be decided alike only bind what is there. Where that cannot be
done (effects, several devices, a session that plans for numbers only, an op that computes with the
numbers of its extents), `bind` gives None, and the graph is compiled for its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from realta.errors import RealtaError, ShapeError
from realta.graph import Graph, Node
from realta.locks import Lock
from realta.passes.specialize import specialize
from realta.runtime.compiling import assemble, program_for
from realta.runtime.contract import Options
from realta.runtime.control import CONTROL_STEPS, ControlStep
from realta.runtime.cut import HostWork, Move, Segment
from realta.runtime.device import OpenDevice, resolve_device
from realta.runtime.hooks import compile_wrappers, extra_passes
from realta.runtime.placement import ordinal_of
from realta.runtime.program import Program
from realta.runtime.steps import LaunchStep, Port, SlotOutput
from realta.types import Dim, TensorType, assuming, compiled_function, tensor_type

__all__ = ["OpenProgram"]

Names = Mapping[str, int]
_MOST: Final = 16
"""Forms that one graph is kept in; what needs more is compiled for its numbers."""
_LEAST_OPS: Final = 8
"""Graphs below this are compiled faster than they are bound."""


class OpenProgram:
    """The programs of one graph for all extents.

    Args:
        graph: a graph with named extents.
        device: where it runs.
        options: how to compile it.
        least: ops from which it is bound; graphs below are compiled faster.
    """

    def __init__(
        self, graph: Graph, device: OpenDevice, options: Options, *, least: int | None = None
    ) -> None:
        self._graph = graph
        self._device = device
        self._options = options
        self._forms: list[_Form] = []
        self._lock = Lock()
        opens = hasattr(device.session, "compile_open")
        least = _LEAST_OPS if least is None else least
        self._opens = opens and (len(graph.nodes) >= least or _has_graphs(graph))

    def bind(self, names: Names) -> Program | None:
        """The program for these extents, or None where it has to be compiled for their numbers.

        Args:
            names: a number for each name, in the same order at every call.
        """
        # Who watches compilations is shown one for each set of extents.
        if not self._opens or compile_wrappers or extra_passes or self._options.dump:
            return None
        try:
            for form in self._forms:
                if form.test(**names):
                    return form.bind(names)
            if len(self._forms) >= _MOST:
                return None
            form = _Form(self._graph, self._device, self._options, names)
            program = form.bind(names)
        except (ShapeError, ArithmeticError):
            # Compiled for its numbers it says what is wrong with them, if anything is.
            return None
        except (_Closed, RealtaError, TypeError, ValueError, SyntaxError):
            # Something computes with the numbers themselves.
            self._opens = False
            return None
        with self._lock:
            self._forms.append(form)
        return program


def _has_graphs(graph: Graph) -> bool:
    return any(node.op.graphs for node in graph.nodes)


class _Closed(Exception):
    """The graph cannot be compiled before its extents are known."""


class _Inner:
    """A graph that control flow runs, for all extents.

    Args:
        graph: the graph; ops may share it.
        device: where it runs.
        options: how to compile it.
    """

    def __init__(self, graph: Graph, device: OpenDevice, options: Options) -> None:
        self._graph = graph
        self._device = device
        self._options = options
        self._open = OpenProgram(graph, device, options, least=0)

    def bind(self, names: Names) -> Program:
        """Its program for these extents."""
        found = self._open.bind(names)
        if found is not None:
            return found
        return program_for(specialize(self._graph, names), self._options, self._device)


class _OpenLaunch(NamedTuple):
    """A launch whose executable and results have yet to be bound."""

    executable: Any
    reads: tuple[int, ...]
    results: list[tuple[int, TensorType, int]]
    ordinals: list[int]

    @property
    def touched(self) -> set[int]:
        return {*self.reads, *[slot for slot, _, _ in self.results]}


class _OpenControl(NamedTuple):
    """Control flow whose programs have yet to be bound, by their numbers in the form."""

    kind: type[ControlStep]
    node: Node
    reads: tuple[int, ...]
    targets: tuple[int, ...]
    ordinal: int
    programs: list[int]

    @property
    def touched(self) -> set[int]:
        return {*self.reads, *self.targets}


class _Form:
    """A graph compiled for all extents that pass a test."""

    def __init__(self, graph: Graph, device: OpenDevice, options: Options, names: Names) -> None:
        with assuming(names) as assumed:
            _decide(graph)
            assembly, checks = assemble(graph, device, options)
        self.test = assumed.test()
        static = all(node.type.is_static for node in assembly.parts.literals.values())
        if assembly.fallbacks or not static:
            raise _Closed
        assembly.prepare()
        self._device = device
        self._options = options
        self._assembly = assembly
        self._shapes: dict[tuple[Any, ...], int] = {}
        self._numbers: dict[int, int] = {}
        self._inner: list[_Inner] = []
        self._steps = [self._step(part) for part in assembly.parts.steps]
        self._plan = assembly.plan((), checks)
        self._drops = assembly.drops([step.touched for step in self._steps])
        self._ports = [
            (number, port.device, *self._place(port.type))
            for number, port in enumerate(self._plan.inputs)
            if not port.type.is_static
        ]
        self._types = [self._place(type) for type in self._plan.output_types]
        texts = "".join([f"({''.join([f'{d}, ' for d in shape])}), " for shape in self._shapes])
        self._evaluate = compiled_function(names, f"({texts})")
        for node in assembly.source.nodes:
            node.where = None
        del self._assembly

    def _place(self, type: TensorType) -> tuple[TensorType, int]:
        if type.is_static:
            return type, -1
        return type, self._shapes.setdefault(type.shape, len(self._shapes))

    def _step(self, part: Segment | Move | HostWork) -> _OpenLaunch | _OpenControl:
        slot = self._assembly.slot
        if isinstance(part, Segment) and resolve_device(part.device) is self._device:
            session: Any = self._device.session
            return _OpenLaunch(
                session.compile_open(part.graph(self._assembly.source.name), self._options),
                tuple([slot(target) for target in part.reads.values()]),
                [
                    (slot((value, part.device)), *self._place(value.type.with_device(part.device)))
                    for value in part.results
                ],
                [ordinal_of(node) for node in part.nodes],
            )
        kind = CONTROL_STEPS.get(part.node.op.name) if isinstance(part, HostWork) else None
        if kind is None or not isinstance(part, HostWork):
            raise _Closed
        node = part.node
        return _OpenControl(
            kind,
            node,
            tuple([slot(place) for place in part.reads]),
            tuple([slot(place) for place in part.results]),
            ordinal_of(node),
            [self._number(node.attrs[name]) for name in node.op.graphs],
        )

    def _number(self, graph: Graph) -> int:
        found = self._numbers.setdefault(id(graph), len(self._inner))
        if found == len(self._inner):
            self._inner.append(_Inner(graph, self._device, self._options))
        return found

    def bind(self, names: Names) -> Program:
        """The program for these extents."""
        found = self._evaluate(**names)

        def bound(type: TensorType, place: int) -> TensorType:
            return type if place < 0 else tensor_type(type.dtype, found[place], type.device)

        device, plan = self._device, self._plan
        programs = [inner.bind(names) for inner in self._inner]
        steps: list[LaunchStep | ControlStep] = []
        for step, drops in zip(self._steps, self._drops, strict=True):
            if isinstance(step, _OpenControl):
                known = tuple([programs[n] for n in step.programs])
                steps.append(step.kind(step.node, step.reads, step.targets, step.ordinal, known))
            else:
                results = [(slot, bound(type, place)) for slot, type, place in step.results]
                size = device.session.buffer_bytes
                outputs = [SlotOutput(slot, type, size(type)) for slot, type in results]
                executable = step.executable.bind(names)
                name = plan.source.name
                launch = LaunchStep(device, executable, step.reads, outputs, step.ordinals, name)
                steps.append(launch)
            steps[-1].drops = drops
        inputs = list(plan.inputs)
        for number, home, type, place in self._ports:
            inputs[number] = Port(home, bound(type, place))
        types = tuple([bound(type, place) for type, place in self._types])
        return Program(
            plan._replace(
                steps=tuple(steps), inputs=tuple(inputs), output_types=types, dims=dict(names)
            )
        )


def _decide(graph: Graph) -> None:
    """Has every op of a graph decide anew whether its operands fit, and every extent its sign.

    Raises:
        ShapeError: they do not fit.
    """
    graphs, seen = [graph], {id(graph)}
    while graphs:
        graph = graphs.pop()
        for value in graph.inputs:
            _decide_signs(value.type.shape)
        for node in graph.nodes:
            Node(node.op, node.operands, node.attrs)
            for type in node.types:
                _decide_signs(type.shape)
            inner = [node.attrs[name] for name in node.op.graphs]
            graphs += [g for g in inner if id(g) not in seen]
            seen |= {id(g) for g in inner}


def _decide_signs(shape: tuple[int | Dim, ...]) -> None:
    for extent in shape:
        if isinstance(extent, Dim) and extent.bounds[0] < 0 and extent < 0:
            raise ArithmeticError(f"{extent} is negative")
