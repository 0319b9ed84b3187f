"""The library of one operator for a framework that lends it threads and memory: the kernels of this machine."""

from __future__ import annotations

import ctypes
from pathlib import Path

from workbench.errors import BuildError
from workbench.export.dispatch.family import Family
from workbench.export.dispatch.levels import here
from workbench.export.dispatch.objects import Source, linked
from workbench.export.dispatch.parts import part_for
from workbench.export.dispatch.units import RUNTIME_FILES, runtime_file
from workbench.runtime.compilers.discovery import preferred_toolchain

HOST_FILES = ("host.c", "host.h")


def hosted(family: Family) -> ctypes.CDLL:
    """The loaded library, whose `wb_open` takes threads and gives the operator's tables; or BuildError."""
    path = _library(family)
    try:
        return ctypes.CDLL(str(path))
    except OSError as reason:
        raise BuildError(f"{family.op.name}: the library {path.name} cannot be loaded: {reason}") from reason


def host_file(name: str) -> str:
    """The text of one of the files in C that stand between a framework and an operator's library."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _library(family: Family) -> Path:
    part = part_for(family, here())
    texts = {n: runtime_file(n) for n in RUNTIME_FILES} | {n: host_file(n) for n in HOST_FILES}
    sources = [*part.sources, *(Source(n, text) for n, text in texts.items() if n.endswith(".c"))]
    headers = {**part.headers, **{n: text for n, text in texts.items() if n.endswith(".h")}}
    return linked(family.op.name, sources, headers, preferred_toolchain())
