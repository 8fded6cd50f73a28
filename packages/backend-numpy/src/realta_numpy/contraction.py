"""Contraction: core's matrix products on the host."""

from realta.runtime import contract_arrays as contract
from realta.runtime import matrix_product

__all__ = ["contract", "matrix_product"]
