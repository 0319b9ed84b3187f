"""A batch of random programs: written, scheduled, generated, compiled together, run, compared with the oracle."""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from tests.properties.batches import Compiler, call, run_apart, unit
from tests.properties.inputs import problem
from tests.properties.ways import Way, ways
from tests.properties.writer import Writer
from workbench.errors import BudgetExceeded, CallError, LoweringError, OperatorError
from workbench.poly import budget
from workbench.poly.tree import path
from workbench.target import Target

OPERATIONS = 3_000_000  # of isl, for one question about one program


@dataclass(frozen=True)
class Failure:
    """A kernel that does not do what its operator says; `str` is all one needs to look at it."""

    seed: int
    way: Way
    compiler: Compiler
    complaint: str

    def __str__(self) -> str:
        kernel = self.way.kernel
        return "\n".join([
            f"seed {self.seed}, {self.way.name}, {' '.join(self.compiler.command)} {self.compiler.level}: {self.complaint}",
            str(self.way.problem.case),
            f"strides {self.way.strides}, {kernel.target.vector_bits}-bit vectors, {kernel.target.parallel}",
            kernel.source[-6000:],
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
        statements = max(1, c["statements"])
        shares = ", ".join(f"{c[k]} {k} ({100 * c[k] / statements:.0f} %)" for k in ("vectorised", "parallel", "unrolled"))
        return [
            f"programs: {c['programs']} of {c['written']} written; kernels: {c['kernels']}, "
            f"runs: {c['runs']}, compared bit for bit: {c['exact']} outputs of {c['outputs']}",
            f"statements in kernels: {c['statements']}: {shares}; "
            f"vector loops in C: {c['vector loops']}, parallel loops in C: {c['parallel loops']}",
            "refused: " + ", ".join(f"{k} {n}" for k, n in self.refusals.most_common()),
        ]


def batch(seeds: range, target: Target, compilers: list[Compiler], folder: Path, tally: Tally) -> list[Failure]:
    """Run the programs of some seeds; what went wrong."""
    found = [(seed, way) for seed in seeds for way in kernels(seed, target, tally)]
    failures = []
    for number, compiler in enumerate(compilers):
        failures += compiled(found, compiler, folder / f"batch{number}", tally)
    tally.failures += failures
    return failures


def kernels(seed: int, target: Target, tally: Tally) -> Iterator[Way]:
    """Every way of one program that differs from the others."""
    random = Random(seed)
    tally.counts["written"] += 1
    try:
        made = problem(Writer(random).case(f"p{seed}"), random)
        with budget(OPERATIONS):
            found = list(distinct(ways(made, target, random, tally.refusals, f"p{seed}")))
    except (OperatorError, CallError, LoweringError, BudgetExceeded) as reason:
        tally.refusals[type(reason).__name__] += 1
        return
    for way in found:
        note(way, tally.counts)
    yield from found
    tally.counts["programs"] += 1
    tally.counts["outputs"] += len(made.expected)
    tally.counts["exact"] += sum(not made.case.bounds.get(name) for name in made.expected)


def distinct(found: Iterator[Way]) -> Iterator[Way]:
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
    for statement in schedule.program.statements:
        around = {loop.kind for loop in path(schedule.tree, statement.id)}
        counts["statements"] += 1
        counts["vectorised"] += "vector" in around
        counts["parallel"] += "parallel" in around
        counts["unrolled"] += "unroll" in around
    for text in way.kernel.notes:
        number, _, what = text.partition(" ")
        counts[what.partition(" (")[0]] += int(number)


def compiled(found: list[tuple[int, Way]], compiler: Compiler, place: Path, tally: Tally) -> list[Failure]:
    """Compile and run kernels; if the library cannot be made, look for the culprit."""
    source, library = place.with_suffix(".c"), place.with_suffix(".so")
    source.write_text(unit([way.kernel for _, way in found]))
    complaint = compiler(source, library)
    if complaint and len(found) == 1:
        return [Failure(*found[0], compiler, complaint)]
    if complaint:
        half = len(found) // 2
        parts = (found[:half], found[half:])
        return [f for n, part in enumerate(parts) for f in compiled(part, compiler, place.with_name(f"{place.name}{n}"), tally)]
    random = Random(len(found))
    jobs = [partial(opened, library, way, random.choice((1, 2, 3, 7))) for _, way in found]
    answers = run_apart(jobs, place.with_suffix(".log"))
    tally.counts["runs"] += len(jobs)
    return [
        Failure(seed, way, compiler, "; ".join(answer))
        for (seed, way), answer in zip(found, answers, strict=True) if answer
    ]  # fmt: skip


def opened(library: Path, way: Way, threads: int) -> list[str]:
    """Load the library (in the child) and call one kernel."""
    return [f"{text} ({threads} threads)" for text in call(ctypes.CDLL(str(library)), way, threads)]



