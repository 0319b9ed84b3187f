"""Compiles loops around C helpers and calls them on NumPy arrays."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.codegen.cmath import Helper, in_order, scalar, vector
from workbench.codegen.cmath.catalogue import recipes
from workbench.lang.dtypes import DType

_FLAGS = "-O1 -ffp-contract=fast -fno-math-errno -fno-trapping-math -fwrapv -std=gnu11 -Wall -Wextra -Werror"
FLAGS = tuple(_FLAGS.split())
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Entry:
    """A function to compile, `lanes` at a time."""

    function: str
    dtype: DType
    lanes: int = 1

    @property
    def helper(self) -> Helper:
        helper = scalar(self.function, self.dtype) if self.lanes == 1 else vector(self.function, self.dtype, self.lanes)
        assert helper is not None
        return helper

    @property
    def parameters(self) -> list[str]:
        return recipes(self.dtype)[self.function].parameters.split(",")

    @property
    def loop(self) -> str:
        """A C function that applies the helper to arrays, whole vectors only."""
        types = ["int64_t" if "int64_t" in p else self.dtype.c_name for p in self.parameters]
        result = "int32_t" if recipes(self.dtype)[self.function].result == "int" else self.dtype.c_name
        names = "abcd"[: len(types)]
        arrays = ", ".join(f"const {t} *restrict {n}" for t, n in zip(types, names, strict=True))
        head = f"void loop_{self.helper.name}(long count, {arrays}, {result} *restrict r) {{\n"
        if self.lanes == 1:
            call = ", ".join(f"{n}[i]" for n in names)
            return head + f"    for (long i = 0; i < count; i++) r[i] = {self.helper.name}({call});\n}}\n"
        unaligned = f"{self.helper.name[:3]}{self.helper.name.split('_')[-1]}_u"
        call = ", ".join(f"*(const {unaligned} *)({n} + i)" for n in names)
        step = f"*({unaligned} *)(r + i) = {self.helper.name}({call});"
        return head + f"    for (long i = 0; i + {self.lanes} <= count; i += {self.lanes}) {step}\n}}\n"


def source(entries: Iterable[Entry]) -> str:
    """One C file with the loops of all entries and what they call."""
    listed = list(entries)
    helpers = "".join(h.source for h in in_order(e.helper for e in listed))
    return helpers + "".join(e.loop for e in listed)


def compiled(compiler: Sequence[str], text: str, binary: Path, *options: str) -> Path:
    """The text compiled without a warning, to an object file or a shared library."""
    file = binary.with_suffix(".c")
    file.write_text(text)
    command = [*compiler, *FLAGS, *options, str(file), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return binary


class Library:
    """A compiled set of entries."""

    def __init__(self, compiler: Sequence[str], entries: Iterable[Entry], folder: Path, *options: str) -> None:
        library = compiled(compiler, source(entries), folder / "cmath.so", "-shared", "-fPIC", "-lm", *options)
        self.handle = ctypes.CDLL(str(library))

    def __call__(self, entry: Entry, *arrays: Array) -> Array:
        """The function on arrays of its element type."""
        is_int = recipes(entry.dtype)[entry.function].result == "int"
        result = np.zeros(len(arrays[0]), np.int32 if is_int else entry.dtype.numpy)
        contiguous = [np.ascontiguousarray(a) for a in arrays]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*contiguous, result)]
        getattr(self.handle, f"loop_{entry.helper.name}")(ctypes.c_long(len(result)), *pointers)
        return result
