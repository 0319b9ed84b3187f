"""A checker with one rule left out is caught: the random programs and steps are wild enough for every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from tests.poly.making import Maker
from tests.properties.test_legality import SIZES, compare
from tests.support import examples
from workbench.poly import order
from workbench.poly.flow import KINDS
from workbench.poly.tree import Loop
from workbench.schedules.legality import judge

Patch = tuple[str, Callable[..., Any]]


def without(kind: str) -> Patch:
    """Dependences of one kind are not seen."""
    return "dependences", lambda program: tuple(d for d in original["dependences"](program) if d.kind != kind)


def lenient(kind: str, rule: str | None) -> Patch:
    """Loops of one kind are judged by another rule."""

    def forbidden(loop: Loop, dependence: Any) -> tuple[str | None, str]:
        return (rule, "race") if loop.kind == kind else original["_forbidden"](loop, dependence)

    return "_forbidden", forbidden


original = {name: getattr(order, name) for name in ("dependences", "_forbidden", "collisions")}
MUTANTS: dict[str, Patch] = {f"{kind} dependences are not seen": without(kind) for kind in KINDS} | {
    "parallel loops order their iterations": lenient("parallel", ">"),
    "parallel loops never race": lenient("parallel", None),
    "lanes order their iterations": lenient("vector", ">"),
    "lanes never race": lenient("vector", None),
    "serial loops may run backwards": lenient("serial", None),
    "unrolled loops may run backwards": lenient("unroll", None),
    "lanes of a reduction race": lenient("vector", "!="),
    "reductions keep their order": lenient("serial", ">"),
    "instances may share a time": ("collisions", lambda *_: None),
}


@pytest.fixture(autouse=True)
def fresh_verdicts() -> Iterator[None]:
    """No verdict of a mutant is remembered, nor one of the real checker during its turn."""
    for memo in (judge, order.violations):
        memo.cache_clear()
    yield
    for memo in (judge, order.violations):
        memo.cache_clear()


@pytest.mark.parametrize("name", MUTANTS)
def test_a_checker_without_one_rule_is_caught(name, monkeypatch):
    attribute, replacement = MUTANTS[name]
    monkeypatch.setattr(order, attribute, replacement)
    for seed in range(examples(quick=150, ci=300, full=1500)):
        random = Random(seed)
        try:
            compare(Maker(seed).operator(), random.choice(SIZES), random, {})
        except AssertionError:
            return
    pytest.fail(f"nobody noticed that {name}")
