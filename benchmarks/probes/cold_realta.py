"""Cold Realta: a process that imports Realta, computes W1 once and prints one element."""

import numpy as np
import realta
from realta import F

x = realta.Tensor(np.tile(np.linspace(-4, 4, 10_000, dtype=np.float32), 1000), device="numpy:0")


@F.functional
def w1(x: realta.Tensor) -> realta.Tensor:
    """Computes W1 as one region."""
    return F.relu(x * 1.5 + 0.25) * F.sigmoid(x) - 0.5


print(w1(x).numpy()[-1], flush=True)
