"""A problem: an operator at known sizes and layouts, on a machine; its key says which trials are about one thing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.codegen import as_target
from workbench.errors import ScheduleError
from workbench.lang.expr import Const
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.building import build_target
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.runtime.compilers.gpu_compiling import compiler_version
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.host.machine import thread_count
from workbench.runtime.host.processor import this_processor
from workbench.target import Target
from workbench.wording import number_of


@record
class Problem:
    """What is tuned, and for what.

    `family` is equal for the same operator at other sizes on the same machine, `key` for the same sizes too.  A GPU
    that is `ranked` was not there: estimates are about another problem than measurements, and never mixed with them.
    `elsewhere` is the machine as it was noted where trials were made, of a study that is only looked at.
    """

    program: Program
    target: Target
    toolchain: Toolchain
    threads: int
    ranked: bool = False
    elsewhere: Mapping[str, Any] | None = None

    @property
    def operator(self) -> str:
        """The operator's text in its canonical spelling."""
        return self.program.original.operator

    @property
    def sizes(self) -> dict[str, int]:
        return dict(sorted(self.program.original.sizes.items()))

    @property
    def strides(self) -> dict[str, list[int]]:
        """Elements from one cell to the next of each argument."""
        start = self.program.original
        own = {n: a for n, a in start.arrays.items() if n in start.parameters or n in start.outputs}
        return {n: [int(s.value) for s in a.strides if isinstance(s, Const)] for n, a in sorted(own.items())}

    @property
    def machine(self) -> dict[str, Any]:
        """What measured times depend on beside the code."""
        if self.elsewhere is not None:
            return dict(self.elsewhere)
        here, target = this_processor(), self.target
        if target.language.for_gpu:
            return self._gpu
        return {
            "processor": here.model, "architecture": here.architecture, "isa": sorted(target.isa),
            "vector_bits": target.vector_bits, "threads": self.threads, "parallel": target.parallel,
            "dialect": target.dialect, "compiler": f"{self.toolchain.family} {self.toolchain.version}",
        }  # fmt: skip

    @property
    def _gpu(self) -> dict[str, Any]:
        gpu = self.target.device
        name = gpu.name if self.target.gpu is not None else f"any, as {gpu.name}"
        return {
            "gpu": name, "architecture": self.target.march, "dialect": self.target.dialect,
            "compiler": compiler_version(), "seconds": "estimated" if self.ranked else "measured",
        }  # fmt: skip

    @property
    def family(self) -> str:
        return _digest([self.operator, self.machine])

    @property
    def key(self) -> str:
        return _digest([self.operator, self.machine, self.sizes, self.strides])

    def __str__(self) -> str:
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        if self.target.language.for_gpu:
            return (
                f"{self.program.original.name}({sizes}) on {'no GPU, for ' if self.ranked else ''}{self.machine['gpu']}"
            )
        threads = number_of(self.threads, "thread")
        processor = f" of {self.machine['processor']}" if self.elsewhere is not None else ""
        return f"{self.program.original.name}({sizes}) on {threads}{processor}"


def problem_of(program: Program, target: str | Target, *, ranked: bool = False) -> Problem:
    """The problem of a program, all of whose sizes are bound, on this machine, or for a GPU.

    BuildError without a compiler.
    """
    start = program.original
    if start.symbols:
        missing = ", ".join(f'"{name}": ...' for name in start.symbols)
        raise ScheduleError(
            f"autotune measures calls, so every size needs a value; {', '.join(start.symbols)} of {start.name} "
            f"have none: give sizes={{{missing}}}"
        )
    toolchain = preferred_toolchain()
    threads = thread_count()
    if target != "c" and as_target(target).language.for_gpu:
        compiler_version()
        return Problem(program, as_target(target), toolchain, threads, ranked)
    machine = build_target(target, toolchain)
    return Problem(program, replace(machine, cores=threads), toolchain, threads)


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
