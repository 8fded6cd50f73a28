"""The NumPy backend: op by op, and fused into blocked NumPy code."""
