"""`check` against two enumerations of happens-before and of values, on random programs and random steps, many of them
illegal; the known programs first.
"""

from __future__ import annotations

import time
from collections import Counter
from random import Random

import pytest

from tests.poly.making import jacobi, matmul, seidel
from tests.properties import legality_campaign
from tests.properties.cases import Subject
from tests.properties.legality_campaign import BLOCK, Tally, block, campaign, run, tries
from tests.support import PROFILE, examples
from workbench import lower

CASES = 100_000  # of a full run
SECONDS = examples(quick=3, ci=5, full=0)
ENOUGH = 200  # of each transform accepted, and refused, in a full run


def share(seconds: float, least: int = BLOCK) -> Tally:
    """As many seeds as fit into some seconds, in this process."""
    tally, start, seed = Tally(), time.monotonic(), 0
    while seed < least or time.monotonic() - start < seconds:
        campaign(seed, tally)
        seed += 1
    return tally


def test_verdicts_agree_with_enumeration_of_pairs_and_terms(report, tmp_path):
    """In a full run every transform is seen often enough, accepted and (if it ever is) refused."""
    full = PROFILE == "full"
    tally = run(CASES, 2, tmp_path / "journal.jsonl") if full else share(SECONDS)
    for line in tally.lines():
        report(line)
    assert not tally.failures, "\n\n".join(tally.failures[:10])
    assert tally.share("refused") > (1 / 3 if full else 0.2)
    assert tally.share("several statements") > 1 / 2
    assert tally.share("reduction, gather or in place") > 1 / 4
    if full:
        assert not tally.rare(ENOUGH)


@pytest.mark.parametrize(
    ("make", "sizes"),
    [(matmul, {"M": 2, "N": 3, "K": 3}), (seidel, {"T": 3, "N": 5}), (jacobi, {"T": 3, "N": 5})],
)
def test_verdicts_on_known_programs_agree_with_enumeration(make, sizes):
    tally = Tally()
    for fixed in (sizes, {}):
        op = make()
        tries(Subject(op.name, op, lower(op, fixed), range(1)), Random(7), tally, examples(quick=4, ci=12, full=100))
    assert not tally.failures, "\n\n".join(tally.failures[:10])
    assert {"legal", "illegal"} <= {name.partition(": ")[2] for name in tally.counts}


@pytest.mark.slow
def test_a_block_of_seeds_is_the_same_every_time(monkeypatch):
    """So that a journal can be continued, and a failure seen again."""
    monkeypatch.setattr(legality_campaign, "BLOCK", 12)
    first, again = block(1), block(1)
    assert first.counts == again.counts != Counter()
