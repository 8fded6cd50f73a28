"""Open programs: a graph with named extents, compiled once and bound to numbers for each call.

It is compiled for the first extents that it meets. What was decided by them on the way is noted,
and extents for which all of it would be decided alike only bind what is there. Where that cannot be
done (control flow, several devices, a session that plans for numbers only, an op that computes with
the numbers of its extents), `bind` gives None, and the graph is compiled for its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from realta.errors import RealtaError, ShapeError
from realta.graph import Graph, Node
from realta.locks import Lock
from realta.runtime.compiling import assemble
from realta.runtime.contract import Options
from realta.runtime.cut import Segment
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
    """

    def __init__(self, graph: Graph, device: OpenDevice, options: Options) -> None:
        self._graph = graph
        self._device = device
        self._options = options
        self._forms: list[_Form] = []
        self._lock = Lock()
        opens = hasattr(device.session, "compile_open")
        self._opens = opens and len(graph.nodes) >= _LEAST_OPS

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


class _Closed(Exception):
    """The graph cannot be compiled before its extents are known."""


class _Form:
    """A graph compiled for all extents that pass a test."""

    def __init__(self, graph: Graph, device: OpenDevice, options: Options, names: Names) -> None:
        with assuming(names) as assumed:
            _decide(graph)
            assembly, checks = assemble(graph, device, options)
        self.test = assumed.test()
        parts = assembly.parts
        part = parts.steps[0] if len(parts.steps) == 1 else None
        static = all(node.type.is_static for node in parts.literals.values())
        if not isinstance(part, Segment) or assembly.fallbacks or not static:
            raise _Closed
        self._home = resolve_device(part.device)
        if self._home is not device:
            raise _Closed
        assembly.prepare()
        session: Any = device.session
        self._executable = session.compile_open(part.graph(graph.name), options)
        shapes: dict[tuple[Any, ...], int] = {}

        def place(type: TensorType) -> tuple[TensorType, int]:
            return type, -1 if type.is_static else shapes.setdefault(type.shape, len(shapes))

        self._reads = [assembly.slot(target) for target in part.reads.values()]
        self._results = [
            (assembly.slot((value, part.device)), *place(value.type.with_device(part.device)))
            for value in part.results
        ]
        self._ordinals = [ordinal_of(node) for node in part.nodes]
        self._plan = assembly.plan((), checks)
        self._ports = [
            (number, port.device, *place(port.type))
            for number, port in enumerate(self._plan.inputs)
            if not port.type.is_static
        ]
        self._types = [place(type) for type in self._plan.output_types]
        texts = "".join([f"({''.join([f'{d}, ' for d in shape])}), " for shape in shapes])
        self._evaluate = compiled_function(names, f"({texts})")
        for node in assembly.source.nodes:
            node.where = None

    def bind(self, names: Names) -> Program:
        """The program for these extents."""
        found = self._evaluate(**names)

        def bound(type: TensorType, place: int) -> TensorType:
            return type if place < 0 else tensor_type(type.dtype, found[place], type.device)

        home = self._home
        outputs = []
        for slot, type, place in self._results:
            known = bound(type, place)
            outputs.append(SlotOutput(slot, known, home.session.buffer_bytes(known)))
        executable = self._executable.bind(names)
        plan = self._plan
        step = LaunchStep(home, executable, self._reads, outputs, self._ordinals, plan.source.name)
        inputs = list(plan.inputs)
        for number, device, type, place in self._ports:
            inputs[number] = Port(device, bound(type, place))
        types = tuple([bound(type, place) for type, place in self._types])
        return Program(
            plan._replace(steps=(step,), inputs=tuple(inputs), output_types=types, dims=dict(names))
        )


def _decide(graph: Graph) -> None:
    """Has every op of a graph decide anew whether its operands fit, and every extent its sign.

    Raises:
        ShapeError: they do not fit.
        _Closed: the graph has graphs inside.
    """
    for value in graph.inputs:
        _decide_signs(value.type.shape)
    for node in graph.nodes:
        if node.op.graphs:
            raise _Closed
        Node(node.op, node.operands, node.attrs)
        for type in node.types:
            _decide_signs(type.shape)


def _decide_signs(shape: tuple[int | Dim, ...]) -> None:
    for extent in shape:
        if isinstance(extent, Dim) and extent.bounds[0] < 0 and extent < 0:
            raise ArithmeticError(f"{extent} is negative")
