"""Many programs through the whole chain: a process for each core, a journal that a later run continues.

    python -m tests.chain.campaign --programs 20000 --journal chain.jsonl

The journal has a line for each batch (appended, never changed); what is wrong stands in it, with what shrinking left.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.chain.chain import Wrong, judged, target_of, written
from tests.chain.shrinking import shrunk
from tests.properties.batches import Compiler
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.schedules.recipes.loops import parallelization as threads

BATCH = 40


@dataclass(frozen=True)
class Task:
    """One batch of seeds; `families` are the compilers wanted, `more` the flags that plant a fault."""

    number: int
    families: tuple[str, ...] = ("gcc", "clang", "zig")
    more: tuple[str, ...] = ()
    programs: int = BATCH
    shrink: bool = True


@dataclass(frozen=True)
class Outcome:
    """What became of a batch: counts, and a text for each kernel that was wrong."""

    number: int
    counts: Counter[str]
    wrong: list[str]

    @property
    def line(self) -> str:
        """As it stands in the journal."""
        return json.dumps({"batch": self.number, "counts": dict(self.counts), "wrong": self.wrong})


def compilers(task: Task) -> list[Compiler]:
    """The compilers of a batch, which share one target: where that says OpenMP, those that have it."""
    chains = [c for c in every_toolchain() if c.family in task.families]
    target = target_of(task.number, chains)
    return [Compiler(c.command, target, more=task.more) for c in chains if target.parallel != "openmp" or c.openmp]


def outcome(task: Task) -> Outcome:
    """Write, schedule, generate, compile, run and compare the programs of a batch."""
    threads.SMALL = 24  # small programs use threads too
    counts: Counter[str] = Counter()
    chains = compilers(task)
    first = task.number * BATCH
    found = []
    for seed in range(first, first + task.programs):
        found += [(seed, way) for way in written(seed, chains[0].target, counts)]
    wrong: list[Wrong] = []
    with tempfile.TemporaryDirectory() as folder:
        for chain in chains:
            name = Path(chain.command[0]).name if len(chain.command) == 1 else "zig"
            counts[f"kernels on {name}"] += len(found)
            wrong += judged(found, chain, Path(folder) / name, counts)
        texts = [f"{w}\n{shrunk(w, Path(folder)) if task.shrink and n < 2 else ''}" for n, w in enumerate(wrong)]
    return Outcome(task.number, counts, texts)


def outcomes(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """The batches as they are finished, each in a process that has run nothing in parallel before."""
    with get_context("spawn").Pool(workers, maxtasksperchild=4) as pool:
        yield from pool.imap_unordered(outcome, tasks)


def recorded(journal: Path) -> list[Outcome]:
    """The batches of a journal; a line that was cut off counts as not run."""
    found = []
    for line in journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        found.append(Outcome(entry["batch"], Counter(entry["counts"]), entry["wrong"]))
    return found


def summary(found: list[Outcome]) -> str:
    """Programs, kernels, runs and what was wrong."""
    total: Counter[str] = Counter()
    for one in found:
        total += one.counts
    wrong = sum(len(one.wrong) for one in found)
    refused = ", ".join(f"{n} {k.removeprefix('refused: ')}" for k, n in total.items() if k.startswith("refused"))
    on = ", ".join(f"{n} {k.removeprefix('kernels ')}" for k, n in sorted(total.items()) if " on " in k)
    return (f"{total['programs']} programs of {total['written']} written ({refused or 'none refused'}), "
            f"{total['kernels']} kernels ({on}), {total['runs']} runs, {wrong} wrong")  # fmt: skip


def main() -> None:
    """Run what the journal lacks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed (a multiple of 40)")
    parser.add_argument("--journal", type=Path, default=Path("chain.jsonl"))
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--compilers", default="gcc,clang,zig")
    parser.add_argument("--plant", default="", help="flags that make a compiler wrong, to see that it is found")
    given = parser.parse_args()
    done = {one.number for one in recorded(given.journal)}
    numbers = range(given.first // BATCH, -(-(given.first + given.programs) // BATCH))
    families, more = tuple(given.compilers.split(",")), tuple(given.plant.split())
    tasks = [Task(n, families, more) for n in numbers if n not in done]
    with given.journal.open("a", encoding="utf-8") as journal:
        for one in outcomes(tasks, given.workers):
            journal.write(one.line + "\n")
            journal.flush()
            print("\n".join(one.wrong) or f"batch {one.number}: {one.counts['programs']} right", flush=True)
    print(summary(recorded(given.journal)))


if __name__ == "__main__":
    main()
