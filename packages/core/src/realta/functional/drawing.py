"""Drawing: the random functions under the names that they have in `F`; see `realta.random`."""

from __future__ import annotations

from realta.random import gaussian, gaussian_like, normal, normal_like, uniform, uniform_like

__all__ = ["gaussian", "gaussian_like", "normal", "normal_like", "uniform", "uniform_like"]
