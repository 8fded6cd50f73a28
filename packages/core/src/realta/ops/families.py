"""The op families: importing them defines every op; a new module of ops joins this list."""

from realta.ops import (
    bitwise,
    comparison,
    contraction,
    creation,
    elementwise_binary,
    elementwise_math,
    elementwise_unary,
    indexing,
    movement,
    placement,
    random,
    reduction,
    scan,
    select_cast,
    sorting,
)

__all__ = [
    "bitwise",
    "comparison",
    "contraction",
    "creation",
    "elementwise_binary",
    "elementwise_math",
    "elementwise_unary",
    "indexing",
    "movement",
    "placement",
    "random",
    "reduction",
    "scan",
    "select_cast",
    "sorting",
]
