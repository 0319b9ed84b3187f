"""Random programs, each through every schedule, on every compiler, against the oracle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.properties.alone import elsewhere
from tests.properties.batches import Compiler
from tests.properties.campaign import Batch, Tally, target_of, written
from tests.support import PROFILE, examples
from workbench.schedules.recipes.loops import parallelization as threads
from workbench.schedules.recipes.products import direct_convolution as windows
from workbench.schedules.recipes.products import packing, product_blocks
from workbench.target import Target

pytestmark = [pytest.mark.slow] if PROFILE != "quick" else []
Commands = dict[str, tuple[str, ...]]
BATCH = examples(quick=40, ci=27, full=40)


def seeds(programs: int) -> Iterator[range]:
    """Batches of seeds; the thousands digit numbers the batch."""
    for number, start in enumerate(range(0, programs, BATCH)):
        yield range(1000 * number, 1000 * number + min(BATCH, programs - start))


def pair(number: int, commands: Commands, target: Target) -> list[Compiler]:
    """Two compilers as users have them, for every third batch one of them without optimisation; all in turn."""
    first, *others = sorted(commands)[number % len(commands) :] + sorted(commands)[: number % len(commands)]
    second = [Compiler(commands[others[0]], target, plain=number % 3 == 2)] if others else []
    return [Compiler(commands[first], target), *second]


LIMITS = ((packing, "WORK"), (product_blocks, "REUSE"), (windows, "WORK"), (windows, "DEPTH"))
USUAL = {(module, name): getattr(module, name) for module, name in LIMITS}


def eager(number: int) -> None:
    """Small programs use threads too; those of every other batch are packed wherever that fits."""
    threads.SMALL = 24
    for (module, name), usual in USUAL.items():
        setattr(module, name, 1 if number % 2 else usual)


def share(task: tuple[int, range, Commands, Path]) -> Tally:
    """One batch: written, compiled, run; what fails is text, so that it can be sent."""
    number, batch, commands, folder = task
    eager(number)
    tally, found = Tally(), []
    for seed in batch:
        try:
            found += written(seed, tally)
        except Exception as error:
            tally.failures.append(f"seed {seed}: {type(error).__name__}: {error}")  # type: ignore[arg-type]
    if found:
        compilers = pair(number, commands, target_of(batch.start))
        Batch(found, compilers, folder / f"batch{number}").start().finish(tally)
    tally.failures = [str(f) for f in tally.failures]  # type: ignore[misc]
    return tally


def campaign(programs: int, commands: Commands, folder: Path) -> Tally:
    """Batches side by side, one for each processor; how far it is stands in a file."""
    tasks = [(number, batch, commands, folder) for number, batch in enumerate(seeds(programs))]
    tally = Tally()
    with get_context("spawn").Pool(os.cpu_count(), maxtasksperchild=8) as pool:
        for done, part in enumerate(pool.imap_unordered(share, tasks), 1):
            tally.counts += part.counts
            tally.refusals += part.refusals
            tally.failures += part.failures
            progress = [f"{done} of {len(tasks)} batches", *tally.lines(), *map(str, tally.failures)]
            (folder / "progress.txt").write_text("\n".join(progress))
    return tally


@pytest.mark.slow
def test_compiled_programs_equal_the_oracle(compilers, tmp_path, report, request):
    """naive, isl's, the default recipe's and random schedules; specialised and symbolic; every memory layout."""
    if elsewhere(request, report):
        return
    tally = campaign(examples(quick=40, ci=3 * BATCH, full=6000), compilers, tmp_path)
    for line in tally.lines():
        report(line)
    for failure in tally.failures[:5]:
        report(str(failure))
    assert not tally.failures
    counts = tally.counts
    refused = counts["written"] - counts["programs"]
    assert refused < 0.2 * counts["written"], "most of what is written should be a program"
    assert min(counts["vector loops"], counts["parallel loops"]) > counts["programs"] / 10
    assert counts["exact"] > counts["outputs"] / 2


@pytest.mark.parametrize("name", ["vectorised", "parallel"])
def test_a_summary_names_the_share(name):
    assert name in "\n".join(Tally().lines())
