"""Operators of PyTorch: what is registered, and the C++ that calls our kernels."""

from __future__ import annotations
