"""A checker with one rule left out is caught: the random programs and steps are wild enough for every rule."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.properties.legality_campaign import Tally, campaign
from tests.properties.mutants import MUTANTS
from tests.support import examples

PATIENCE = examples(quick=150, ci=200, full=2000)  # seeds


def memos() -> Iterator[object]:
    """Everything the rooms of legality remember (isl's own texts stay: no mutant changes what they mean)."""
    for name, module in list(sys.modules.items()):
        rooms = name.startswith(("workbench.poly", "workbench.schedules")) and name != "workbench.poly.sets.isl"
        if rooms and isinstance(module, ModuleType):
            yield from (v for v in vars(module).values() if hasattr(v, "cache_clear"))


@pytest.fixture(autouse=True)
def fresh_verdicts() -> Iterator[None]:
    """No verdict of a mutant is remembered, nor one of the real checker during its turn."""
    for memo in memos():
        memo.cache_clear()
    yield
    for memo in memos():
        memo.cache_clear()


def caught(first: int) -> int | None:
    """The seed at which a disagreement shows; crashes do not count."""
    for seed in dict.fromkeys((first, *range(PATIENCE))):
        tally = Tally()
        campaign(seed, tally)
        if any("crashed:" not in failure.splitlines()[0] for failure in tally.failures):
            return seed
    return None


@pytest.mark.parametrize("name", MUTANTS)
def test_a_checker_without_one_rule_is_caught(name, monkeypatch, report):
    mutant = MUTANTS[name]
    monkeypatch.setattr(mutant.module, mutant.attribute, mutant.make(getattr(mutant.module, mutant.attribute)))
    seed = caught(mutant.seed)
    assert seed is not None, f"nobody noticed that {name}"
    if seed != mutant.seed:
        report(f"{name}: seed {seed} notices, {mutant.seed} no longer")
