"""What every step of the vocabulary must do; a new Transform is found by itself."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

import workbench as wb
from tests.properties.ways import random_step
from tests.properties.writer import Writer
from tests.support import examples
from workbench import schedules
from workbench.errors import IllegalSchedule, LoweringError, OperatorError, ScheduleError
from workbench.poly.programs.tree import statements
from workbench.schedules import Schedule, Transform, from_json, replay
from workbench.schedules.transform import applied

STEPS = sorted(Transform.known)
NEW_NAMES = ("step", "result")  # fields that name nothing that must exist already
MADE = {("stage", "buffer"), ("add_unit_loop", "loop")}  # the same, of one step
MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
TIMED = "def timed(float(M,N) A) -> (E) { for t in 0:M { D(t,n) = A(t,n) + 1  E(t,n) = D(t,n) * 2 } }"
HALVES = "def halves(half(M,K) A, half(K,N) B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }"
TWO = "def two(float(M,N) A) -> (B, C) { B(m,n) = A(m,n) + 1  C(m,n) = B(m,n) * 2 }"


BLOCK = """
static void test_steps_block(const float *A, int64_t A_0, int64_t A_1, const float *B, int64_t B_0, int64_t B_1,
                             float *C, int64_t C_0, int64_t C_1, int64_t M, int64_t K, int64_t N)
{
    for (int64_t m = 0; m < M; m++)
        for (int64_t n = 0; n < N; n++)
            for (int64_t k = 0; k < K; k++) C[m*C_0 + n*C_1] += A[m*A_0 + k*A_1] * B[k*B_0 + n*B_1];
}
"""
wb.register(wb.MicroKernel("test_steps_block", MATMUL.replace("matmul", "test_steps_block").replace("!", ""), BLOCK))


def programs(count: int) -> list[Schedule]:
    """Naive schedules: three known programs, then random ones."""
    known = ((MATMUL, {"K": 8}), (TWO, {}), (TIMED, {}))
    found = [wb.schedule(wb.operator(text), M=8, N=8, **more) for text, more in known]
    seed = 0
    while len(found) < count:
        seed += 1
        case = Writer(Random(seed)).case("p")
        try:
            found.append(wb.schedule(wb.operator(case.text), sizes={**case.sizes, **case.scalars}))
        except (OperatorError, LoweringError):
            continue
    return found


def prepared() -> list[Schedule]:
    """What some steps need: partial tiles, nests that share loops, threads, buffers of iterations and of halves."""
    tiled = PROGRAMS[0] | wb.decompose_reduction("C") | wb.tile({"C/m": 3, "C/n": 4, "C/k": 3})
    threads = PROGRAMS[1] | wb.parallelize("B/m") | wb.bind("C/m", "thread.x")
    merged = PROGRAMS[1] | wb.merge("B", "C", depth=2)
    halves = wb.schedule(wb.operator(HALVES), M=8, K=8, N=8) | wb.decompose_reduction("C") | wb.stage("A", "C/m")
    staged = tiled | wb.stage("C", "n_o") | wb.stage("A", "C/k_o") | wb.stage("B", "C/k_o")
    return [threads, merged, halves, tiled, staged]


PROGRAMS = programs(examples(quick=8, ci=16, full=300))
PREPARED = prepared()


def somewhere(schedule: Schedule, random: Random) -> Schedule:
    """The schedule after a few legal steps."""
    for _ in range(random.choice((0, 1, 3))):
        step = random_step(schedule, random)
        try:
            schedule = schedule if step is None else schedule | step
        except ScheduleError:
            continue
    return schedule


@pytest.mark.parametrize("name", STEPS)
def test_every_choice_applies_or_is_refused(name, report):
    """`choices` offers steps that can be applied: the same statements are there afterwards, once each."""
    random, counts = Random(name), Counter()
    for before in (*PREPARED, *(somewhere(naive, random) for naive in PROGRAMS)):
        for step in list(Transform.known[name].choices(before))[:20]:
            assert isinstance(step, Transform.known[name])
            try:
                after = before | step
            except IllegalSchedule:
                counts["illegal"] += 1
                continue
            except ScheduleError:
                counts["does not fit"] += 1
                continue
            counts["applied"] += 1
            assert sorted(statements(after.tree)) == sorted(s.id for s in after.program.statements)
            assert after.trace[: len(before.trace)] == before.trace
            assert after.trace[-1] == step
    report(", ".join(f"{what} {n}" for what, n in sorted(counts.items())) or "offers nothing")
    assert counts["applied"] or not counts, "no choice applies anywhere"


def isl_step(naive: Schedule) -> Transform:
    """The order of isl's scheduler as one step."""
    return wb.affine(wb.autoschedule(naive.program, fusion="max").tree, "isl")


def steps_of(name: str) -> list[Transform]:
    """Some steps of one kind, as they are offered; the general tree step offers nothing."""
    if name == "affine":
        return [step for naive in PROGRAMS[:6] for step in (wb.affine(naive.tree, "naive"), isl_step(naive))]
    found = (*PROGRAMS[:8], *PREPARED)
    return [step for schedule in found for step in list(Transform.known[name].choices(schedule))[:6]]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_what_its_text_evaluates_to(name):
    public = {n: getattr(wb, n) for n in wb.__all__ if n in schedules.__all__}
    assert steps_of(name)
    for step in steps_of(name):
        assert eval(step.python(), {"__builtins__": {}}, public) == step, step.python()


@pytest.mark.parametrize("name", STEPS)
def test_a_step_survives_json(name):
    for step in steps_of(name):
        again = from_json(json.loads(json.dumps(step.to_json())))
        assert (type(again), again, hash(again)) == (type(step), step, hash(step))


def test_a_trace_replays_to_an_equal_schedule():
    random = Random(3)
    for number, naive in enumerate(PROGRAMS):
        first = applied(naive, isl_step(naive)) if number % 5 == 0 else naive
        schedule = somewhere(somewhere(first, random), random)
        again = replay(naive, json.loads(schedule.to_json()))
        assert again == schedule
        assert (again.tree, again.key) == (schedule.tree, schedule.key)


def test_a_step_leaves_the_schedule_it_is_applied_to_alone():
    random = Random(4)
    for naive in PROGRAMS:
        tree, trace = repr(naive.tree), naive.trace
        somewhere(naive, random)
        assert (repr(naive.tree), naive.trace) == (tree, trace)


@pytest.mark.parametrize("name", STEPS)
def test_an_unknown_loop_or_statement_lists_the_known_ones(name):
    """Wherever a step names something."""
    naive = PROGRAMS[0]
    for step in steps_of(name)[:4]:
        data = step.to_json()
        for field, value in data.items():
            if field in NEW_NAMES or (name, field) in MADE or not isinstance(value, str) or name == "affine":
                continue
            with pytest.raises(ScheduleError, match=r"unknown .*known: "):
                from_json({**data, field: "nowhere"}).on(naive)
