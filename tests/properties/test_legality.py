"""`check` against the definition of happens-before, on random programs and random steps, most of them illegal."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from tests.poly.making import CELLS, LOWEST, Maker, jacobi, matmul, seidel, tensor
from tests.properties.verdicts import Enumerated
from tests.properties.wild_steps import wild_schedule
from tests.support import examples
from workbench import check, lower, schedules
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Expr, Index, Read
from workbench.lang.operator import Operator, Range


class Gatherer(Maker):
    """Random operators some of whose subscripts are data (`idx`, which enumeration takes as squares modulo 3)."""

    def operator(self) -> Operator:
        self.tensors["idx"] = tensor("idx", "input", CELLS, lower=LOWEST, dtype=INT32)
        made = super().operator()
        return replace(made, tensors={**made.tensors, "idx": self.tensors["idx"]}, text=f"gather {made.text}")

    def subscript(self, ranges: list[Range]) -> Expr:
        if ranges and self.random.random() < 0.2:
            return Read("idx", (Index(self.random.choice(ranges).index),), INT32)
        return super().subscript(ranges)

    def term(self, ranges: list[Range]) -> Expr:
        chosen = self.tensors.pop("idx")
        try:
            return super().term(ranges)
        finally:
            self.tensors["idx"] = chosen


SIZES = ({"N": 3, "M": 2}, {"N": 2, "M": 3}, {"N": 1, "M": 2}, {"N": 3, "M": 3})
TREES = 8  # of each program


def compare(op: Operator, sizes: dict[str, int], random: Random, histogram: dict[str, Counter[str]]) -> None:
    """Some wild schedules of one program: the verdict is what enumeration says, or open because of data."""
    program = lower(op, sizes)
    enumerated = Enumerated(op, sizes)
    naive = schedules.schedule(program)
    assert enumerated.legal(program, naive.tree)
    assert check(naive)
    for _ in range(TREES):
        after, steps = wild_schedule(naive, random)
        verdict = check(after)
        expected = enumerated.legal(program, after.tree)
        if verdict.outcome != "unproved":
            assert (verdict.outcome == "legal") == expected, (steps, sizes, str(after), str(verdict))
        for step in steps[-1:]:
            histogram.setdefault(step.name, Counter())[verdict.outcome] += 1


def test_verdicts_of_random_steps_agree_with_enumeration(report):
    histogram: dict[str, Counter[str]] = {}
    for seed in range(examples(quick=15, ci=80, full=1500)):
        random = Random(seed)
        compare(Maker(seed).operator(), random.choice(SIZES), random, histogram)
    for name, counts in sorted(histogram.items()):
        report(f"{name:20} " + ", ".join(f"{outcome} {n}" for outcome, n in sorted(counts.items())))
    assert {"legal", "illegal"} == set().union(*histogram.values())


def test_data_leave_a_verdict_open_at_most(report):
    """With subscripts that are data: legal means legal for these data too, illegal is proved without them."""
    histogram: dict[str, Counter[str]] = {}
    for seed in range(examples(quick=8, ci=40, full=600)):
        random = Random(seed)
        compare(Gatherer(seed).operator(), random.choice(SIZES), random, histogram)
    total = sum(histogram.values(), Counter())
    report(", ".join(f"{outcome} {n}" for outcome, n in sorted(total.items())))
    assert {"legal", "illegal", "unproved"} <= set(total)


@pytest.mark.parametrize(
    ("make", "sizes"),
    [(matmul, {"M": 2, "N": 3, "K": 3}), (seidel, {"T": 3, "N": 5}), (jacobi, {"T": 3, "N": 5})],
)
def test_verdicts_on_known_programs_agree_with_enumeration(make, sizes):
    random, histogram = Random(7), {}
    for _ in range(examples(quick=2, ci=6, full=60)):
        compare(make(), sizes, random, histogram)
    assert histogram
