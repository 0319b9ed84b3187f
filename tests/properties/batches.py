"""Many kernels in one library: compiled once, called without the border, in a process that may die."""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import subprocess
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.properties import memory
from tests.properties.inputs import Problem
from tests.properties.memory import Block
from tests.properties.ways import Way
from workbench import lang
from workbench.codegen.c.pool import POOL
from workbench.codegen.kernel import ArrayParameter, Kernel
from workbench.lang.dtypes import DType
from workbench.runtime.compilers.probing import examined
from workbench.runtime.kernels.border import BEFORE_KERNEL
from workbench.target import Target

SECONDS = 120
# A helper may stand in two forms (for wide and narrow registers) under one name.
HELPER = re.compile(r"(?:#if WB_VECTOR_BYTES .*\n)?WB_(?:INLINE|COLD) [\w ]*?\**(wb_\w+)\(")


@dataclass(frozen=True)
class Compiler:
    """A compiler with the flags that users get for a target (without optimisation if `plain`), and `more` of them."""

    command: tuple[str, ...]
    target: Target = field(default_factory=Target)
    plain: bool = False
    more: tuple[str, ...] = ()

    def flags(self) -> tuple[str, ...]:
        return (*examined(self.command).flags(self.target, self.plain), "-fvisibility=default", *self.more)

    def start(self, source: Path, library: Path) -> subprocess.Popen[str]:
        """Compile in a process of its own."""
        ends = ("-o", str(library), str(source), *examined(self.command).libraries)
        command = [*self.command, *self.flags(), *ends]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def __str__(self) -> str:
        return f"{' '.join(self.command)} {' '.join(self.flags())}"


def complaint(process: subprocess.Popen[str]) -> str:
    """Wait for a compiler; what it had to say if it failed, else an empty text."""
    _, text = process.communicate(timeout=600)
    return (text or f"exit {process.returncode}") if process.returncode else ""


def unit(kernels: list[Kernel]) -> str:
    """One C file with all kernels; what they share stands in it once."""
    chunks: dict[str, str] = {}
    pool = any(POOL in k.source for k in kernels)
    for kernel in kernels:
        text = kernel.source.replace(POOL, "")
        text = re.sub(r"\bwb_body_(\d+)", rf"wb_body_{kernel.signature.function}_\1", text)
        for chunk in text.split("\n\n"):
            helper = HELPER.match(chunk)
            chunks.setdefault(helper[1] if helper else chunk, chunk)
    return BEFORE_KERNEL + (POOL + "\n" if pool else "") + "\n\n".join(chunks.values()) + "\n"


# -- calling -------------------------------------------------------------------------------------------


def call(library: ctypes.CDLL, way: Way, threads: int) -> list[str]:
    """Run one kernel on arrays of its layout; what is wrong with the results."""
    signature, made = way.kernel.signature, way.problem
    blocks = {p.name: place(made, p, way.strides) for p in signature.arrays if not p.by_value}
    pointers = [ctypes.c_void_p(_address(blocks[p.name].array)) for p in signature.arrays if not p.by_value]
    values = [_scalar(made.values[p.name], p.dtype) for p in signature.arrays if p.by_value]
    symbols = [ctypes.c_int64(made.sizes[s]) for s in signature.symbols]
    ask = getattr(library, f"{signature.function}_workspace")
    ask.restype = ctypes.c_int64
    amount = ask(*symbols, ctypes.c_int(threads))
    workspace = memory.poison(amount + 2 * memory.GUARD)
    start = -workspace.ctypes.data % 64 + 64
    run = getattr(library, signature.function)
    status = run(*pointers, *values, *symbols, ctypes.c_void_p(workspace.ctypes.data + start), ctypes.c_int(threads))
    wrong = [f"status {status}"] if status else []
    if (workspace[:start] != 0xFF).any() or (workspace[start + amount :] != 0xFF).any():
        wrong.append("wrote outside its workspace")
    return wrong + [text for p in signature.arrays if not p.by_value for text in judged(made, p, blocks[p.name])]


def judged(made: Problem, parameter: ArrayParameter, block: Block) -> list[str]:
    """What is wrong with one array after the call."""
    if not parameter.is_output:
        return [] if block.untouched() else [f"{parameter.name}: an input was written"]
    wrong = [f"{parameter.name}: wrote outside its elements"] if block.stray() else []
    difference = compare(block.array, made.expected[parameter.name], made.case.bounds.get(parameter.name, 0.0))
    return [*wrong, f"{parameter.name}: {difference}"] if difference else wrong


def compare(found: Any, expected: Any, bound: float) -> str:
    """The first element that is not equal, or further off than the bound."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.dtype.kind not in "biu":
        a, b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore"):
            bad = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound))
    else:
        bad = a != b
    if not bad.any():
        return ""
    place = tuple(int(x) for x in np.argwhere(bad)[0]) if a.ndim else ()
    return f"{int(bad.sum())} of {a.size} wrong, at {place}: {a[place]} instead of {b[place]} (bound {bound:g})"


def place(made: Problem, parameter: ArrayParameter, strides: dict[str, tuple[int, ...]]) -> Block:
    """The array of one parameter, in its layout."""
    shape = tuple(max(0, lang.fold(e, made.sizes)) for e in parameter.shape)
    steps = strides.get(parameter.name, memory.dense(shape))
    values = made.values.get(parameter.name)
    if values is None:
        empty = memory.poison(64).view(parameter.dtype.numpy)[0]
        values = np.full(shape, parameter.dtype.numpy.type(0) if parameter.zero_fill else empty)
    return memory.placed(values, steps)


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0]


def _scalar(value: Any, dtype: DType) -> Any:
    kinds = {"float32": ctypes.c_float, "float64": ctypes.c_double, "bool": ctypes.c_uint8}
    if dtype.name in kinds:
        return kinds[dtype.name](np.asarray(value).item())
    signed = dtype.kind == "int"  # clang takes it for granted that a caller widens by the sign of the type
    sizes = (ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64)
    if not signed:
        sizes = (ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64)
    number = int.from_bytes(np.asarray(value).tobytes(), "little", signed=signed)
    return next(c for c in sizes if ctypes.sizeof(c) == dtype.bytes)(number)


# -- processes -----------------------------------------------------------------------------------------


def run_apart(jobs: list[Callable[[], list[str]]], log: Path) -> list[list[str]]:
    """The answers of all jobs; one that kills its process answers with the signal, the rest goes on."""
    answers: list[list[str]] = []
    while len(answers) < len(jobs):
        log.write_text("")
        child = os.fork()
        if child == 0:
            _child(jobs[len(answers) :], log)
        _, status = os.waitpid(child, 0)
        answers += [json.loads(line) for line in log.read_text().splitlines()]
        if len(answers) < len(jobs):
            answers.append([_end(status)])
    return answers


def _end(status: int) -> str:
    return f"killed by {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else "ended early"


def _child(jobs: list[Callable[[], list[str]]], log: Path) -> None:
    try:
        with log.open("w") as file:
            for job in jobs:
                signal.alarm(SECONDS)
                file.write(json.dumps(_answer(job)) + "\n")
                file.flush()
    finally:
        os._exit(0)


def _answer(job: Callable[[], list[str]]) -> list[str]:
    try:
        return job()
    except Exception:
        return [traceback.format_exc()]
