"""Known hard questions, answered by the product and by enumeration: reductions turned round, empty ones, scatters."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.poly.making import op, read, span, statement, tensor
from tests.properties.cases import Subject
from tests.properties.judging import judged
from workbench import lower
from workbench.lang.expr import Const, Index
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence
from workbench.schedules import Schedule, Transform

SUM = "def total(float(M,K) A) -> (C) { C(m) +=! A(m,k) }"
ADD = "def scatter(float(N) A, int32(N) idx, int32 M) -> (float(M) O) where in_range(idx, 0, M)%s { O(idx(i)) += A(i) }"
SET = "def scatter(float(N) A, int32(N) idx, int32 M) -> (float(M) O) where in_range(idx, 0, M)%s { O(idx(i)) = A(i) }"
INJECTIVE = ", injective(idx)"


def outcome(text: str, *steps: Transform, **sizes: int) -> tuple[str, Schedule]:
    """The verdict after some steps, which enumeration has confirmed for bound and for open sizes."""
    defined = wb.operator(text)
    found = []
    for given in (sizes, {}):
        naive = wb.schedule(defined, sizes=given)
        after = naive
        for step in steps:
            after = step.on(after)
        subject = Subject(defined.name, defined, naive.program, range(2))
        found.append(judged(subject, after, Random(1)))
    assert len(set(found)) == 1, found
    return found[0], after


def test_a_reduction_loop_turns_round_without_its_initialisation():
    assert outcome(SUM, wb.reverse("k"), M=2, K=3)[0] == "legal"


def test_a_reduction_loop_does_not_turn_round_with_its_initialisation_inside():
    """The initialisation in iteration 0 of k: right as it stands, last of all when k runs backwards."""
    k = Loop("k", (("S0", Const(0, wb.operator(SUM).tensors["A"].extent[0].dtype)), ("S1", Index("k"))))
    m = Loop("m", (("S0", Index("m")), ("S1", Index("m"))))
    inside = wb.affine(Band((m, k), Sequence((Leaf("S0"), Leaf("S1")))), "peeled")
    assert outcome(SUM, inside, M=2, K=3)[0] == "legal"
    verdict, after = outcome(SUM, inside, wb.reverse("k"), M=2, K=3)
    assert verdict == "illegal"
    assert {v.loop for v in after.verdict.violations} == {"k"}
    assert {"M": 1, "K": 0} in after.verdict.valid_for
    assert {"M": 1, "K": 1} in after.verdict.valid_for
    assert {"M": 1, "K": 2} not in after.verdict.valid_for


@pytest.mark.parametrize("step", [wb.parallelize("k"), wb.reverse("k"), wb.tile(m=2, k=2), wb.unroll("k")], ids=str)
def test_an_empty_reduction_is_legal_in_any_order_and_initialises(step):
    """K = 0: nothing races, and the result is the identity."""
    after = step.on(wb.schedule(wb.operator(SUM), M=3, K=0))
    assert after.verdict
    kernel = wb.build(after)
    assert np.array_equal(kernel(np.zeros((3, 0), np.float32)), np.zeros(3, np.float32))


def test_a_parallel_reduction_is_legal_for_at_most_one_contribution():
    verdict, after = outcome(SUM, wb.parallelize("k"), M=2, K=3)
    assert verdict == "illegal"
    assert {"M": 5, "K": 0} in after.verdict.valid_for
    assert {"M": 5, "K": 1} in after.verdict.valid_for
    assert {"M": 0, "K": 9} in after.verdict.valid_for
    assert {"M": 1, "K": 2} not in after.verdict.valid_for


@pytest.mark.parametrize("text", [ADD, SET], ids=["adds", "sets"])
def test_a_scatter_runs_in_parallel_only_if_its_index_is_injective(text):
    assert outcome(text % "", wb.parallelize("i"), N=3, M=3)[0] == "unproved"
    assert outcome(text % INJECTIVE, wb.parallelize("i"), N=3, M=3)[0] == "legal"


def test_a_scatter_turns_round_if_it_adds_or_its_index_is_injective():
    assert outcome(SET % "", wb.reverse("i"), N=3, M=3)[0] == "unproved"
    assert outcome(SET % INJECTIVE, wb.reverse("i"), N=3, M=3)[0] == "legal"
    assert outcome(ADD % "", wb.reverse("i"), N=3, M=3)[0] == "legal"


def test_what_would_break_a_scatter_is_named():
    with pytest.raises(wb.errors.IllegalSchedule, match=r"idx\(0\) = idx\(1\)"):
        wb.schedule(wb.operator(ADD % "")) | wb.parallelize("i")


def test_sums_and_maxima_of_one_cell_are_not_taken_apart():
    """`Z += a` and `Z max= b` in one loop do not commute, so neither has partial results."""
    text = "def f(float(N) A, float(N) B) -> (Z) { Z +=! A(k)  for t in 0:N { Z += A(t)  Z max= B(t) } }"
    assert outcome(text, wb.split_reduction("t"), N=3)[0] == "illegal"


def test_lanes_run_in_lockstep():
    """A later statement may read what an earlier one wrote in an earlier lane; not what it writes in a later one."""
    text = "def f(float(N) X) -> (A, B) { A(i) = X(i) * 2  B(i) = A(%s) + A(i) where i in 1:N - 1 }"
    for neighbour, expected in (("i - 1", "legal"), ("i + 1", "illegal")):
        assert outcome(text % neighbour, wb.merge("A", "B"), wb.vectorize("i"), N=4)[0] == expected


def test_instances_that_share_a_time_do_so_after_a_copy_is_made():
    """A step that adds statements to an illegal order does not make that order the right one."""
    copy = wb.operator("def f(float(H,W) X) -> (O) { O(y,x) = X(y,x) }")
    rows = wb.affine(Band((Loop("y", (("S0", Index("y")),)), Loop("z", (("S0", Index("y")),))), Leaf("S0")), "flat")
    after = wb.stage("X", "z").on(rows.on(wb.schedule(copy)))
    assert after.verdict.outcome == "illegal"


def test_what_is_read_before_it_is_written_is_not_inlined():
    """The reader finds what stood there, not the value that comes later."""
    tensors = [tensor("X", "input", "N"), tensor("A", "temporary", "N"), tensor("B", "output", "N")]
    first = statement(("B", "i"), read("A", "i"), [span("i", "N")])
    later = statement(("A", "j"), read("X", "j"), [span("j", "N")])
    naive = wb.schedule(lower(op("early", tensors, [first, later], "N"), {"N": 3}))
    with pytest.raises(wb.errors.ScheduleError, match="B reads A where A has not written yet"):
        naive | wb.inline("A")
