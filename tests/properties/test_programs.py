"""Random programs, each through every schedule, on every compiler, against the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.properties.alone import elsewhere
from tests.properties.batches import Compiler
from tests.properties.campaign import Batch, Tally, target_of, written
from tests.support import PROFILE, examples

pytestmark = [pytest.mark.slow] if PROFILE != "quick" else []
Commands = dict[str, tuple[str, ...]]
BATCH = 40


def seeds(programs: int) -> Iterator[range]:
    """Batches of seeds; the thousands digit numbers the batch."""
    for number, start in enumerate(range(0, programs, BATCH)):
        yield range(1000 * number, 1000 * number + min(BATCH, programs - start))


def pair(number: int, commands: Commands, parallel: str) -> list[Compiler]:
    """Two compilers: one that optimises (for every eighth batch as a user's kernel is), one that does not."""
    best = "gcc" if parallel == "openmp" else "clang"
    first, *others = sorted(commands, key=lambda name: (name != best, name == "zig", name))
    second = others[-1 if number % 4 == 3 else 0] if others else first
    levels = {second: "-O0", first: "-O3" if number % 8 == 5 else "-O1"}
    return [Compiler(commands[n], at, parallel == "openmp" and n == "gcc") for n, at in levels.items()]


def campaign(programs: int, commands: Commands, folder: Path) -> Tally:
    """While one batch is compiled, the next is written."""
    tally, before = Tally(), None
    for number, batch in enumerate(seeds(programs)):
        found = [way for seed in batch for way in written(seed, tally)]
        compilers = pair(number, commands, target_of(batch.start).parallel)
        started = Batch(found, compilers, folder / f"batch{number}").start() if found else None
        if before is not None:
            before.finish(tally)
        before = started
    if before is not None:
        before.finish(tally)
    return tally


def test_compiled_programs_equal_the_oracle(compilers, tmp_path, monkeypatch, report, request):
    """naive, isl's, the default recipe's and random schedules; specialised and symbolic; every memory layout."""
    if elsewhere(request, report):
        return
    monkeypatch.setattr("workbench.schedules.recipes.threads.SMALL", 24)  # so that small programs use threads too
    tally = campaign(examples(quick=40, ci=240, full=6000), compilers, tmp_path)
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
