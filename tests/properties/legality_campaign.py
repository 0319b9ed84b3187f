"""Legality against enumeration on random programs and random steps, as many as one has time for.

    python -m tests.properties.legality_campaign --cases 100000 --workers 2 --journal out.jsonl

The journal takes a line for each block of seeds; a run that finds one goes on where it ended.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from random import Random

from tests.properties.cases import Subject, subject
from tests.properties.judging import Disagreement, judged, repairs
from tests.properties.leads import Lead, kernels, lead, refused
from tests.properties.plain import Unknown
from tests.properties.wild_steps import wild_step
from workbench import schedules
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.schedules import Schedule

WALKS = 5  # step lists tried on a program
LED = 0.2  # of the step lists begin with steps that belong together
LED_PRODUCTS = 0.55
SOUGHT = 0.25  # of them with a step of a kind that is seldom refused, and is
WRONG = 0.35  # of the refused steps are taken all the same, and others follow
REPAIRED = 0.01  # of the refused steps are asked for repairs, which take a second
BLOCK = 40  # seeds between two lines of the journal
NEVER = {  # steps that cannot be illegal, and why
    "add_unit_loop": "one iteration around what there was",
    "atomic": "it orders more, never less",
    "fuse": "the same order in one loop",
    "nontemporal": "no value changes",
    "pad": "what is not neutral does not fit",
    "prefetch": "memory is not changed",
    "replace": "iterations that depend on one another do not fit",
    "split": "the same order in blocks",
    "storage_align": "gaps between rows",
    "transform_layout": "two cells in one place do not fit",
    "unroll": "the same order without a loop",
    "widen": "every number is held",
}
OUTCOMES = ("legal", "illegal", "unproved", "unfounded", "harmless", "unknown", "does not fit")


@dataclass
class Tally:
    """What a campaign has seen: counts by name, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.failures += other.failures

    @property
    def cases(self) -> int:
        return self.counts["cases"]

    def share(self, what: str) -> float:
        return self.counts[what] / max(1, self.cases)

    def of(self, step: str, outcome: str) -> int:
        """How often a step had an outcome, with everything before it legal."""
        return self.counts[f"{step}: {outcome}"]

    def steps(self) -> list[str]:
        """The names of the steps seen."""
        return sorted({name.partition(": ")[0] for name in self.counts if ": " in name})

    def rare(self, enough: int) -> list[str]:
        """Steps that were accepted too seldom, or refused too seldom though they can be, or though they cannot."""

        def seldom(step: str) -> bool:
            refused = self.of(step, "illegal")
            return self.of(step, "legal") < enough or (refused > 0 if step in NEVER else refused < enough)

        return [step for step in self.steps() if seldom(step)]

    def line(self, step: str) -> str:
        """A row of the table, with the reason why a step is never refused."""
        counts = "".join(f"{self.of(step, o):>13}" for o in OUTCOMES)
        return f"{step:22}{counts}" + (f"   never illegal: {NEVER[step]}" if step in NEVER else "")

    def lines(self) -> list[str]:
        """The table at the end of a run."""
        shares = ("refused", "several statements", "reduction, gather or in place", "open sizes", "derived programs")
        return [
            f"{self.cases} cases on {self.counts['programs']} programs, {len(self.failures)} disagreements",
            ", ".join(f"{100 * self.share(s):.1f} % {s}" for s in shares),
            f"{self.counts['repairs']} repairs of {self.counts['asked for repairs']} refused steps, all accepted",
            f"{'':22}" + "".join(f"{o:>13}" for o in OUTCOMES),
            *map(self.line, self.steps()),
        ]


# -- one program -------------------------------------------------------------------------------------------


def campaign(seed: int, tally: Tally) -> None:
    """Some step lists on the program of a seed."""
    found = subject(seed)
    if found is None:
        tally.counts["programs that do not fit"] += 1
        return
    try:
        tries(found, Random(seed), tally, WALKS)
    except Exception:  # a crash is a failure like any other, and the others go on
        tally.failures.append(f"seed {seed} crashed:\n{traceback.format_exc()}")


def tries(found: Subject, random: Random, tally: Tally, walks: int) -> None:
    """Some step lists on one program; each is a case once."""
    tally.counts["programs"] += 1
    naive, seen = schedules.schedule(found.program), set()
    for _ in range(walks):
        try:
            with kernels():
                for after in walk(found, naive, random, tally):
                    if after.trace not in seen:
                        seen.add(after.trace)
                        note(found, after, tally)
        except Unknown:
            tally.counts["programs that cannot be enumerated"] += 1
            return


def walk(found: Subject, schedule: Schedule, random: Random, tally: Tally) -> Iterator[Schedule]:
    """One list of steps: each prefix is a case, judged by the product and by enumeration."""
    for asked in (*_first(found, schedule, random), *[wild_step] * random.choice((1, 2, 2, 3, 4))):
        step = asked(schedule, random)
        if step is None:
            continue
        try:
            after = step.on(schedule)
        except (ScheduleError, BudgetExceeded):
            tally.counts[f"{step.name}: does not fit"] += 1
            continue
        try:
            outcome = judged(found, after, random)
            if outcome == "illegal" and schedule.verdict and random.random() < REPAIRED:
                tally.counts["asked for repairs"] += 1
                tally.counts["repairs"] += repairs(found, schedule, step, random)
        except Disagreement as error:
            tally.failures.append(described(found, after, str(error)))
            return
        if schedule.verdict:
            tally.counts[f"{step.name}: {outcome}"] += 1
        yield after
        if outcome == "legal" or random.random() < WRONG:
            schedule = after


def _first(found: Subject, schedule: Schedule, random: Random) -> list[Lead]:
    """What a list of steps begins with: often nothing in particular."""
    chosen = random.random()
    if chosen < (LED_PRODUCTS if found.op.name == "product" else LED):
        return lead(found.op.name, random)
    if chosen > 1 - SOUGHT:
        return [lambda *_, step=step: step for step in refused(schedule, random)]
    return []


def note(found: Subject, after: Schedule, tally: Tally) -> None:
    """What kind of case it was."""
    counts = tally.counts
    counts["cases"] += 1
    counts["refused"] += after.verdict.outcome == "illegal"
    counts["several statements"] += len(list(found.op.statements())) > 1
    counts["reduction, gather or in place"] += found.special
    counts["open sizes"] += bool(found.program.symbols)
    counts["derived programs"] += after.program is not found.program


def described(found: Subject, after: Schedule, error: str) -> str:
    """All one needs to look at a failure."""
    return "\n".join([f"{found.name}, sizes {found.program.sizes}: {error}", after.python(), str(after)])


# -- many programs ------------------------------------------------------------------------------------------


def block(number: int) -> Tally:
    """The seeds of one block."""
    tally = Tally()
    for seed in range(number * BLOCK, (number + 1) * BLOCK):
        campaign(seed, tally)
    return tally


def run(cases: int, workers: int, journal: Path | None = None, seconds: float = 1e9) -> Tally:
    """Blocks of seeds on several processes until there are enough cases or the time is over."""
    total, done, start = Tally(), set(), time.monotonic()
    if journal is not None and journal.exists():
        for line in map(json.loads, journal.read_text().splitlines()):
            done.add(line["block"])
            total.add(Tally(Counter(line["counts"]), line["failures"]))
    numbers = (n for n in range(1 << 30) if n not in done)
    with get_context("spawn").Pool(workers) as pool:
        waiting = [(n, pool.apply_async(block, (n,))) for n, _ in zip(numbers, range(2 * workers), strict=False)]
        while waiting and total.cases < cases and time.monotonic() - start < seconds:
            number, answer = waiting.pop(0)
            tally = answer.get()
            total.add(tally)
            if journal is not None:
                line = {"block": number, "counts": tally.counts, "failures": tally.failures}
                with journal.open("a") as out:
                    out.write(json.dumps(line) + "\n")
            following = next(numbers)
            waiting.append((following, pool.apply_async(block, (following,))))
    return total


def main() -> int:
    """The command line; 1 if something disagreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--minutes", type=float, default=1e6)
    given = parser.parse_args()
    total = run(given.cases, given.workers, given.journal, 60 * given.minutes)
    print("\n\n".join(total.failures[:20]))
    print("\n".join(total.lines()))
    return bool(total.failures)


if __name__ == "__main__":
    sys.exit(main())
