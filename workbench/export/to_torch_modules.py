"""`swap`: a module of PyTorch with parts of it computed by the workbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import WorkbenchError


def swap(module: Any, replacements: Mapping[str, Any], /) -> Any:
    """A copy of a module of PyTorch, with the same parameters, in which the modules at some paths are replaced.

    A replacement is anything to call with the tensors that the module takes (a built model, a kernel, an operator), or
    example tensors: then the module itself is taken over by `wb.from_torch` and built, for each combination of
    shapes when it is first met.  Where a gradient is asked for, the module computes as before.

    Raises WorkbenchError for an unknown path (listing the known ones) or where PyTorch is missing, UnsupportedModel
    for an operation without a definition.
    """
    try:
        from workbench.export.pytorch.swapping import swapped  # only this export needs the framework
    except ModuleNotFoundError as reason:
        raise WorkbenchError(f"PyTorch is not installed: pip install torch ({reason})") from reason
    return swapped(module, replacements)
