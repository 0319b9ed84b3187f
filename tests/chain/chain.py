"""From a seed to verdicts: every schedule, compiled with exactly the flags that users get, on 1 and 2 threads."""

from __future__ import annotations

import ctypes
import subprocess
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from tests.chain.c_values import Rounded, Undefined
from tests.chain.subjects import subject
from tests.properties.batches import call, complaint, run_apart, unit
from tests.properties.inputs import Problem
from tests.properties.ways import Way, ways
from workbench.errors import BudgetExceeded, CallError, LoweringError, OperatorError
from workbench.poly import budget
from workbench.runtime.toolchain import Toolchain
from workbench.target import Target

OPERATIONS = 1_000_000  # of isl, for one question about one program
THREADS = (1, 2)
REFUSALS = (OperatorError, CallError, LoweringError, BudgetExceeded, Rounded, Undefined)
SEEN = "#pragma GCC visibility push(default)\n"
"""Users' flags hide names; here kernels are called by theirs."""


@dataclass(frozen=True)
class Users:
    """A compiler with the flags that users get for a target; `more` stands behind them, to plant a fault."""

    toolchain: Toolchain
    target: Target
    more: tuple[str, ...] = ()

    def start(self, source: Path, library: Path) -> subprocess.Popen[str]:
        """Compile in a process of its own."""
        chain = self.toolchain
        command = [*chain.command, *chain.flags(self.target), *self.more, "-o", library, source, *chain.libraries]
        return subprocess.Popen(
            list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def __str__(self) -> str:
        return f"{self.toolchain.name} {' '.join(self.toolchain.flags(self.target))} {' '.join(self.more)}".strip()


@dataclass(frozen=True)
class Wrong:
    """One kernel of one program that differs: `str` is all one needs to see it again."""

    seed: int
    way: Way
    compiler: Users
    complaint: str

    def __str__(self) -> str:
        kernel = self.way.kernel
        steps = kernel.schedule.steps()  # type: ignore[attr-defined]
        head = f"seed {self.seed}, {self.way.name}, {self.compiler}: {self.complaint}"
        return f"{head}\n{self.way.problem.case}\nstrides {self.way.strides}\n{steps}\n{kernel.source[-4000:]}"


def target_of(number: int, toolchain: Toolchain) -> Target:
    """The machine that a batch is written for (helpers differ from one to the next)."""
    random = Random(number)
    threads = random.choice(("openmp", "openmp", "pool")) if toolchain.openmp else "pool"
    return Target(parallel=threads, vector_bits=random.choice((128, 256, 256, 512)))


def kernels_of(made: Problem, target: Target, random: Random, counts: Counter[str], prefix: str) -> list[Way]:
    """The kernels of a program, each text once."""
    found: dict[str, Way] = {}
    for way in ways(made, target, random, counts, prefix):
        text = way.kernel.source.replace(way.kernel.name, "").split("*/", 2)[-1]
        found.setdefault(text, way)
    return list(found.values())


def written(seed: int, target: Target, counts: Counter[str]) -> list[Way]:
    """Every kernel of the program of a seed; none where it is refused or has no one right answer."""
    counts["written"] += 1
    try:
        with budget(OPERATIONS):
            found = kernels_of(subject(seed), target, Random(seed), counts, f"f{seed}")
    except REFUSALS as reason:
        counts[f"refused: {type(reason).__name__}"] += 1
        return []
    counts["programs"] += 1
    counts["kernels"] += len(found)
    return found


def judged(found: list[tuple[int, Way]], compiler: Users, place: Path, counts: Counter[str]) -> list[Wrong]:
    """Compile kernels together, run each in a child, and say which differ."""
    if not found:
        return []
    source, library = place.with_suffix(".c"), place.with_suffix(".so")
    source.write_text(SEEN + unit([way.kernel for _, way in found]), encoding="utf-8")
    trouble = complaint(compiler.start(source, library))
    if not trouble:
        return _run(found, compiler, library, counts)
    if len(found) == 1:
        counts["not compiled"] += 1
        return [Wrong(*found[0], compiler, f"does not compile: {trouble[:2000]}")]
    half = len(found) // 2
    parts = (found[:half], found[half:])
    return [w for n, part in enumerate(parts) for w in judged(part, compiler, Path(f"{place}{n}"), counts)]


def _run(found: list[tuple[int, Way]], compiler: Users, library: Path, counts: Counter[str]) -> list[Wrong]:
    """Every kernel on one thread, and on two where it has a parallel loop."""
    jobs = [(seed, way, threads) for seed, way in found for threads in THREADS if threads == 1 or _parallel(way)]
    counts["runs"] += len(jobs)
    tasks = [partial(_called, library, way, threads) for _, way, threads in jobs]
    answers = run_apart(tasks, library.with_suffix(".log"))
    return [
        Wrong(seed, way, compiler, f"on {threads} threads, {'; '.join(answer)}")
        for (seed, way, threads), answer in zip(jobs, answers, strict=True)
        if answer
    ]


def _called(library: Path, way: Way, threads: int) -> list[str]:
    return call(ctypes.CDLL(str(library)), way, threads)


def _parallel(way: Way) -> bool:
    return "parallel" in way.kernel.source or "wb_run" in way.kernel.source


def tested(
    number: int, seeds: range, compiler: Users, folder: Path, counts: Counter[str]
) -> list[Wrong]:
    """What is wrong with the programs of some seeds on one compiler."""
    found = [(seed, way) for seed in seeds for way in written(seed, compiler.target, counts)]
    return judged(found, compiler, folder / f"batch{number}", counts)
