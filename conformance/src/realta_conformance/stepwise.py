"""Step by step: a graph's ops one at a time, to compare with the graph as a whole.

The first ops of all graphs are compiled together, then the second ones, and so on; they share
nothing, so each op stands alone in its kernel, and a slow compiler is asked once a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from realta.backend import Executable
from realta.graph import Builder, Graph, Node, Value

from realta_conformance.device import Device
from realta_conformance.execution import Findings
from realta_conformance.formats import Array
from realta_conformance.oracle import same_bits
from realta_conformance.packing import lifted, normal_graph

__all__ = ["run_compiled", "run_graph", "step_by_step"]


def step_by_step(device: Device, findings: Sequence[Findings]) -> None:
    """Runs graphs op by op; other bits than the whole graph's become failures of `fused`."""
    graphs: list[Graph] = []
    known: list[dict[Value, Array]] = []
    for finding in findings:
        graph, literals = lifted(device, normal_graph(device, finding.case.graph()))
        operands = [*finding.case.calls()[0][0], *literals]
        graphs.append(graph)
        known.append(dict(zip(graph.inputs, operands, strict=True)))
    for step in range(max((len(g.nodes) for g in graphs), default=0)):
        _one_step(
            device,
            [(g, k) for g, k in zip(graphs, known, strict=True) if step < len(g.nodes)],
            step,
        )
    for finding, graph, values in zip(findings, graphs, known, strict=True):
        pairs = zip(finding.results, [values[v] for v in graph.outputs], strict=True)
        if not all(same_bits(a, b) for a, b in pairs):
            finding.fail("fused", "the whole graph gives other bits than its ops one by one")


def _one_step(
    device: Device, portion: Sequence[tuple[Graph, dict[Value, Array]]], step: int
) -> None:
    builder = Builder(f"step_{step}")
    arrays: list[Array] = []
    outputs: list[Value] = []
    for graph, known in portion:
        node: Node = graph.nodes[step]
        operands = []
        for value in node.operands:
            operands.append(builder.input(value.type, f"x{len(arrays)}"))
            arrays.append(known[value])
        outputs += builder.add_node(node.op, tuple(operands), node.attrs).outputs
    results = run_graph(device, builder.finish(*outputs), arrays)
    for graph, known in portion:
        for output in graph.nodes[step].outputs:
            known[output] = results.pop(0)


def run_graph(device: Device, graph: Graph, arrays: Sequence[Array]) -> list[Array]:
    """Runs a graph once, from arrays to arrays."""
    executable = device.compile(graph)
    try:
        return run_compiled(device, executable, graph, arrays)
    finally:
        executable.close()


def run_compiled(
    device: Device, executable: Executable, graph: Graph, arrays: Sequence[Array]
) -> list[Array]:
    """Runs a compiled graph once, from arrays to arrays."""
    with device.holding() as hold:
        inputs = [device.upload(x, v.type) for x, v in zip(arrays, graph.inputs, strict=True)]
        hold(inputs)
        types = [v.type for v in graph.outputs]
        handles = device.run(executable, inputs, types)
        hold(handles)
        return [device.read(h, t) for h, t in zip(handles, types, strict=True)]
