"""Trees: nested tuples, lists, dicts and dataclasses of leaves, taken apart and put together.

No recursion over depth. Dicts with text keys are taken apart in the order of their keys, so that
two dicts of the same keys are the same tree in whatever order they were filled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from realta.errors import ArgumentError

__all__ = ["Star", "TreeDef", "flatten", "leaves", "map", "paths", "unflatten"]

_LEAF: Final = ("leaf",)


class TreeDef:
    """The structure of a tree: what is left when its leaves are taken out.

    Args:
        steps: the nodes in postfix order: ``("leaf",)`` or ``(type, keys, number of children)``.
        orders: for each dict the order in which it was filled; takes no part in comparisons.
    """

    __slots__ = ("orders", "steps")

    def __init__(self, steps: tuple[Any, ...], orders: tuple[Any, ...] = ()) -> None:
        self.steps: tuple[Any, ...] = steps
        self.orders: tuple[Any, ...] = orders

    @property
    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.steps == (_LEAF,)

    @property
    def count(self) -> int:
        """Number of leaves."""
        return self.steps.count(_LEAF)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeDef) and self.steps == other.steps

    def __hash__(self) -> int:
        return hash(self.steps)

    def __str__(self) -> str:
        return str(unflatten(self, [Star()] * self.count))

    def __repr__(self) -> str:
        return f"TreeDef({self})"


class Star:
    """Stands for a leaf where a structure is shown."""

    def __repr__(self) -> str:
        return "*"


def _children(node: Any) -> tuple[Any, list[Any]] | None:
    """``(type and keys, children)`` of an inner node, None for a leaf."""
    kind = type(node)
    if kind is tuple or kind is list:
        return (kind, len(node)), list(node)
    if kind is dict:
        names = tuple(sorted(node) if all(type(key) is str for key in node) else node)
        return (kind, names), [node[name] for name in names]
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
    orders: list[tuple[Any, ...]] = []
    stack: list[tuple[Any, Any]] = [(tree, None)]
    while stack:
        node, done = stack.pop()
        if done is not None:
            steps.append(done)
            if done[0] is dict:
                orders.append(tuple(node))
            continue
        parts = _children(node)
        if parts is None:
            found.append(node)
            steps.append(_LEAF)
            continue
        (kind, keys), children = parts
        stack.append((node, (kind, keys, len(children))))
        stack.extend((child, None) for child in reversed(children))
    return found, TreeDef(tuple(steps), tuple(orders))


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
    orders: Iterator[Any] = iter(definition.orders)
    stack: list[Any] = []
    for step in definition.steps:
        if step == _LEAF:
            stack.append(next(supply))
            continue
        kind, keys, count = step
        children = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        made = _assembled(kind, keys, children)
        stack.append({name: made[name] for name in next(orders)} if kind is dict else made)
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


def paths(tree: Any) -> list[str]:
    """Where each leaf stands, from left to right: ``0``, ``1.weight``, ``1.bias.0``."""
    found: list[str] = []
    stack: list[tuple[str, Any]] = [("", tree)]
    while stack:
        path, node = stack.pop()
        parts = _children(node)
        if parts is None:
            found.append(path)
            continue
        (_, keys), children = parts
        names = range(keys) if isinstance(keys, int) else keys
        below = [(f"{path}.{n}" if path else str(n)) for n in names]
        stack.extend(reversed(list(zip(below, children, strict=True))))
    return found


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
