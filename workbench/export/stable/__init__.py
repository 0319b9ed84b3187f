"""A library of operators for PyTorch's stable ABI, and the Python file that stands beside it."""

from __future__ import annotations
