"""The operators that were registered in this process: PyTorch keeps a schema for ever, kernels may be replaced."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from workbench.errors import CallError, WorkbenchError, shown
from workbench.export.dispatch import Family
from workbench.export.hosts import hosted, placeholder, result_shapes
from workbench.export.pytorch.glue import glue
from workbench.export.pytorch.schema import schema_of
from workbench.runtime.host.locks import Lock


@dataclass
class Named:
    """What stands under a name of PyTorch, which keeps its schema as long as the process runs."""

    space: str
    name: str
    schema: str

    @property
    def qualified(self) -> str:
        """Namespace and name."""
        return f"{self.space}::{self.name}"

    @property
    def packet(self) -> Any:
        """What is called: `torch.ops.<space>.<name>`."""
        return getattr(getattr(torch.ops, self.space), self.name)


@dataclass
class Registered(Named):
    """One operator: `families`, one for each choice of element types, are what it does now."""

    families: tuple[Family, ...] = ()
    handle: int = 0
    library: Any = None
    batched: dict[Any, Any] = field(default_factory=dict)

    def last_kernel(self, *, on_gpu: bool = False) -> str:
        """What the kernel that this thread ran last, or started last on a GPU, was made for."""
        return glue().wb_torch_last_kernel(self.handle, on_gpu).decode()


_known: dict[str, Registered] = {}
_lock = Lock()


def registered_operator(qualified: str) -> Registered | None:
    """The operator of a name, if it is one of ours."""
    return _known.get(qualified)


def register(
    space: str, name: str, families: Sequence[Family], prepare: tuple[Any, Any],
    complete: Callable[[Registered], None],
) -> Registered:  # fmt: skip
    """Register an operator, or replace what the one of that name does.

    `prepare` are called by C++ when a gradient, and when kernels for a GPU, are first wanted, `complete` once with what
    is new.  WorkbenchError if that one has another signature, or is not ours.
    """
    schema = schema_of(families[0])
    entries = [_entries(family) for family in families]
    with _lock:
        op = _known.get(f"{space}::{name}")
        if op is None or op.schema != schema:
            refuse_taken(space, name, schema, op)
            op = _known[f"{space}::{name}"] = _defined(space, name, schema, prepare)
            complete(op)
        op.families = tuple(families)
        table = (ctypes.c_void_p * len(entries))(*entries)
        glue().wb_torch_implement(op.handle, ctypes.addressof(table), len(entries))
    return op


def refuse_taken(space: str, name: str, schema: str, op: Named | None) -> None:
    """WorkbenchError where `op` of that name has another schema, or where PyTorch has one of somebody else's."""
    if op is not None:
        there = f"{op.qualified}{op.schema}"
        stem = re.sub(r"_\d+$", "", name)
        free = next(f"{stem}_{n}" for n in range(2, 1 << 20) if not _taken(space, f"{stem}_{n}"))
        raise WorkbenchError(
            f"{space}::{name} is registered with another signature, which PyTorch keeps as long as the process runs: "
            f"{there}; this one has {schema}. Give it another name: wb.export.torch(..., name={free!r})"
        )
    if _taken(space, name):
        raise WorkbenchError(f"PyTorch has an operator {space}::{name} that is not ours; choose another namespace")


def _taken(space: str, name: str) -> bool:
    return any(s.name == f"{space}::{name}" for s in torch._C._jit_get_schemas_for_operator(f"{space}::{name}"))


def _defined(space: str, name: str, schema: str, prepare: tuple[Any, Any]) -> Registered:
    op = Registered(space, name, schema)
    library = torch.library.Library(space, "FRAGMENT")
    try:
        library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    except RuntimeError as reason:
        raise WorkbenchError(f"PyTorch does not take the name {shown(f'{space}::{name}')}: {reason}") from reason
    op.handle = glue().wb_torch_register(space.encode(), name.encode(), *prepare) or 0
    if not op.handle:
        raise WorkbenchError(f"{op.qualified} was not registered: {glue().wb_torch_failure().decode()}")

    def fake(*given: Any, **named: Any) -> Any:
        return fake_results(op.families[0], given, named)

    torch.library.register_fake(op.qualified, fake, lib=library)
    op.library = library
    return op


# -- the library of its kernels


def _entries(family: Family) -> int:
    """The address of what an operator's library for this processor hands out."""
    return opened(hosted(family))


def opened(library: Any) -> int:
    """The address of what a library hands out; it stays loaded."""
    entries = glue().wb_torch_open(ctypes.cast(library.wb_open, ctypes.c_void_p))
    _loaded[entries] = library
    return entries


# Libraries stay loaded: calls of another thread may still run in one that was replaced.
_loaded: dict[int, ctypes.CDLL] = {}


# -- What PyTorch may know of a call without its data: shapes and types, also symbolic ones --

def fake_results(family: Family, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Empty tensors of the shapes and types that the operator returns; ValueError as a call of it would raise."""
    op = family.op
    known = [placeholder(op.tensors[n].dtype.kind) if n in family.boxed else v
             for n, v in zip(op.parameters, given, strict=False)]  # fmt: skip
    try:
        own, shapes = result_shapes(family, [*known, *given[len(known) :]], named, _non_negative)
    except CallError as error:
        raise ValueError(str(error)) from None
    device = _device_of(family, given)
    types = [getattr(torch, own.tensors[name].dtype.name) for name in op.outputs]
    results = [torch.empty(s, dtype=t, device=device) for s, t in zip(shapes, types, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _device_of(family: Family, given: Sequence[Any]) -> torch.device:
    """Where the tensors of a call are; RuntimeError unless that is one place.  A number may come from anywhere."""
    op = family.op
    updated = [name for name in op.outputs if op.tensors[name].role == "inout"]
    tensors = [(n, v) for n, v in zip((*op.parameters, *updated), given, strict=False) if isinstance(v, torch.Tensor)]
    arrays = [(name, tensor) for name, tensor in tensors if name not in family.boxed] or tensors
    for name, tensor in arrays[1:]:
        if tensor.device != arrays[0][1].device:
            expected = f"expected a tensor on {arrays[0][1].device}"
            raise RuntimeError(f"{op.name}: {name} is on {tensor.device}; {expected}")
    return arrays[0][1].device if arrays else torch.device("cpu")


def _non_negative(extent: Any) -> Any:
    return torch.sym_max(0, extent)
