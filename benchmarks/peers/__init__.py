"""Peers: who computes a workload, each as a statement to time.

A peer lives in a process of its own. `prepare` of its module compiles what the peer compiles, and
returns a statement that leaves its result in a name, as a user's code would.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.workloads import Workload

__all__ = ["MODULES", "Prepared", "load"]

MODULES = {
    "copy": "copying",
    "read": "reading",
    "numpy": "plain_numpy",
    "torch": "torch_modes",
    "torch.compile": "torch_modes",
    "torch inference": "torch_modes",
    "jax": "jax_mode",
    "realta": "realta_modes",
    "realta region": "realta_modes",
    "realta llvm": "realta_modes",
    "realta pocl": "realta_modes",
    "realta intel": "realta_modes",
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A workload that one peer is ready to compute.

    Attributes:
        statement: what is timed.
        names: the names that the statement uses.
        result: computes it once and returns the value as an array; None where there is no value.
    """

    statement: str
    names: dict[str, Any]
    result: Callable[[], NDArray[np.float32]] | None


def load(peer: str) -> Callable[[str, Workload], Prepared]:
    """Imports a peer, and with it the library, and returns its `prepare(peer, workload)`."""
    module = importlib.import_module(f"{__name__}.{MODULES[peer]}")
    prepare: Callable[[str, Workload], Prepared] = module.prepare
    return prepare
