"""Trace: what a region records, written down as a key while it is recorded.

A region that does the same again finds its program by that key, without a graph being built. The
order of recording is an order in which operands come first, so a value is named by the place of its
entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from realta.graph import Node, Value, compares_exactly
from realta.runtime import Places, Storage
from realta.runtime.wrappers import execute_wrappers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from realta.runtime import ExecutableCache, Program

__all__ = ["LatePlaces", "Recipe", "Trace", "known_recipe", "learn_recipe"]

_MOST: Final = 1024


class Trace:
    """The entries of a region, flat.

    Attributes:
        items: for an input its type; for a node its op and its operands' places, and attributes if
            it has any. The types of results follow from these.
        inputs: the inputs read, in order of first use.
        broken: whether something was recorded that cannot be part of a key.
    """

    __slots__ = ("broken", "inputs", "items")

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.inputs: list[Value] = []
        self.broken = False

    def place(self, value: Value) -> int:
        """The place of a value's entry, which is written now if there is none."""
        stack = [value]
        while stack:
            item = stack[-1]
            if item.place < 0:
                node = item if isinstance(item, Node) else getattr(item, "node", None)
                if node is None or item.payload is not None:
                    self._add_input(item)
                else:
                    missing = [v for v in node.operands if v.place < 0]
                    if missing:
                        stack.extend(missing)
                        continue
                    self._add_node(node)
            stack.pop()
        return value.place

    def write(self, node: Node, op: Any, first: Value, second: Value | None) -> None:
        """Writes the entry of an op of one or two operands without attributes."""
        place = first.place
        if place < 0:
            place = self.place(first)
        items = self.items
        if second is None:
            node.place = len(items)
            items += (op, place)
            return
        other = second.place
        if other < 0:
            other = self.place(second)
        node.place = len(items)
        items += (op, place, other)

    def _add_input(self, value: Value) -> None:
        value.place = len(self.items)
        self.items.append(value.type)
        self.inputs.append(value)

    def _add_node(self, node: Node) -> None:
        if not compares_exactly(node.op) or not node.type.is_static:
            self.broken = True
        operands = tuple([v.place for v in node.operands])
        node.place = len(self.items)
        self.items.append((node.op, operands, node.attrs))
        if len(node.types) != 1:
            for output in node.outputs:
                output.place = len(self.items)
                self.items.append(None)


class Recipe:
    """How to run again what a key stands for.

    Args:
        program: the program.
        cache: the cache it is from.
        reads: for each input of the program its number among the trace's inputs.
        results: for each tensor alive at the end the number of the program's output.
    """

    __slots__ = ("cache", "direct", "generation", "program", "reads", "results")

    def __init__(
        self, program: Program, cache: ExecutableCache, reads: list[int], results: list[int]
    ) -> None:
        self.program = program
        self.cache = cache
        self.generation = cache.generation
        self.reads = reads
        self.results = results
        self.direct = program.direct if len(results) == 1 else None

    def result(self, inputs: Sequence[Value]) -> Any:
        """The bare handle of the only result, by the program's direct call.

        Returns:
            None where that does not apply, or failed: running the program says why.
        """
        device = self.program.device
        if self.direct is None or execute_wrappers or device.lost is not None:
            return None
        handles = []
        for number in self.reads:
            storage = inputs[number].payload
            if storage.__class__ is not Storage or storage.launch is not None:
                return None
            handles.append(storage.handle)
        try:
            found = self.direct(*handles)
        except Exception:
            return None
        device.launched += self.program.launches
        return found


_recipes: Final[dict[Any, Recipe]] = {}


def known_recipe(key: Any) -> Recipe | None:
    """The recipe of a key, unless its program was forgotten since."""
    found = _recipes.get(key)
    if found is not None and found.generation != found.cache.generation:
        del _recipes[key]
        return None
    return found


def learn_recipe(
    key: Any, trace: Trace, values: Sequence[Value], graph: Any, program: Program
) -> None:
    """Remembers what a region ran, if it can be run again by its key alone.

    Args:
        key: its key.
        trace: its trace.
        values: for each tensor alive at the end its value.
        graph: what was run.
        program: its program.
    """
    numbers = {id(value): n for n, value in enumerate(trace.inputs)}
    outputs = {id(value): n for n, value in enumerate(graph.outputs)}
    reads = [numbers.get(id(value), -1) for value in graph.inputs]
    results = [outputs.get(id(value), -1) for value in values]
    # Which device stands in for another one is a matter of policy, which is no part of the key.
    if -1 in reads or -1 in results or program.fallbacks:
        return
    if len(_recipes) >= _MOST:
        _recipes.clear()
    _recipes[key] = Recipe(program, program.device.programs, reads, results)


class LatePlaces(Places):
    """Places of ops whose graph is built only when an error asks where they stand.

    Args:
        nodes: gives the nodes.
    """

    __slots__ = ("_find",)

    def __init__(self, nodes: Callable[[], Sequence[Node]]) -> None:
        self._find: Callable[[], Sequence[Node]] | None = nodes

    def _load(self) -> None:
        if self._find is not None:
            super().__init__(self._find())
            self._find = None

    def where(self, ordinal: int) -> Any:
        """`Node.where` of the op with that number, None if unknown."""
        self._load()
        return super().where(ordinal)

    def inside(self, ordinal: int, name: str) -> Places | None:
        """The places of the ops of a graph that is an attribute of the op with that number."""
        self._load()
        return super().inside(ordinal, name)

    def keep(self) -> Places:
        """Lets go of the nodes but keeps the places: for work that is still in flight."""
        self._load()
        return super().keep()
