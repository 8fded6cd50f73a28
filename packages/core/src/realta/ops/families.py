"""The op families that are loaded first: elementwise ops, and those that most programs use.

A new module of ops joins `realta.ops.more_families`, unless it defines elementwise ops.
"""

from realta.ops import (
    activation,
    bitwise,
    comparison,
    creation,
    elementwise_binary,
    elementwise_math,
    elementwise_unary,
    movement,
    select_cast,
)

__all__ = [
    "activation",
    "bitwise",
    "comparison",
    "creation",
    "elementwise_binary",
    "elementwise_math",
    "elementwise_unary",
    "movement",
    "select_cast",
]
