"""Batches of random programs: written, scheduled, generated, compiled together, run, compared with the oracle."""

from __future__ import annotations

import ctypes
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from tests.properties.batches import Compiler, call, complaint, run_apart, unit
from tests.properties.inputs import Problem, problem
from tests.properties.ways import Way, ways
from tests.properties.writer import Writer
from workbench.errors import BudgetExceeded, CallError, LoweringError, OperatorError
from workbench.poly import budget
from workbench.poly.programs.tree import path
from workbench.target import Target

OPERATIONS = 1_000_000  # of isl, for one question about one program
THREADS = (1, 2, 3, 7)


@dataclass(frozen=True)
class Failure:
    """A kernel that does not do what its operator says; `str` is all one needs to look at it."""

    way: Way
    compiler: Compiler
    complaint: str

    def __str__(self) -> str:
        kernel, way = self.way.kernel, self.way
        return "\n".join([
            f"{kernel.name} ({way.name}), {self.compiler}: {self.complaint}",
            str(way.problem.case),
            f"strides {way.strides}, {kernel.target.vector_bits}-bit vectors, {kernel.target.parallel}",
            kernel.schedule.steps(),  # type: ignore[attr-defined]
            kernel.source[-5000:],
        ])  # fmt: skip


@dataclass
class Tally:
    """What a campaign has seen."""

    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The summary at the end of a run."""
        c = self.counts
        share = {k: f"{c[k]} {k} ({100 * c[k] / max(1, c['statements']):.0f} %)" for k in ("vectorised", "parallel")}
        return [
            f"{c['programs']} programs ({c['written']} written), {c['kernels']} kernels, {c['runs']} runs; "
            f"{c['exact']} of {c['outputs']} outputs compared bit for bit",
            f"{c['statements']} statements in kernels: {', '.join(share.values())}, {c['unrolled']} unrolled; "
            f"in C: {c['vector loops']} vector loops, {c['parallel loops']} parallel loops",
            "refused: " + ", ".join(f"{k} {n}" for k, n in sorted(self.refusals.items())),
        ]


@dataclass
class Batch:
    """Kernels on their way through the compilers."""

    ways: list[Way]
    compilers: list[Compiler]
    place: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self) -> Batch:
        """Write the C file and start every compiler."""
        self.place.with_suffix(".c").write_text(unit([way.kernel for way in self.ways]))
        for number, compiler in enumerate(self.compilers):
            self.processes.append(compiler.start(self.place.with_suffix(".c"), self.library(number)))
        return self

    def library(self, number: int) -> Path:
        return self.place.with_suffix(f".{number}.so")

    def finish(self, tally: Tally) -> None:
        """Wait, run, and note what went wrong."""
        for number, (compiler, process) in enumerate(zip(self.compilers, self.processes, strict=True)):
            trouble = complaint(process)
            if not trouble:
                self.run(number, tally)
            elif len(self.ways) == 1 and "internal compiler error" in trouble:
                tally.refusals[f"{Path(compiler.command[0]).name} crashed"] += 1
            elif len(self.ways) == 1:
                tally.failures.append(Failure(self.ways[0], compiler, trouble))
            else:
                self.halved(number, tally)

    def halved(self, number: int, tally: Tally) -> None:
        """Look for the kernel that a compiler refuses."""
        half = len(self.ways) // 2
        for name, part in (("a", self.ways[:half]), ("b", self.ways[half:])):
            place = self.place.with_name(f"{self.place.name}{number}{name}")
            Batch(part, [self.compilers[number]], place).start().finish(tally)

    def run(self, number: int, tally: Tally) -> None:
        """Call every kernel of a library."""
        random, library = Random(len(self.ways)), self.library(number)
        jobs = [partial(opened, library, way, random.choice(THREADS)) for way in self.ways]
        tally.counts["runs"] += len(jobs)
        for way, answer in zip(self.ways, run_apart(jobs, self.place.with_suffix(".log")), strict=True):
            if answer:
                tally.failures.append(Failure(way, self.compilers[number], "; ".join(answer)))


def opened(library: Path, way: Way, threads: int) -> list[str]:
    """Load the library (in the child) and call one kernel."""
    return [f"{text} ({threads} threads)" for text in call(ctypes.CDLL(str(library)), way, threads)]


# -- programs ------------------------------------------------------------------------------------------


def written(seed: int, tally: Tally) -> list[Way]:
    """Every way of the program of a seed; nothing if it is refused."""
    random = Random(seed)
    tally.counts["written"] += 1
    try:
        with budget(OPERATIONS):
            made = problem(Writer(random).case(f"p{seed}"), random)
            return of_problem(made, target_of(seed), random, tally, f"p{seed}")
    except (OperatorError, CallError, LoweringError, BudgetExceeded) as reason:
        tally.refusals[type(reason).__name__] += 1
        return []


def target_of(seed: int) -> Target:
    """One machine for the seeds of a batch (helpers differ from machine to machine)."""
    random = Random(seed // 1000)
    return Target(parallel=random.choice(("openmp", "pool")), vector_bits=random.choice((128, 256, 256, 512)))


def of_problem(made: Problem, target: Target, random: Random, tally: Tally, prefix: str) -> list[Way]:
    """Every way of one program that differs from the others."""
    found = list(distinct(ways(made, target, random, tally.refusals, prefix)))
    for way in found:
        note(way, tally.counts)
    tally.counts["programs"] += 1
    tally.counts["outputs"] += len(made.expected)
    tally.counts["exact"] += sum(not made.case.bounds.get(name) for name in made.expected)
    return found


def distinct(found: Iterable[Way]) -> Iterator[Way]:
    """Each text once, whatever its comments say."""
    seen = set()
    for way in found:
        text = way.kernel.source.replace(way.kernel.name, "").split("*/", 2)[-1]
        if text not in seen:
            seen.add(text)
            yield way


def note(way: Way, counts: Counter[str]) -> None:
    """What became of the statements of a kernel."""
    counts["kernels"] += 1
    schedule = way.kernel.schedule
    for statement in schedule.program.statements:  # type: ignore[attr-defined]
        around = {loop.kind for loop in path(schedule.tree, statement.id)}  # type: ignore[attr-defined]
        counts["statements"] += 1
        counts["vectorised"] += "vector" in around
        counts["parallel"] += "parallel" in around
        counts["unrolled"] += "unroll" in around
    for text in way.kernel.notes:
        number, _, what = text.partition(" ")
        counts[what.partition(" (")[0]] += int(number) if number.isdigit() else 0
