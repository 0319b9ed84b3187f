"""The kernels of an operator as XLA knows them: a target of its own name, and a number that says what it computes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from workbench.export.dispatch import Family
from workbench.export.hosts import hosted
from workbench.export.xla.glue import glue
from workbench.records import record
from workbench.runtime.entries import content_key
from workbench.runtime.locks import Lock

_HEXADECIMAL_DIGITS = 15  # of a number that 64 bits with a sign hold


@record(eq=False)
class Kernels:
    """An operator for one choice of element types.

    `definition` stays the same from process to process: compiled programs that were kept name what they call by it.
    """

    name: str
    family: Family
    definition: int

    @property
    def target(self) -> str:
        """What XLA calls it."""
        return f"workbench.{self.name}"

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the arrays that it takes, in order: the parameters that are data, then what is updated."""
        return (*self.family.inputs, *self.family.updated)

    def workspace_bytes(self, shapes: Sequence[Sequence[int]], sizes: Sequence[int], threads: int) -> int:
        """What a call takes beside its arrays, whose shapes are those of the operands and then of the results."""
        dimensions = np.array([*(d for shape in shapes for d in shape), 0], np.int64)
        known = np.array([*sizes, 0], np.int64)
        return glue().wb_jax_workspace(self.definition, dimensions.ctypes.data, known.ctypes.data, threads)

    def last_kernel(self) -> str:
        """What the kernel that ran last was made for."""
        return glue().wb_jax_last_kernel(self.definition).decode()


def implemented(name: str, family: Family) -> Kernels:
    """Compile the kernels of a family; programs that were compiled for the same definition call these from now on."""
    library = hosted(family)
    kernels = Kernels(name, family, _definition(name, family))
    with _lock:
        if glue().wb_jax_implement(kernels.definition, ctypes.cast(library.wb_open, ctypes.c_void_p)):
            raise MemoryError(f"no memory to register {name}")
        _loaded.append(library)
        jax.ffi.register_ffi_target(kernels.target, jax.ffi.pycapsule(glue().wb_jax_handler), platform="cpu")
    return kernels


_lock = Lock()
# Libraries stay loaded: calls of another thread may still run in one that was replaced.
_loaded: list[Any] = []


def _definition(name: str, family: Family) -> int:
    op = family.op
    types = [(n, op.tensors[n].dtype.name) for n in (*family.inputs, *op.outputs)]
    return int(content_key("jax", name, op.language, op.text, types)[:_HEXADECIMAL_DIGITS], 16)
