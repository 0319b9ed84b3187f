"""A module of PyTorch in which some modules are computed by the workbench."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.graph import build_model
from workbench.graph.importing.from_torch_modules import from_torch
from workbench.graph.running.torch_tensors import to_torch


def swapped(module: torch.nn.Module, replacements: Mapping[str, Any]) -> torch.nn.Module:
    """See `workbench.export.swap`."""
    if not isinstance(module, torch.nn.Module):
        raise WorkbenchError(f"swap takes a module of PyTorch, not {shown(module)}")
    paths = [path for path, _ in module.named_modules() if path]
    for path in replacements:
        if path not in paths:
            raise WorkbenchError(f"swap: {unknown_name('module', path, paths)}")
    tensors = (*module.parameters(), *module.buffers())
    found = copy.deepcopy(module, {id(tensor): tensor for tensor in tensors})
    for path, given in replacements.items():
        found.set_submodule(path, Swapped(path, found.get_submodule(path), given))
    return found


class Swapped(torch.nn.Module):
    """Computes by `given` what `original` does; where a gradient is asked for, by the original."""

    def __init__(self, path: str, original: torch.nn.Module, given: Any) -> None:
        super().__init__()
        self.path, self.original, self.made = path, original, {}
        if isinstance(given, tuple | list | torch.Tensor):
            self.function: Callable[..., Any] | None = None
            self._built(tuple(given) if isinstance(given, tuple | list) else (given,))
        elif callable(given):
            self.function = given
        else:
            raise WorkbenchError(f"swap: {path}: expected a function, or example tensors, but found {shown(given)}")

    def _built(self, tensors: tuple[Any, ...]) -> Callable[..., Any]:
        """The original as a built model for tensors like these, with its parameters as they are now."""
        key = tuple((tensor.shape, tensor.dtype) for tensor in tensors)
        held = (*self.original.parameters(), *self.original.buffers())
        state = tuple((tensor.data_ptr(), tensor._version) for tensor in held)
        known = self.made.get(key)
        if known is None or known[0] != state:
            known = self.made[key] = (state, build_model(from_torch(self.original, *tensors)))
        return known[1]

    def forward(self, *tensors: torch.Tensor) -> Any:
        """The results, as the original gives them."""
        if torch.is_grad_enabled() and any(x.requires_grad for x in (*tensors, *self.original.parameters())):
            return self.original(*tensors)
        function = self.function if self.function is not None else self._built(tensors)
        return to_torch(function(*(tensor.detach() for tensor in tensors)))

    def extra_repr(self) -> str:
        """Who computes it."""
        return "built by the workbench" if self.function is None else repr(self.function)
