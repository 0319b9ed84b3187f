"""The kernels of an operator for NVIDIA GPUs in a library that a framework calls: no toolkit, NVIDIA's driver alone."""

from __future__ import annotations
