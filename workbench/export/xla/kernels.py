"""The kernels of an operator as XLA knows them: a target of its own name, and a number that says what it computes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from workbench.errors import BuildError, WorkbenchError
from workbench.export.cuda import at_hand
from workbench.export.cuda.library import gpu_file
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
        return ffi_library().wb_jax_workspace(self.definition, dimensions.ctypes.data, known.ctypes.data, threads)

    def last_kernel(self, *, on_gpu: bool = False) -> str:
        """What the kernel that ran last, or was started last on a GPU, was made for."""
        return ffi_library().wb_jax_last_kernel(self.definition, on_gpu).decode()


def implemented(name: str, family: Family) -> Kernels:
    """Compile the kernels of a family; programs that were compiled for the same definition call these from now on."""
    library = hosted(family)
    kernels = Kernels(name, family, _definition(name, family))
    with _lock:
        if ffi_library().wb_jax_implement(kernels.definition, ctypes.cast(library.wb_open, ctypes.c_void_p)):
            raise MemoryError(f"no memory to register {name}")
        _loaded.append(library)
        _newest[kernels.definition] = kernels
        register(kernels.target)
    return kernels


@cache
def register(target: str) -> None:
    """Tell XLA whom it calls on processors and on GPUs."""
    for platform, handler in (("cpu", ffi_library().wb_jax_handler), ("CUDA", ffi_library().wb_jax_gpu_handler)):
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(handler), platform=platform)


_lock = Lock()
# Libraries stay loaded: calls of another thread may still run in one that was replaced.
_loaded: list[Any] = []
# The kernels of each definition that were exported last.
_newest: dict[int, Kernels] = {}


def _definition(name: str, family: Family) -> int:
    op = family.op
    types = [(n, op.tensors[n].dtype.name) for n in (*family.inputs, *op.outputs)]
    return int(content_key("jax", name, op.language, op.text, types)[:_HEXADECIMAL_DIGITS], 16)


# -- On a GPU: kernels are made for the one at hand, when a call first wants them --

_making = Lock()
_on_gpu: dict[Kernels, Any] = {}
PREPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int)


@PREPARE
def prepare(definition: int, number: int) -> int:
    """Called when a definition is first wanted on a GPU: makes its kernels, or says why there are none."""
    kernels = _newest[definition]
    try:
        library = _made_on_gpu(kernels, number)
    except Exception as reason:  # an exception cannot pass through C; XLA reports it
        text = str(reason) if isinstance(reason, WorkbenchError) else f"{type(reason).__name__}: {reason}"
        ffi_library().wb_jax_not_on_gpu(definition, f"{kernels.name}: {text}".encode())
        return 1
    with _lock:
        if _newest[definition] is kernels:  # the operator may have been exported anew in the meantime
            ffi_library().wb_jax_implement_on_gpu(definition, ctypes.cast(library.wb_open, ctypes.c_void_p))
    return 0


def _made_on_gpu(kernels: Kernels, number: int) -> Any:
    if kernels.family.gpu is None:
        raise BuildError("it was exported for processors; wb.export.jax(..., gpu=True) has kernels for GPUs too")
    with _making:
        if kernels not in _on_gpu:
            _on_gpu[kernels] = at_hand.library_for(kernels.family, number)
        return _on_gpu[kernels]


# -- The C between XLA and our kernels: compiled once for each version of XLA's interface, and loaded --

NAME = "workbench_jax"
FILES = ("calls.h", "lending.h", "arguments.c", "glue.c", "gpu_calls.c", "lending.c")
OLDEST = (0, 10)
INTERFACE = "xla/ffi/api/c_api.h"


@cache
def ffi_library() -> Any:
    """The loaded library; BuildError without a C compiler, or with its words."""
    if tuple(map(int, jax.__version__.split(".")[:2])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise BuildError(f"functions are exported to JAX {needed} or a newer one; this is {jax.__version__}")
    own = {n: Path(__file__).with_name(n).read_text(encoding="utf-8") for n in FILES}
    sources = {n: text for n, text in own.items() if n.endswith(".c")} | {"dispatch.c": runtime_file("dispatch.c")}
    headers = {n: text for n, text in own.items() if n.endswith(".h")}
    headers |= {"dispatch.h": runtime_file("dispatch.h"), "host.h": host_file("host.h"), "gpu.h": gpu_file("gpu.h")}
    headers["c_api.h"] = (Path(jax.ffi.include_dir()) / INTERFACE).read_text(encoding="utf-8")
    path = linked(NAME, [Source(n, text) for n, text in sources.items()], headers, preferred_toolchain())
    found = ctypes.CDLL(str(path))
    for name, result, arguments in (
        ("implement", ctypes.c_int, [ctypes.c_int64, ctypes.c_void_p]),
        ("workspace", ctypes.c_int64, [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]),
        ("last_kernel", ctypes.c_char_p, [ctypes.c_int64, ctypes.c_int]),
        ("prepare_with", None, [PREPARE]),
        ("implement_on_gpu", None, [ctypes.c_int64, ctypes.c_void_p]),
        ("not_on_gpu", None, [ctypes.c_int64, ctypes.c_char_p]),
    ):
        function = getattr(found, f"wb_jax_{name}")
        function.restype, function.argtypes = result, arguments
    found.wb_jax_prepare_with(prepare)
    return found
