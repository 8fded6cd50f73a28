"""Trees: nested tuples, lists, dicts and dataclasses of leaves, taken apart and put together.

No recursion over depth; dict keys are taken in insertion order, so a dict in another order is another
tree only if its keys differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from realta.errors import ArgumentError

__all__ = ["TreeDef", "flatten", "leaves", "map", "unflatten"]

_LEAF: Final = ("leaf",)


class TreeDef:
    """The structure of a tree: what is left when its leaves are taken out.

    Args:
        steps: the nodes in postfix order: ``("leaf",)`` or ``(type, keys, number of children)``.
    """

    __slots__ = ("steps",)

    def __init__(self, steps: tuple[Any, ...]) -> None:
        self.steps = steps

    @property
    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.steps == (_LEAF,)

    @property
    def count(self) -> int:
        """Number of leaves."""
        return sum(1 for step in self.steps if step is _LEAF)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeDef) and self.steps == other.steps

    def __hash__(self) -> int:
        return hash(self.steps)

    def __str__(self) -> str:
        return str(unflatten(self, [_Star()] * self.count))

    def __repr__(self) -> str:
        return f"TreeDef({self})"


class _Star:
    def __repr__(self) -> str:
        return "*"


def _children(node: Any) -> tuple[Any, list[Any]] | None:
    """``(type and keys, children)`` of an inner node, None for a leaf."""
    kind = type(node)
    if kind is tuple or kind is list:
        return (kind, len(node)), list(node)
    if kind is dict:
        return (kind, tuple(node)), list(node.values())
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return (kind, tuple(node._fields)), list(node)
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is not None and not getattr(kind, "__tree_leaf__", False):
        return (kind, tuple(fields)), [getattr(node, name) for name in fields]
    return None


def flatten(tree: Any) -> tuple[list[Any], TreeDef]:
    """The leaves from left to right, and the structure. None is a leaf."""
    found: list[Any] = []
    steps: list[Any] = []
    stack: list[tuple[Any, Any]] = [(tree, None)]
    while stack:
        node, done = stack.pop()
        if done is not None:
            steps.append(done)
            continue
        parts = _children(node)
        if parts is None:
            found.append(node)
            steps.append(_LEAF)
            continue
        (kind, keys), children = parts
        stack.append((None, (kind, keys, len(children))))
        stack.extend((child, None) for child in reversed(children))
    return found, TreeDef(tuple(steps))


def unflatten(definition: TreeDef, values: Sequence[Any]) -> Any:
    """The tree of that structure with these leaves.

    Raises:
        ArgumentError: the number of leaves differs.
    """
    if len(values) != definition.count:
        raise ArgumentError(
            f"a tree of {definition.count} leaves got {len(values)}",
            fix="give one value for each leaf",
        )
    supply: Iterator[Any] = iter(values)
    stack: list[Any] = []
    for step in definition.steps:
        if step is _LEAF:
            stack.append(next(supply))
            continue
        kind, keys, count = step
        children = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        stack.append(_assembled(kind, keys, children))
    return stack[0]


def _assembled(kind: Any, keys: Any, children: list[Any]) -> Any:
    if kind is list:
        return children
    if kind is tuple:
        return tuple(children)
    if kind is dict:
        return dict(zip(keys, children, strict=True))
    if issubclass(kind, tuple):
        return kind(*children)
    made = object.__new__(kind)
    for name, child in zip(keys, children, strict=True):
        # A frozen dataclass refuses ordinary assignment.
        object.__setattr__(made, name, child)
    return made


def leaves(tree: Any) -> list[Any]:
    """The leaves from left to right."""
    return flatten(tree)[0]


def map(function: Callable[..., Any], tree: Any, *more: Any) -> Any:
    """The tree with ``function`` applied to each leaf, and to the same leaves of further trees.

    Raises:
        ArgumentError: the trees differ in structure.
    """
    found, definition = flatten(tree)
    others = []
    for other in more:
        values, structure = flatten(other)
        if structure != definition:
            raise ArgumentError(
                f"trees {definition} and {structure} differ", fix="give trees of one structure"
            )
        others.append(values)
    return unflatten(definition, [function(*parts) for parts in zip(found, *others, strict=True)])
