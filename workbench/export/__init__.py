"""Out into plain C and the frameworks: an operator with its schedules becomes theirs.

`c` writes a library that needs neither Python nor a framework, `torch` registers an operator of PyTorch,
`torch_library` writes a library that does so by itself, `jax` gives a function of JAX, `onnxruntime` writes a library
and models for ONNX Runtime, `package` a wheel.  Each takes an operator, a schedule, a study, or a list of schedules and
studies of one operator, or a built model.  `torch_backend` is for `torch.compile`,
`swap` puts built models into a module of PyTorch.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.export.to_c import CLibrary, c
    from workbench.export.to_jax import jax
    from workbench.export.to_onnxruntime import OnnxRuntimeLibrary, onnxruntime
    from workbench.export.to_package import Package, package
    from workbench.export.to_torch import torch
    from workbench.export.to_torch_backend import torch_backend
    from workbench.export.to_torch_library import TorchLibrary, torch_library
    from workbench.export.to_torch_modules import swap

# Public name → module.
NAMES = {
    "CLibrary": "to_c",
    "OnnxRuntimeLibrary": "to_onnxruntime",
    "Package": "to_package",
    "TorchLibrary": "to_torch_library",
    "c": "to_c",
    "jax": "to_jax",
    "onnxruntime": "to_onnxruntime",
    "package": "to_package",
    "swap": "to_torch_modules",
    "torch": "to_torch",
    "torch_backend": "to_torch_backend",
    "torch_library": "to_torch_library",
}

__all__ = [
    "CLibrary", "OnnxRuntimeLibrary", "Package", "TorchLibrary", "c", "jax", "onnxruntime", "package", "swap", "torch",
    "torch_backend", "torch_library",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)
