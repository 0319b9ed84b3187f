"""Kernels for another architecture, executed here by an emulator: `build(schedule, "neon")` on an x86-64.

A cross compiler makes one static program of the kernel and a small `main`; each call starts it under qemu-user with
the arguments in a file, and reads the outputs from another.  That tells whether code is right, not how fast it is.
"""

from __future__ import annotations

import ctypes
import shutil
import struct
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from workbench.codegen import Kernel
from workbench.errors import BuildError, KernelError
from workbench.records import record
from workbench.runtime.arrays.layout import Layout, Slot, layout_of
from workbench.runtime.compilers.probing import compiler_variables, examined
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.processes import run_limited
from workbench.runtime.host.processor import this_processor
from workbench.runtime.kernels.border import Border, with_border
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.kernels.launch_values import sizes_at
from workbench.settings import current
from workbench.target import Target

EMULATOR = "qemu-aarch64"
COMPILER = "aarch64-linux-gnu-gcc"
SVE_COMPILER = ("clang", "--target=aarch64-linux-gnu")
SVE_FLAGS = ("-fno-vectorize", "-fno-slp-vectorize")  # clang 14 crashes now and then; the text has its vectors
ADVICE = "install qemu-user, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, and clang for SVE (packages of Debian)"
RUN_SECONDS = 600.0

_MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Arguments: a file with counts, threads, sizes, scalars, lengths and arrays; a file for status and outputs. */
int main(int count, char **names) {
    FILE *in = fopen(names[1], "rb"), *out = fopen(names[2], "wb");
    int64_t head[3], lengths[WB_BORDER_ALL + 1];
    if (count != 3 || !in || !out || fread(head, 8, 3, in) != 3) return 2;
    int64_t *symbols = calloc(head[0] + 1, 8);
    wb_border_value *values = calloc(WB_BORDER_ALL + 1, 8);
    void *data[WB_BORDER_ALL + 1];
    size_t got = fread(symbols, 8, head[0], in);
    got += fread(values, 8, WB_BORDER_ALL, in) + fread(lengths, 8, WB_BORDER_ALL, in);
    if (got != (size_t)head[0] + 2 * WB_BORDER_ALL) return 3;
    for (int n = 0; n < WB_BORDER_ALL; n++) {
        data[n] = aligned_alloc(64, (lengths[n] + 127) / 64 * 64);
        if (!data[n] || fread(data[n], 1, lengths[n], in) != (size_t)lengths[n]) return 4;
    }
    int64_t status = wb_border_plain(data, values, symbols, (int)head[1]);
    fwrite(&status, 8, 1, out);
    for (int n = WB_BORDER_INPUTS; n < WB_BORDER_ALL; n++) fwrite(data[n], 1, lengths[n], out);
    return fclose(out) ? 5 : 0;
}
"""


@record(slots=True)
class Emulation:
    """What runs programs of another architecture: a cross compiler and an emulator."""

    toolchain: Toolchain
    emulator: str

    def program(self, kernel: Kernel, folder: Path) -> Path:
        """The kernel as a static program; BuildError with the compiler's words if it refuses."""
        text = with_border(kernel.source, kernel.signature) + _MAIN
        (folder / "kernel.c").write_text(text, encoding="utf-8")
        flags = [f for f in self.toolchain.flags(kernel.target) if f not in ("-shared", "-fPIC")]
        flags += SVE_FLAGS if "sve" in kernel.target.isa else ()
        command = (*self.toolchain.command, *flags, "-static", "-pthread", "-o", "kernel", "kernel.c", "-lm")
        done = run_limited(command, current().compile_seconds, folder, compiler_variables())
        if done.code != 0:
            raise BuildError(f"{self.toolchain.name}, for {kernel.name!r}: {done}\n{done.output[:4000]}")
        return folder / "kernel"

    def command(self, program: Path, target: Target, *arguments: str) -> tuple[str, ...]:
        """How a program is run on a processor like the target."""
        wide = f",sve{target.vector_bits}=on" if "sve" in target.isa else ""
        return (self.emulator, "-cpu", f"max{wide}", str(program), *arguments)


@cache
def emulation(*, sve: bool = False) -> Emulation:
    """The cross compiler and the emulator of this machine; BuildError that says what to install."""
    emulator = shutil.which(EMULATOR) or shutil.which(f"{EMULATOR}-static")
    compiler = shutil.which(COMPILER)  # its libraries serve clang, too
    clang = shutil.which(SVE_COMPILER[0])
    if emulator is None or compiler is None or (sve and clang is None) or this_processor().architecture != "x86_64":
        raise BuildError(f"kernels for another architecture run under an emulator: {ADVICE}")
    found = examined((clang,)) if sve and clang is not None else examined((compiler,))
    command = (*found.command, *SVE_COMPILER[1:]) if sve else found.command
    return Emulation(replace(found, command=command, accepted=frozenset()), emulator)


def build_cross(kernel: Kernel, *, threads: int | None = None) -> CompiledKernel:
    """A kernel for another architecture as something to call here.

    Calls take and give what those of any kernel do; each starts the emulator.  BuildError without compiler or
    emulator, KernelError if the program crashes.
    """
    found = emulation(sve="sve" in kernel.target.isa)
    if kernel.target.parallel == "openmp":
        raise BuildError(f"kernel {kernel.name!r} was written for OpenMP; generate it with parallel='pool'")
    home = tempfile.TemporaryDirectory(prefix="workbench-")
    program = found.program(kernel, Path(home.name))

    def plain(data: Any, values: Any, symbols: int, workers: int) -> int:
        sizes = sizes_at(kernel, symbols)
        layout = layout_of(kernel.signature, sizes)
        with tempfile.TemporaryDirectory(prefix="call-", dir=home.name) as folder:
            given, made = Path(folder) / "in", Path(folder) / "out"
            given.write_bytes(_packed(kernel, layout, data, values, workers))
            command = found.command(program, kernel.target, str(given), str(made))
            done = run_limited(command, RUN_SECONDS, Path(folder))
            if done.code != 0:
                raise KernelError(f"{kernel.name} under {EMULATOR} {done}: {done.output[:400]}")
            return _taken(layout, data, made.read_bytes())

    def repeat(data: Any, values: Any, symbols: int, workers: int, times: int) -> int:
        return max((plain(data, values, symbols, workers) for _ in range(times)), default=0)

    notes = (f"compiled by {found.toolchain.name}, executed by {EMULATOR} for a {kernel.target.name} processor",)
    built = CompiledKernel(kernel, Border(None, plain, repeat), program, found.toolchain, notes, None, threads)
    built.home = home  # type: ignore[attr-defined]  # the program lives as long as the kernel
    return built


def _packed(kernel: Kernel, layout: Layout, data: Any, values: Any, workers: int) -> bytes:
    """The file that `main` reads."""
    slots = (*layout.inputs, *layout.outputs)
    symbols = [layout.sizes[s] for s in kernel.signature.symbols]
    lengths = [_length(slot) for slot in slots]
    head = struct.pack(f"=3q{len(symbols)}q", len(symbols), workers, 0, *symbols)
    scalars = struct.pack(f"={len(slots)}Q", *list(values)[: len(slots)])
    bytes_of = [ctypes.string_at(data[n], length) for n, length in enumerate(lengths) if length]
    return b"".join([head, scalars, struct.pack(f"={len(slots)}q", *lengths), *bytes_of])


def _taken(layout: Layout, data: Any, answer: bytes) -> int:
    """The status, after the outputs were put where the caller wants them."""
    (status,), place = struct.unpack("=q", answer[:8]), 8
    for n, slot in enumerate(layout.outputs, len(layout.inputs)):
        length = _length(slot)
        ctypes.memmove(data[n], answer[place : place + length], length)
        place += length
    return status


def _length(slot: Slot | None) -> int:
    """Bytes from the first cell of an array to the end of the last."""
    if slot is None or 0 in slot.shape:
        return 0
    if any(stride < 0 for stride in slot.strides):
        raise KernelError(f"{slot.parameter.name} runs backwards in memory, which an emulated call does not take")
    return sum((n - 1) * s for n, s in zip(slot.shape, slot.strides, strict=True)) + slot.dtype.itemsize
