"""The op families: importing them defines every op; a new module of ops joins this list."""

from realta.ops import (
    bitwise,
    comparison,
    creation,
    elementwise_binary,
    elementwise_math,
    elementwise_unary,
    movement,
    reduction,
    scan,
    select_cast,
)

__all__ = [
    "bitwise",
    "comparison",
    "creation",
    "elementwise_binary",
    "elementwise_math",
    "elementwise_unary",
    "movement",
    "reduction",
    "scan",
    "select_cast",
]
