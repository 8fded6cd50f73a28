"""Number operands: Python numbers beside float tensors, recorded on the fast path.

Writes the same nodes as `scalar_like` and `broadcast`, without a tensor for each of them.
"""

from __future__ import annotations

from typing import Any, Final

from realta.context import RecordingContext, ScalarInput
from realta.functional.arguments import CONSTANTS
from realta.functional.operation import new_memo
from realta.graph import Node, Value
from realta.ops import ConstantData, get_op
from realta.types import TensorType, convert_scalar

__all__ = ["NumberOperand"]

_CONSTANT: Final = get_op("constant")
_BROADCAST: Final = get_op("broadcast")
_parts: Final = new_memo()
"""By the tensor's type: the number's type, the attributes of its broadcast, those of constants."""


class NumberOperand:
    """A number as an operand of the type of a tensor; stands where `record_fitting` takes a tensor.

    Args:
        context: the current context.
        number: a Python float, or an int that float64 holds.
        type_: a float tensor type, which the operand gets.
    """

    __slots__ = ("_context", "_held", "_value")

    _value: Value

    def __init__(self, context: RecordingContext, number: float, type_: TensorType) -> None:
        scalar_type, wide, constants = _parts.get(type_) or _learn(type_)
        self._context = context
        self._held = None
        # In this dictionary 0.0 and -0.0 are one key, and -0.0 is no constant.
        attrs = constants.get(number) if number or str(number)[0] != "-" else None
        value: Any
        if attrs is None:
            value = ScalarInput(number, convert_scalar(number, scalar_type.dtype), scalar_type)
        else:
            value = Node(_CONSTANT, (), attrs, types=(scalar_type,), region=context.region)
        if wide is not None:
            value.uses = 1
            value = Node(_BROADCAST, (value,), wide, types=(type_,), region=context.region)
        self._value = value

    def place(self, where: Any) -> None:
        """Notes the user's line on what was written for the number."""
        value = self._value
        while isinstance(value, Node):
            value.where = where
            if not value.operands:
                return
            value = value.operands[0]


def _learn(type_: TensorType) -> tuple[TensorType, Any, dict[float, Any]]:
    scalar_type = type_.with_shape(())
    wide = _BROADCAST.make_attrs({"shape": type_.shape}) if type_.shape else None
    constants = {
        number: _CONSTANT.make_attrs(
            {
                "value": ConstantData(convert_scalar(number, type_.dtype)),
                "device": type_.device,
            }
        )
        for number in CONSTANTS
    }
    found = _parts[type_] = (scalar_type, wide, constants)
    return found
