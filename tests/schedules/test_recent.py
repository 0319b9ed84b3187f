"""Steps that change a program are remembered: one step on one schedule gives the same object, and no other."""

from __future__ import annotations

from dataclasses import replace

import workbench as wb
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.recent import Recent
from workbench.schedules.transform import Transform

PRODUCT = wb.operator("def product(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")


def test_a_program_that_a_step_made_is_found_again_as_the_same_object():
    start = wb.schedule(PRODUCT, M=40, N=30, K=20) | wb.tile(n=10)
    first, second = start | wb.stage("B", "C/n_o"), start | wb.stage("B", "C/n_o")
    assert first.program is second.program
    assert first == second
    other = wb.schedule(PRODUCT, M=40, N=30, K=20) | wb.tile(n=10)
    assert (other | wb.stage("B", "C/n_o")).program is first.program


def test_another_trace_another_step_and_other_sizes_are_others():
    start = wb.schedule(PRODUCT, M=40, N=30, K=20)
    one = start | wb.tile(n=10) | wb.stage("B", "C/n_o")
    two = start | wb.tile(n=15) | wb.stage("B", "C/n_o")
    three = start | wb.tile(n=10) | wb.stage("A", "C/n_o")
    four = wb.schedule(PRODUCT, M=40, N=30, K=21) | wb.tile(n=10) | wb.stage("B", "C/n_o")
    assert len({one.key, two.key, three.key, four.key}) == 4
    assert [len(s.trace) for s in (one, two, three, four)] == [2, 2, 2, 2]


def test_one_trace_with_another_tree_is_not_taken_for_it():
    """A schedule that somebody put together by hand: the trace does not tell what it is."""
    start = wb.schedule(PRODUCT, M=40, N=30, K=20) | wb.tile(n=10)
    memory, step = Recent(), wb.stage("B", "C/n_o")
    after = start | step
    memory.note(step, start, after)
    assert memory.recall(step, start) is after
    assert memory.recall(step, replace(start, tree=wb.schedule(PRODUCT, M=40, N=30, K=20).tree)) is None


def test_what_was_used_least_recently_is_forgotten_first():
    memory, start = Recent(most=2), wb.schedule(PRODUCT, M=40, N=30, K=20) | wb.tile(n=10, m=10, k=10)
    steps = [wb.stage("B", f"C/{loop}") for loop in ("m_o", "n_o", "k_o")]
    for step in steps[:2]:
        memory.note(step, start, start | step)
    assert memory.recall(steps[0], start) is not None
    memory.note(steps[2], start, start | steps[2])
    assert memory.recall(steps[1], start) is None
    assert memory.recall(steps[0], start) is not None
    assert len(memory.found) == 2


def test_what_only_edits_the_tree_is_not_kept():
    memory, start = Recent(), wb.schedule(PRODUCT, M=40, N=30, K=20)
    memory.note(wb.tile(n=10), start, start | wb.tile(n=10))
    assert not memory.found


def test_a_step_of_a_users_own_that_cannot_be_hashed_works():
    @record(eq=True)
    class Anew(Transform):
        names: list[str]

        __hash__ = None  # type: ignore[assignment]

        def apply(self, schedule: Schedule) -> Schedule:
            return wb.stage(self.names[0], "C/n_o").on(schedule)

    start = wb.schedule(PRODUCT, M=40, N=30, K=20) | wb.tile(n=10)
    assert Anew(["B"]).on(start).program is (start | wb.stage("B", "C/n_o")).program
