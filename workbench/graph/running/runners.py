"""The loop in C that calls the kernels of a program one after the other."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

from workbench.runtime.building import build_target
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.job import Job
from workbench.runtime.compilers.toolchain import Toolchain

Run = Callable[..., int]
"""`(frame, begin, end, threads, nanoseconds) -> failure`; see runner.c."""


def runner() -> Run:
    """The loop, compiled by the compiler that kernels are compiled by."""
    return _runner(preferred_toolchain())


@cache
def _runner(toolchain: Toolchain) -> Run:
    text = Path(__file__).with_name("runner.c").read_text()
    run = load(Job("model_runner", text, toolchain, build_target("c", toolchain), False)).handle.wb_model_run
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    run.restype = number
    run.argtypes = [pointer, number, number, ctypes.c_int, pointer]
    return run
