"""The C between XLA and our kernels: compiled once for each version of XLA's interface, and loaded."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import jax

from workbench.errors import BuildError
from workbench.export.dispatch import Source, linked, runtime_file
from workbench.export.hosts import host_file
from workbench.runtime.discovery import preferred_toolchain

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
