"""Verdicts: the sizes they hold for, what is unknown, previews, and questions without exceptions."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.poly.making import Maker
from tests.schedules.orders import wild_order
from tests.schedules.texts import CONVOLUTION, MATMUL, SEIDEL, SOFTMAX, TRIANGLE
from tests.support import examples
from workbench.errors import IllegalSchedule, ScheduleError, WorkbenchError
from workbench.lang import fold
from workbench.poly.sets import isl
from workbench.schedules import Schedule, replay
from workbench.schedules.legality import judge

ASKED_ONCE = CONVOLUTION.replace("(O)", "(P)").replace("O(n", "P(n")
"""Nothing is known of it yet, whatever else was asked before: flows are kept with the names of arrays."""


def naive(text: str, **sizes: int) -> Schedule:
    return wb.schedule(wb.operator(text), **sizes)


def test_valid_sizes_are_exactly_those_at_which_the_bound_schedule_is_legal() -> None:
    """Symbolic answers against one judgement a size, on random programs and wild steps."""
    outcomes: Counter[tuple[str, bool]] = Counter()
    for seed in range(examples(quick=12, ci=30, full=800)):
        random = Random(seed)
        op = Maker(seed).operator()
        symbolic = wild_order(wb.schedule(op), random)
        verdict = symbolic.verdict
        names = symbolic.program.symbols
        for values in product((0, 1, 2, 3), repeat=len(names)):
            sizes = dict(zip(names, values, strict=True))
            try:
                bound = wb.schedule(op, sizes=sizes)
                again = wb.preview(bound, wb.together(*symbolic.trace)) if symbolic.trace else bound
            except WorkbenchError:
                continue  # sizes that the operator refuses
            expected = bool(again.verdict)
            assert (sizes in verdict.valid_for) == expected, (seed, sizes, str(symbolic), str(verdict.valid_for))
            outcomes[verdict.outcome, expected] += 1
    assert outcomes["illegal", True]
    assert outcomes["illegal", False]


@pytest.mark.parametrize(
    "step",
    [wb.stage("C", "k", filling="none"), wb.stage("A", "m", filling="none"), wb.stage("C", "k", filling="load")],
    ids=str,
)
def test_valid_sizes_of_a_storage_step_are_exact_too(step) -> None:
    verdict = naive(MATMUL).can(step)
    for m, n, k in product((0, 1, 2), repeat=3):
        sizes = {"M": m, "N": n, "K": k}
        assert (sizes in verdict.valid_for) == bool(naive(MATMUL, **sizes).can(step)), sizes
    assert bool(verdict) == (not verdict.differences)


def test_sizes_print_as_one_writes_them() -> None:
    seidel = naive(SEIDEL)
    assert str(seidel.verdict.valid_for) == "N ≥ 0"
    assert str(seidel.can(wb.parallelize("A.1/i")).valid_for) == "0 ≤ N ≤ 3"
    assert str(naive(SEIDEL, N=9).verdict.valid_for) == "the given sizes, N=9"


@pytest.mark.parametrize(
    "judged",
    [
        naive(SEIDEL).can(wb.parallelize("A.1/i")),
        naive(MATMUL).can(wb.parallelize("k")),
        naive(MATMUL, N=4).verdict,
        naive(MATMUL, M=2, N=2, K=2).can(wb.parallelize("k")),
    ],
)
def test_a_set_of_sizes_is_a_condition_that_holds_for_just_those(judged):
    condition, symbols = judged.valid_for.condition(), judged.valid_for.symbols
    for values in product(range(5), repeat=len(symbols)):
        sizes = dict(zip(symbols, values, strict=True))
        assert bool(fold(condition, sizes)) == (sizes in judged.valid_for), sizes
    assert str(naive(SEIDEL, N=9).can(wb.parallelize("A.1/i")).valid_for) == "no sizes"


def test_sizes_are_asked_by_name() -> None:
    sizes = naive(MATMUL, K=4).verdict.valid_for
    assert dict(M=2, N=2) in sizes
    assert dict(M=2, N=2, K=4) in sizes
    assert dict(M=2, N=2, K=5) not in sizes
    with pytest.raises(WorkbenchError, match="a size is missing: N"):
        _ = dict(M=2) in sizes
    with pytest.raises(WorkbenchError, match=r"unknown size 'Q'.*known: M, N, K"):
        _ = dict(M=2, N=2, Q=1) in sizes


def test_what_a_budget_stops_is_unknown_and_refused(golden) -> None:
    start, step = naive(ASKED_ONCE), wb.tile({"P/h": 3, "P/w": 5, "P/c": 7})
    judge.cache_clear()
    with isl.budget(20):
        verdict = start.can(wb.decompose_reduction("P"))
        assert verdict.outcome == "unknown"
        assert not verdict
        assert not verdict.valid_for
    decomposed = start | wb.decompose_reduction("P")
    with isl.deadline(0.0):
        assert decomposed.can(step).outcome == "unknown"
        with pytest.raises(IllegalSchedule) as caught:
            decomposed | step
        golden(str(caught.value))
    assert (decomposed | step).verdict


def test_a_violation_says_tensor_kind_level_sizes_and_instances() -> None:
    with pytest.raises(IllegalSchedule) as caught:
        naive(MATMUL) | wb.parallelize("k")
    (violation,) = caught.value.violations
    assert violation.dependence.array == "C"
    assert (violation.dependence.kind, violation.reason, violation.loop) == ("reduction", "race", "k")
    assert violation.sizes == {"M": 1, "N": 1, "K": 2}
    assert (violation.source, violation.target) == ({"m": 0, "n": 0, "k": 0}, {"m": 0, "n": 0, "k": 1})


def test_can_never_raises_for_what_a_person_may_ask() -> None:
    start = naive(SOFTMAX)
    assert start.can(wb.parallelize("top/m"))
    for step in (wb.parallelize("m"), wb.parallelize("zz"), wb.tile(m=0), wb.tile(m=4) | wb.tile(m=4)):
        verdict = start.can(step)
        assert verdict.outcome == "illegal"
        assert verdict.reason
        assert verdict.explain() in str(verdict)


def test_a_preview_takes_further_steps_until_it_is_legal_again() -> None:
    start = naive(SEIDEL, N=9)
    inside = wb.interchange("A.1/j", "A.1/t")
    shown = wb.preview(start, inside)
    assert not shown.verdict
    assert not (shown | wb.split("A.1/i", 4)).verdict
    still = shown | wb.split("A.1/i", 4) | wb.parallelize("A.1/i_o")
    assert len(still.verdict.violations) >= len(shown.verdict.violations)
    back = shown | wb.interchange("A.1/t", "A.1/j")
    assert back.verdict
    with pytest.raises(IllegalSchedule):
        back | inside
    with pytest.raises(ScheduleError, match="unknown loop"):
        wb.preview(start, wb.split("zz", 4))


def test_a_preview_is_built_only_by_those_who_insist() -> None:
    shown = wb.preview(naive(SEIDEL, N=9), wb.interchange("A.1/j", "A.1/t"))
    for make in (wb.generate, wb.build):
        with pytest.raises(IllegalSchedule, match="unsafe=True insists"):
            make(shown)
    array = np.random.default_rng(1).random((9, 9), dtype=np.float32)
    wrong = wb.build(shown, unsafe=True)(array)
    assert np.abs(wrong - shown.program.definition.evaluate(array)).max() > 1e-3


def test_a_legal_step_can_be_previewed_too() -> None:
    start = naive(MATMUL)
    assert wb.preview(start, wb.split("m", 4)) == start | wb.split("m", 4)


def test_check_is_the_verdict_and_wants_a_schedule() -> None:
    assert wb.check(naive(TRIANGLE))
    with pytest.raises(ScheduleError, match="check takes a Schedule"):
        wb.check("naive")  # type: ignore[arg-type]


def test_together_in_a_recipe_stays_together() -> None:
    start = naive(SEIDEL)
    there, back = wb.interchange("A.1/j", "A.1/t"), wb.interchange("A.1/t", "A.1/j")
    recipe = wb.together(there, back) | wb.parallelize("A/i")
    assert (start | recipe).trace == (there, back, wb.parallelize("A/i"))
    assert replay(start, [recipe]) == start | recipe
    with pytest.raises(IllegalSchedule):
        start | (there | back)


def test_a_buffer_does_not_hide_that_a_scatter_changed_places() -> None:
    """Found by the campaign: data decide what the scatter overwrites, so neither of the two surely hides the other."""
    start = wb.schedule(
        wb.operator(
            "def f(float(N) X, int32(N) J) -> (float(5) A) where in_range(J, 0, 5)"
            " { A(J(i)) = X(i)  A(i) += 2 where i in 0:5 }"
        )
    )
    order, buffer = wb.arrange("A.1", "A"), wb.stage("A", "A.1/i")
    assert start.can(buffer)
    assert start.can(order).outcome == "unproved"
    assert start.can(wb.together(order, buffer)).outcome == "unproved"


def test_iterations_below_zero_hide_nothing() -> None:
    """Found by random programs: where a skewed loop counts from -2, what a fold broke was not looked at."""
    op = wb.operator("def f(float(N,4,N+2) X) -> (T) { T(j, k) max=! X(j, k, l+2) where l in -2:N }")
    start = wb.schedule(op, N=8)
    start = start | wb.skew("T/k", by="T/j") | wb.split_reduction("l")
    delay, fold = wb.shift("T/k", 1), wb.fold_storage("T_rf", 0, 1)
    assert start.can(delay).outcome == "illegal"
    assert start.can(fold)
    assert start.can(wb.together(delay, fold)).outcome == "illegal"


def test_the_sizes_for_which_a_value_may_be_inlined() -> None:
    """What is left of the reader no longer shows where its values came from."""
    text = "T(i) = X(i) where i in 1:N  O(i) = i < 3 ? T(i) : X(i) where i in 0:N"
    start = wb.schedule(wb.operator(f"def f(float(N) X) -> (O) {{ {text} }}"))
    verdict = start.can(wb.inline("T"))
    assert verdict.outcome == "illegal"
    assert dict(N=0) in verdict.valid_for
    assert dict(N=2) not in verdict.valid_for
    assert verdict.explain().endswith("legal for N = 0")
