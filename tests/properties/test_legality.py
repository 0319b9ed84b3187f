"""`check` against the definition of happens-before, on random programs and random steps, most of them illegal."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.poly.making import Maker, jacobi, matmul, seidel
from tests.properties.verdicts import Enumerated
from tests.properties.wild_steps import wild_schedule
from tests.support import examples
from workbench import check, lower, schedules
from workbench.lang.operator import Operator

SIZES = ({"N": 3, "M": 2}, {"N": 2, "M": 3}, {"N": 1, "M": 2}, {"N": 3, "M": 3})
TREES = 8  # of each program


def compare(op: Operator, sizes: dict[str, int], random: Random, histogram: dict[str, Counter[str]]) -> None:
    """Some wild schedules of one program: the verdict is what enumeration says."""
    program = lower(op, sizes)
    enumerated = Enumerated(op, sizes)
    naive = schedules.schedule(program)
    assert enumerated.legal(program, naive.tree)
    assert check(naive)
    for _ in range(TREES):
        after, steps = wild_schedule(naive, random)
        verdict = check(after)
        expected = enumerated.legal(program, after.tree)
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
    assert {"legal", "illegal"} <= set().union(*histogram.values())


@pytest.mark.parametrize(
    ("make", "sizes"),
    [(matmul, {"M": 2, "N": 3, "K": 3}), (seidel, {"T": 3, "N": 5}), (jacobi, {"T": 3, "N": 5})],
)
def test_verdicts_on_known_programs_agree_with_enumeration(make, sizes):
    random, histogram = Random(7), {}
    for _ in range(examples(quick=2, ci=6, full=60)):
        compare(make(), sizes, random, histogram)
    assert histogram
