"""Open calls: what runs for one group of a graph with named extents, once these are bound.

A kernel is built for the first extents that it meets, and its numbers are expressions of the names.
Whatever was decided by extents on the way (how loops are cut, what lies as one axis, where an
extent is 1) is noted; the kernel serves all extents for which it would be decided alike. Others
have it built again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

from realta.fusion import Group
from realta.graph import Input, Node, Value
from realta.ops import Attributes
from realta.types import Dim, TensorType, assuming, compiled_function, tensor_type

from realta_numpy.calls import Call, FusedCall, ops_call
from realta_numpy.frame import Unframed
from realta_numpy.fused import copied_group, structure
from realta_numpy.program import Program, build_program
from realta_numpy.source import write_source

__all__ = ["OpenCall", "OpenOps", "is_open"]

Names = Mapping[str, int]
_MOST: Final = 512
_kernels: Final[dict[Any, list[_Kernel]]] = {}


@dataclasses.dataclass(frozen=True, slots=True)
class _Kernel:
    """A kernel for all extents that pass its test.

    Args:
        test: whether extents do, by the values of their names in order.
        program: its code; None where the group fits no loops, so that its ops run one by one.
        text: its text.
        bind: gives the function for extents.
    """

    test: Callable[..., bool]
    program: Program | None = None
    text: str = ""
    bind: Callable[[Names], Callable[..., None]] | None = None


@dataclasses.dataclass(slots=True, eq=False)
class _BoundCall(FusedCall):
    """A kernel with its extents bound."""

    names: Names = dataclasses.field(default_factory=dict)

    def in_place(self, operand: int, output: int) -> Callable[..., None] | None:
        """The kernel that writes an output over an input; None if it would still read that."""
        with assuming(self.names):
            if not self.overwrites(operand, output):
                return None
            source = write_source(self.program, lend_outputs=False)
        return source.open(self.names)(self.names)


class OpenCall:
    """A group that is one kernel, or whose ops run one by one where it fits no loops.

    Args:
        group: what it computes.
        name: named in the kernel's text.
    """

    def __init__(self, group: Group, name: str, names: Names) -> None:
        self.group = group
        self.name = name
        self._kernels = _known_kernels(structure(group, name), names)
        self._ops = OpenOps(group, names)

    def bind(self, names: Names, known_types: dict[TensorType, TensorType]) -> Call:
        """The call for these extents."""
        kernel = self._kernel(names)
        if kernel.bind is None or kernel.program is None:
            return self._ops.bind(names, known_types)
        return _BoundCall(self.group, kernel.program, kernel.text, kernel.bind(names), names)

    def _kernel(self, names: Names) -> _Kernel:
        for kernel in self._kernels:
            if kernel.test(**names):
                return kernel
        made = self._built(names)
        self._kernels.append(made)
        return made

    def _built(self, names: Names) -> _Kernel:
        with assuming(names) as assumed:
            try:
                program = build_program(copied_group(self.group))
                source = write_source(program, self.name)
            except Unframed:
                return _Kernel(assumed.test())
        return _Kernel(assumed.test(), program, source.text, source.open(names))


def _known_kernels(key: Any, names: Names) -> list[_Kernel]:
    """The kernels of all groups that are alike and have the same names."""
    if key is None:
        return []
    if len(_kernels) > _MOST:
        _kernels.clear()
    return _kernels.setdefault((key, *names), [])


class OpenOps:
    """A group whose ops run one by one.

    Args:
        group: what it computes.
        names: has the names of its extents in their order.
    """

    def __init__(self, group: Group, names: Names) -> None:
        self.group = group
        self._texts: dict[str, int] = {}
        self._types: dict[TensorType, int] = {}
        number = {v: n for n, v in enumerate(group.inputs)}
        self._inputs = [self._type(v.type) for v in group.inputs]
        self._nodes = []
        for node in group.nodes:
            types = [self._type(type) for type in node.types]
            attrs = [(k, self._place(v)) for k, v in node.attrs.items() if not _is_number(v)]
            self._nodes.append((node, [number[v] for v in node.operands], types, attrs))
            for value in node.outputs:
                number[value] = len(number)
        self._levels = [group.levels[node] for node in group.nodes]
        self._outputs = [number[v] for v in group.outputs]
        self._shape = self._place(group.shape)
        self._made = [(t, -1 if t.is_static else self._place(t.shape)) for t in self._types]
        texts = "".join([f"{text}, " for text in self._texts])
        self._evaluate = compiled_function(names, f"({texts})")

    def _place(self, value: Any) -> int:
        return self._texts.setdefault(_text(value), len(self._texts))

    def _type(self, type: TensorType) -> int:
        return self._types.setdefault(type, len(self._types))

    def bind(self, names: Names, known_types: dict[TensorType, TensorType]) -> Call:
        """The call for these extents."""
        return ops_call(self.bound(names, known_types))

    def bound(self, names: Names, known_types: dict[TensorType, TensorType]) -> Group:
        """The group for these extents.

        Args:
            names: what their names are bound to.
            known_types: types that are bound already; added to.
        """
        found = self._evaluate(**names)

        types = []
        for type, place in self._made:
            bound = type if place < 0 else known_types.get(type)
            if bound is None:
                bound = tensor_type(type.dtype, found[place], type.device)
                known_types[type] = bound
            types.append(bound)
        values: list[Value] = [Input(types[n]) for n in self._inputs]
        nodes = []
        for node, operands, results, changed in self._nodes:
            attrs = node.attrs
            if changed:
                attrs = Attributes(attrs)
                for name, place in changed:
                    dict.__setitem__(attrs, name, found[place])
            known = tuple([types[n] for n in results])
            made = Node(node.op, tuple([values[n] for n in operands]), attrs, types=known)
            nodes.append(made)
            values += made.outputs
        group = self.group
        return Group(
            group.kind, tuple(nodes), tuple(values[: len(group.inputs)]),
            tuple([values[n] for n in self._outputs]), group.region, found[self._shape],
            group.axes, dict(zip(nodes, self._levels, strict=True)),
        )  # fmt: skip


def _is_number(value: Any) -> bool:
    """Whether an attribute is the same for all extents."""
    if isinstance(value, tuple):
        return all(map(_is_number, value))
    return not isinstance(value, Dim)


def _text(value: Any) -> str:
    """An extent, a number or a tuple of them as Python."""
    if isinstance(value, tuple):
        return f"({''.join([f'{_text(v)}, ' for v in value])})"
    return str(value)


def is_open(group: Group) -> bool:
    """Whether a group has named extents."""
    values = (*group.inputs, *group.nodes)
    return any(isinstance(d, Dim) for d in group.shape) or not all(v.type.is_static for v in values)
