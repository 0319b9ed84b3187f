"""`torch_backend`: the backend "workbench" of `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import WorkbenchError


def torch_backend(graph: Any, examples: Sequence[Any]) -> Callable[..., Any]:
    """A graph of TorchDynamo as a built model: `torch.compile(module, backend=wb.export.torch_backend)`.

    Where this project is installed, `backend="workbench"` is the same.  Models are made for each combination of shapes
    when it is first met, with the module's parameters as constants (made again when these change).  Graphs whose
    gradient is asked for, and those with an operation that has no definition here, run as PyTorch runs them, and a
    warning says why.  WorkbenchError where PyTorch is missing.
    """
    try:
        from workbench.export.pytorch.compile_backend import workbench  # only this export needs the framework
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"PyTorch is not installed: pip install torch ({reason})") from reason
    return workbench(graph, examples)
