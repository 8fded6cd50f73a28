"""The op families that every program loads: functions of elementwise ops are made at import.

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
