"""Tensors: the handle, its construction and display. Callable too: ``realta.tensor([1, 2])``."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from realta.context import current_realization_context, realization_context
from realta.on_demand import on_demand
from realta.plugins import default_device, default_dtype, defaults, defaults_like
from realta.tensor.base import RealizationState
from realta.tensor.display import print_options
from realta.tensor.members import promise
from realta.tensor.tensor import Tensor, real_tensor, wrap
from realta.types import TensorType

if TYPE_CHECKING:
    from realta.tensor.protocol import RealizationContext

__all__ = [
    "RealizationContext", "RealizationState", "Tensor", "TensorType", "current_realization_context",
    "default_device", "default_dtype", "defaults", "defaults_like", "print_options", "real_tensor",
    "realization_context", "wrap",
]  # fmt: skip

promise()

__getattr__ = on_demand(__name__, {"protocol": ("RealizationContext",)})


class _CallableModule(ModuleType):
    """Lets ``realta.tensor`` be both this module and the function that makes a tensor."""

    def __call__(self, data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
        """The same as ``Tensor(data, dtype=, device=)``."""
        return Tensor(data, dtype=dtype, device=device)


sys.modules[__name__].__class__ = _CallableModule
