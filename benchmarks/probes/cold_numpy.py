"""Cold NumPy: a process that imports NumPy, computes W1 once and prints one element."""

import numpy as np

x = np.tile(np.linspace(-4, 4, 10_000, dtype=np.float32), 1000)
y = np.maximum(x * np.float32(1.5) + np.float32(0.25), np.float32(0)) * (
    np.float32(1) / (np.float32(1) + np.exp(-x))
) - np.float32(0.5)
print(y[-1], flush=True)
