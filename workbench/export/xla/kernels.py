"""The kernels of an operator as XLA knows them: a target of its own name, and a number that says what it computes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from workbench.errors import BuildError
from workbench.export.dispatch import Family, Source, linked, runtime_file
from workbench.export.hosts import host_file, hosted
from workbench.records import record
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.entries import content_key
from workbench.runtime.host.locks import Lock

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


# -- The C between XLA and our kernels: compiled once for each version of XLA's interface, and loaded --

NAME = "workbench_jax"
OLDEST = (0, 10)
INTERFACE = "xla/ffi/api/c_api.h"


@cache
def glue() -> Any:
    """The loaded library; BuildError without a C compiler, or with its words."""
    if tuple(map(int, jax.__version__.split(".")[:2])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise BuildError(f"functions are exported to JAX {needed} or a newer one; this is {jax.__version__}")
    sources = {n: Path(__file__).with_name(n).read_text(encoding="utf-8") for n in ("glue.c", "lending.c")}
    sources["dispatch.c"] = runtime_file("dispatch.c")
    headers = {"dispatch.h": runtime_file("dispatch.h"), "host.h": host_file("host.h")}
    headers["lending.h"] = Path(__file__).with_name("lending.h").read_text(encoding="utf-8")
    headers["c_api.h"] = (Path(jax.ffi.include_dir()) / INTERFACE).read_text(encoding="utf-8")
    path = linked(NAME, [Source(n, text) for n, text in sources.items()], headers, preferred_toolchain())
    found = ctypes.CDLL(str(path))
    for name, result, arguments in (
        ("implement", ctypes.c_int, [ctypes.c_int64, ctypes.c_void_p]),
        ("workspace", ctypes.c_int64, [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
        ("last_kernel", ctypes.c_char_p, [ctypes.c_int64]),
    ):
        function = getattr(found, f"wb_jax_{name}")
        function.restype, function.argtypes = result, arguments
    return found
