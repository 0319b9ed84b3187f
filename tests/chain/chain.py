"""From a seed to verdicts: every schedule, compiled with exactly the flags that users get, on 1 and 2 threads."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from tests.chain.c_values import Rounded, Undefined
from tests.chain.subjects import subject
from tests.properties.batches import Compiler, call, complaint, run_apart, unit
from tests.properties.inputs import Problem
from tests.properties.ways import Way, from_isl, lowered, strides, walk
from tests.properties.ways import written as kernel_of
from workbench import schedules
from workbench.errors import BudgetExceeded, CallError, CodegenError, LoweringError, OperatorError
from workbench.poly import budget
from workbench.poly.programs.program import Program
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.schedules import Schedule
from workbench.schedules.transform import applied
from workbench.target import Target

OPERATIONS = 1_000_000  # of isl, for one question about one program
THREADS = (1, 2)
REFUSALS = (OperatorError, CallError, LoweringError, BudgetExceeded, Rounded, Undefined)


@dataclass(frozen=True)
class Wrong:
    """One kernel of one program that differs: `str` is all one needs to see it again."""

    seed: int
    way: Way
    compiler: Compiler
    complaint: str

    def __str__(self) -> str:
        kernel = self.way.kernel
        steps = kernel.schedule.steps()  # type: ignore[attr-defined]
        head = f"seed {self.seed}, {self.way.name}, {self.compiler}: {self.complaint}"
        return f"{head}\n{self.way.problem.case}\nstrides {self.way.strides}\n{steps}\n{kernel.source[-4000:]}"


def target_of(number: int, chains: list[Toolchain]) -> Target:
    """The machine that a batch is written for (helpers differ from one to the next)."""
    random = Random(number)
    wanted = random.choice(("openmp", "pool", "pool"))
    able = wanted == "openmp" and any(c.openmp for c in chains)
    return Target(parallel="openmp" if able else "pool", vector_bits=random.choice((128, 256, 256, 512)))


def programs(made: Problem, layout: dict[str, tuple[int, ...]], random: Random) -> Iterator[tuple[str, Program]]:
    """The program for the sizes at hand or, where that can be said, with its sizes open."""
    if random.random() < 0.4:
        with suppress(LoweringError):
            yield ", symbolic", lowered(made, layout, symbolic=True)
            return
    yield "", lowered(made, layout, symbolic=False)


def schedules_of(
    program: Program, target: Target, random: Random, counts: Counter[str]
) -> Iterator[tuple[str, Schedule]]:
    """The order of the text, and one of the three that change it."""
    naive = schedules.schedule(program)
    yield "naive", naive
    match random.choice(("isl", "default", "random", "random")):
        case "isl":
            fusion = random.choice(("none", "default", "max"))
            tree = from_isl(program, fusion, counts)
            if tree is not None:
                yield f"isl {fusion}", applied(naive, schedules.affine(tree, f"isl, fusion={fusion}"))
        case "default":
            yield "default", schedules.default_schedule(program, target)
        case _:
            yield "random", walk(naive, random, counts)


def kernels_of(made: Problem, target: Target, random: Random, counts: Counter[str], prefix: str) -> Iterator[Way]:
    """Some kernels of a program, in order and not, on arrays laid out in rows or otherwise."""
    layout = strides(made, random) if random.random() < 0.3 else {}
    for sizes, program in programs(made, layout, random):
        for number, (name, schedule) in enumerate(schedules_of(program, target, random, counts)):
            try:
                kernel = kernel_of(f"{prefix}_{number}", schedule, target, unchecked=random.random() < 0.2)
            except CodegenError:
                counts[f"no code: {name.split()[0]}"] += 1
                continue
            counts[name.split()[0]] += 1
            yield Way(f"{name}{sizes}", made, kernel, layout)


def written(seed: int, target: Target, counts: Counter[str]) -> list[Way]:
    """Every kernel of the program of a seed; none where it is refused or has no one right answer."""
    counts["written"] += 1
    try:
        with budget(OPERATIONS):
            found = list(kernels_of(subject(seed), target, Random(seed), counts, f"f{seed}"))
    except REFUSALS as reason:
        counts[f"refused: {type(reason).__name__}"] += 1
        return []
    counts["programs"] += 1
    counts["kernels"] += len(found)
    return found


def judged(found: list[tuple[int, Way]], compiler: Compiler, place: Path, counts: Counter[str]) -> list[Wrong]:
    """Compile kernels together, run each in a child, and say which differ."""
    if not found:
        return []
    source, library = place.with_suffix(".c"), place.with_suffix(".so")
    source.write_text(unit([way.kernel for _, way in found]), encoding="utf-8")
    trouble = complaint(compiler.start(source, library))
    if not trouble:
        return _run(found, compiler, library, counts)
    if len(found) == 1:
        counts["not compiled"] += 1
        return [Wrong(*found[0], compiler, f"does not compile: {trouble[:2000]}")]
    half = len(found) // 2
    parts = (found[:half], found[half:])
    return [w for n, part in enumerate(parts) for w in judged(part, compiler, Path(f"{place}{n}"), counts)]


def _run(found: list[tuple[int, Way]], compiler: Compiler, library: Path, counts: Counter[str]) -> list[Wrong]:
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
