"""Threads, barriers and atomic updates on random programs, and checkers that lack one of their rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.properties.cases import subject
from tests.properties.judging import Disagreement, judged
from tests.properties.mutants import Mutant, always
from tests.properties.plain import Unknown
from tests.properties.test_mutants import memos
from tests.properties.wild_steps import wild
from tests.support import examples
from workbench import schedules
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.poly.dependence import violations
from workbench.poly.programs.tree import statements
from workbench.poly.time import barrier_order as waiting
from workbench.poly.time import concurrency
from workbench.schedules import legality

SEEDS = examples(quick=20, ci=40, full=3000)
PATIENCE = examples(quick=150, ci=150, full=1000)
ORDERS = ("parallelize", "merge", "merge", "interchange", "stage")
KINDS = ("bind", "bind", "barrier", "barrier", "barrier", "atomic", *ORDERS)


def walk(seed: int, counts: Counter[str]) -> None:
    """Up to six steps on the program of a seed, each judged by the product and by enumeration."""
    found, random = subject(seed), Random(seed)
    if found is None:
        return
    schedule = schedules.schedule(found.program)
    for _ in range(6):
        try:
            step = wild(random.choice(KINDS), schedule, random)
            after = None if step is None else step.on(schedule)
            if step is None or after is None:
                continue
            outcome = judged(found, after, random)
        except (ScheduleError, BudgetExceeded, Unknown):
            continue
        counts[f"{step.name} {outcome}"] += 1
        counts["divergent"] += after.verdict.reason.startswith("divergent")
        if outcome == "legal" or random.random() < 0.7:  # a barrier may make it legal again
            schedule = after


def test_threads_and_barriers_are_judged_as_enumeration_finds(report) -> None:
    counts: Counter[str] = Counter()
    for seed in range(SEEDS):
        walk(seed, counts)
    report(", ".join(f"{what} {n}" for what, n in sorted(counts.items())))
    assert all(counts[what] for what in ("barrier legal", "bind legal", "bind illegal", "atomic legal"))


def everything(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tree: frozenset(statements(tree))


def turned(original: Callable[..., Any]) -> Callable[..., Any]:
    """Before is after."""

    def parted(program: Any, tree: Any, source: str, target: str, depth: int) -> Any:
        found = original(program, tree, target, source, depth)
        return None if found is None else found.reverse()

    return parted


MUTANTS = {
    "barriers order nothing": Mutant(violations, "ordered_by_barriers", always(None), 47),
    "barriers order backwards": Mutant(violations, "ordered_by_barriers", turned, 47),
    "blocks wait for one another": Mutant(concurrency, "is_block", always(False), 128),
    "every update is atomic": Mutant(violations, "atomic_statements", everything),
    "no update is atomic": Mutant(violations, "atomic_statements", always(frozenset()), 137),
    "threads never race": Mutant(violations, "at_once", always(False)),
    "nobody looks for divergent barriers": Mutant(legality, "divergent", always(""), 26),
    "every barrier stands at the end of what it is before": Mutant(waiting, "_side", lambda original:
        lambda program, tree, number, statement, sign: original(program, tree, number, statement, sign)
        if statement not in concurrency.barriers(tree)[number].behind
        else original(program, tree, number, statement, "<>".replace(sign, "")), 47),
}  # fmt: skip


def patiently(first: int) -> None:
    """Walks until one disagrees."""
    for seed in dict.fromkeys((first, *range(PATIENCE))):
        walk(seed, Counter())


@pytest.mark.parametrize("name", MUTANTS)
def test_a_checker_without_one_rule_of_threads_is_caught(name: str, monkeypatch) -> None:
    mutant = MUTANTS[name]
    for memo in memos():
        memo.cache_clear()  # type: ignore[attr-defined]
    monkeypatch.setattr(mutant.module, mutant.attribute, mutant.make(getattr(mutant.module, mutant.attribute)))
    try:
        with pytest.raises(Disagreement):
            patiently(mutant.seed)
    finally:
        monkeypatch.undo()
        for memo in memos():
            memo.cache_clear()  # type: ignore[attr-defined]
