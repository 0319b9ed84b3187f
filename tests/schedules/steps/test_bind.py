"""Blocks and threads, barriers between them, atomic updates: what is accepted, and the C that runs it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.poly.programs.tree import Band, loops
from workbench.poly.time.concurrency import on_processors
from workbench.schedules import Schedule, together
from workbench.schedules.schedule_text import tree_lines
from workbench.target import Target

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
MIRROR = "def mirror(float(N) X) -> (A, B) { A(i) = X(i) * 2\n B(i) = A(i) + A(N - 1 - i) where i in 0:N }"
TRIANGLE = """def triangle(float(M,M) X) -> (A, B) {
    A(i,k) = X(i,k) where k in 0:i + 1
    B(i,k) = A(i,k) where k in 0:i + 1 }"""
TARGETS = {"openmp": Target(parallel="openmp"), "pool": Target(parallel="pool")}


def naive(text: str, **sizes: int) -> Schedule:
    return wb.schedule(wb.operator(text), **sizes)


def executed(schedule: Schedule) -> list[str]:
    """The loops of a processor that executes the schedule."""
    return tree_lines(schedule.program, on_processors(schedule.tree), 0)


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)


def blocks_and_threads() -> Schedule:
    found = naive(MATMUL, M=13, N=9, K=5) | wb.tile(m=4, n=4) | wb.bind("m_o", "blockIdx.y")
    return found | wb.bind("n_o", "block.x") | wb.bind("m_i", "thread.y") | wb.bind("n_i", "threadIdx.x")


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_run_in_parallel_and_their_threads_inside(target: str, golden) -> None:
    kernel = wb.build(blocks_and_threads(), target=TARGETS[target])
    for threads in (1, 2, 5):
        with wb.settings(threads=threads):
            np.testing.assert_array_equal(kernel(data(13, 5), data(5, 9)), data(13, 5) @ data(5, 9))
    golden(kernel.source[kernel.source.index("int matmul(") :])


def test_axes_are_recorded_under_one_name(golden) -> None:
    found = blocks_and_threads()
    assert [x.kind for x in loops(found.tree)][:4] == ["block.y", "block.x", "thread.y", "thread.x"]
    assert wb.Schedule.from_json(wb.operator(MATMUL), found.to_json()).key == found.key
    assert wb.bind("m", "blockIdx.x") == wb.bind("m", "block.x")
    golden(str(found))


def test_threads_race_as_parallel_loops_do() -> None:
    start = naive(MATMUL)
    for step in (wb.parallelize("k"), wb.bind("k", "thread.x"), wb.bind("k", "block.x")):
        with pytest.raises(IllegalSchedule, match=r"would race on C \(reduction, loop k\): C\(0,0,0\) → C\(0,0,1\)"):
            start | step


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([wb.bind("m", "thread.x"), wb.bind("n", "thread.x")], "loops m and n are both bound to thread.x"),
        ([wb.bind("m", "thread.x"), wb.bind("n", "block.x")], "blocks hold threads"),
        ([wb.vectorize("m"), wb.bind("n", "thread.x")], "inside the lanes of m"),
    ],
    ids=["twice", "inside-out", "lanes"],
)
def test_axes_that_cannot_be_so_are_refused(steps, message) -> None:
    with pytest.raises(ScheduleError, match=message):
        naive(MATMUL) | together(*steps)


def test_an_unknown_axis_lists_the_known_ones() -> None:
    with pytest.raises(ScheduleError, match=r"unknown axis 'warp'; known: block.x, block.y, .*, thread.z"):
        wb.bind("m", "warp")


def test_a_later_step_that_doubles_an_axis_is_illegal() -> None:
    """`affine` knows nothing of axes: the verdict does."""
    bound = naive(MATMUL) | wb.bind("m", "thread.x") | wb.interchange("m", "n")
    assert isinstance(bound.tree, Band)
    twice = tuple(replace(x, kind="thread.x") for x in bound.tree.loops)
    verdict = bound.can(wb.affine(Band(twice, bound.tree.child), "twice"))
    assert verdict.outcome == "illegal"
    assert "both bound to thread.x" in verdict.reason


# -- barriers ---------------------------------------------------------------------------------------------


def test_a_barrier_orders_what_it_parts(golden) -> None:
    merged = together(wb.merge("A", "B"), wb.bind("i", "thread.x"))
    start = naive(MIRROR)
    assert "would race on A (flow, loop i)" in start.can(merged).explain()
    waits = start | together(*merged.parts, wb.barrier("B"))
    assert executed(waits) == ["for i", "  A(i)", "for i", "  B(i)"]
    golden(f"{waits}\n\n{waits.to_python()}")
    np.testing.assert_array_equal(wb.build(waits)(data(11))[1], 2 * (data(11) + data(11)[::-1]))


def test_blocks_never_wait() -> None:
    refused = naive(MIRROR).can(together(wb.merge("A", "B"), wb.bind("i", "block.x"), wb.barrier("B")))
    assert refused.outcome == "illegal"
    assert "would race on A (flow, loop i)" in refused.explain()


def jacobi(*waiting: str) -> Schedule:
    """Threads that stay for all time steps."""
    steps = [wb.merge("B", "A.1", depth=1), wb.interchange("A.1/i", "t"), wb.parallelize("A.1/i")]
    return wb.preview(wb.schedule(wb.ops.load("jacobi_1d")), together(*steps, *map(wb.barrier, waiting)))


@pytest.mark.parametrize("target", TARGETS)
def test_threads_may_stay_for_all_time_steps(target: str) -> None:
    found = jacobi("B", "A.1")
    assert found.verdict
    phases = ["  for i  (parallel)", "    B(t, i)", "  for i  (parallel)", "    A.1(t, i)"]
    assert executed(found)[2:] == ["for t", *phases]
    kernel = wb.build(found, target=TARGETS[target])
    for threads in (1, 3):
        with wb.settings(threads=threads):
            assert wb.verify(kernel, data(40), 9)


@pytest.mark.parametrize("missing", ["B", "A.1"])
def test_each_barrier_of_a_time_step_is_needed(missing: str) -> None:
    verdict = jacobi(*{"B", "A.1"} - {missing}).verdict
    assert not verdict
    assert verdict.violations[0].reason == "race"


def test_a_barrier_of_the_iteration_between_is_enough() -> None:
    """One barrier in each iteration orders what is two iterations apart: two buffers in turn need no second one."""
    text = """def turn(float(N) X) -> (A, B) {
        A(j,i) = X(i) where j in 0:2
        for t in 0:6 { B(t,i) = A(t % 2, N - 1 - i)
                       A(t % 2, i) = X(i) + t } }"""
    start = naive(text, N=5)
    steps = together(wb.merge("B", "A.1", depth=1), wb.interchange("A.1/i", "t"), wb.bind("A.1/i", "thread.x"))
    one = together(*steps.parts, wb.barrier("A.1"))
    assert not start.can(steps)
    assert start.can(one)


def test_a_barrier_that_some_threads_never_reach_is_refused() -> None:
    start = naive(TRIANGLE) | wb.merge("A", "B", depth=2)
    assert start | wb.bind("i", "thread.x")
    refused = start.can(together(wb.bind("i", "thread.x"), wb.barrier("B")))
    assert refused.outcome == "illegal"
    assert refused.reason.startswith("divergent barrier before B: thread i=1 reaches it at k=1, thread i=0 does not")
    assert start.can(together(wb.bind("i", "block.x"), wb.barrier("B")))
    assert start.can(together(wb.bind("k", "thread.x"), wb.barrier("B")))


def test_lanes_do_not_wait() -> None:
    start = naive(MIRROR) | wb.barrier("B", inside="i")
    assert "lanes run in lockstep and cannot wait" in start.can(wb.vectorize("B/i")).reason


MIRRORS = """def mirrors(float(M,N) X) -> (B) {
    A(m,i) = X(m,i) * 2
    B(m,i) = A(m,i) + A(m,N - 1 - i) where i in 0:N }"""


def shared_by_a_block(*steps) -> Schedule:
    start = naive(MIRRORS, M=4, N=9) | wb.compute_at("A", "B/m") | wb.bind("m", "block.x")
    return wb.preview(start, together(wb.merge("A_local", "B"), wb.bind("i", "thread.x"), *steps))


@pytest.mark.parametrize("target", TARGETS)
def test_a_buffer_that_the_threads_of_a_block_share_lives_across_the_barrier(target: str) -> None:
    assert "would race on A_local" in shared_by_a_block().verdict.explain()
    found = shared_by_a_block(wb.barrier("B"))
    assert found.verdict
    phases = ["  for i", "    A_local(m, m_1, i)", "  for i", "    B(m, i)"]
    assert executed(found) == ["for m  (parallel)", *phases]
    (storage,) = wb.poly.storage_of(found.program, found.tree)
    assert (storage.home, storage.elements) == (("m",), 9)
    x = data(4, 9)
    np.testing.assert_array_equal(wb.build(found, target=TARGETS[target])(x), 2 * (x + x[:, ::-1]))


def test_what_a_thread_keeps_for_itself_survives_the_barrier() -> None:
    """A cell of each thread becomes an array over threads where C executes them one after another."""
    text = "def kept(float(N) X) -> (A, B) { A(i) = X(i) * 2\n B(i) = A(i - 1) + X(i) where i in 1:N }"
    start = naive(text, N=7) | wb.merge("A", "B") | wb.stage("X", "i", buffer="own")
    found = start | together(wb.bind("i", "thread.x"), wb.barrier("B"))
    (thread,), (processor,) = (wb.poly.storage_of(found.program, t) for t in (found.tree, on_processors(found.tree)))
    assert (thread.home, thread.elements) == (("i",), 1)
    assert (processor.home, processor.elements) == ((), 7)
    x = data(7)
    np.testing.assert_array_equal(wb.build(found)(x)[1][-6:], 2 * x[:-1] + x[1:])


@pytest.mark.parametrize("step", [wb.parallelize("i"), wb.bind("i", "thread.x")], ids=str)
def test_repairs_place_the_fewest_barriers(step) -> None:
    text = "def follow(float(N) X) -> (A, B) { A(i) = X(i) * 2\n B(i) = A(i - 1) where i in 1:N }"
    merged = naive(text) | wb.merge("A", "B")
    with pytest.raises(IllegalSchedule, match=r"would race on A \(flow, loop i\)") as caught:
        merged | step
    offered = [str(r) for r in caught.value.repairs]
    assert f"barrier('B', inside='i') | {step}" in offered
    assert all(merged.can(r) for r in caught.value.repairs)
    assert not any(str(r).startswith("barrier") for r in offered_instead(merged, wb.bind("i", "block.x")))


def offered_instead(schedule: Schedule, step) -> list:
    with pytest.raises(IllegalSchedule) as caught:
        schedule | step
    return list(caught.value.repairs)


# -- atomic -----------------------------------------------------------------------------------------------

SCATTER = "def scatter({t}(N) X, int32(N) I, int32 M) -> ({t}(M) O) where in_range(I, 0, M) {{ O(I(n)) {op} X(n) }}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("dtype", "op"),
    [("float", "+=!"), ("double", "*=!"), ("int32", "min=!"), ("uint8", "max=!"), ("int64", "+=!"), ("float16", "+=!")],
)
def test_contributions_of_many_threads_all_arrive(dtype: str, op: str, target: str) -> None:
    scatter = wb.operator(SCATTER.format(t=dtype, op=op))
    start = wb.schedule(scatter)
    assert start.can(wb.parallelize("n")).outcome == "unproved"
    kernel = wb.build(start | wb.atomic("O") | wb.parallelize("n"), target=TARGETS[target])
    random = np.random.default_rng(3)
    kind = scatter.tensors["X"].dtype.numpy
    values = random.choice([1, -1, 2, 0.5] if op == "*=!" else range(1, 4), 400).astype(kind)
    places = random.integers(0, 3, 400).astype(np.int32)
    expected = scatter.evaluate(values, places, 3)
    for threads in (1, 2, 4):
        with wb.settings(threads=threads):
            np.testing.assert_array_equal(kernel(values, places, 3), expected)


def test_atomic_updates_still_wait_for_the_beginning_and_readers_for_them() -> None:
    start = naive("def norm(float(M,N) X) -> (S, Y) { S(m) +=! X(m,n)\n Y(m) = S(m) * 2 }")
    added = start | wb.atomic("S")
    assert added.can(wb.parallelize("n")).reason == ""
    assert not added.can(together(wb.merge("S", "Y", depth=1), wb.merge("S", "Y", depth=1), wb.parallelize("n")))
    assert "would race on S (reduction, loop n)" in start.can(wb.parallelize("n")).explain()


def test_tuples_and_assignments_cannot_be_atomic() -> None:
    with pytest.raises(ScheduleError, match="updates 2 cells as one tuple, which no atomic operation does"):
        wb.schedule(wb.ops.load("argmax")) | wb.atomic(update_of("argmax"))
    with pytest.raises(ScheduleError, match=r"A combines nothing with its cells; statements that do: none"):
        naive(MIRROR) | wb.atomic("A")
    with pytest.raises(ScheduleError, match="atomic already"):
        naive(MATMUL) | wb.atomic("C") | wb.atomic("C")


def update_of(name: str) -> str:
    program = wb.schedule(wb.ops.load(name)).program
    return next(s.name for s in program.statements if s.kind == "update")


def test_the_histogram_is_repaired_by_atomic_updates(golden) -> None:
    start = wb.schedule(wb.ops.load("histogram"))
    with pytest.raises(IllegalSchedule) as caught:
        start | wb.parallelize("h/i")
    assert "atomic('h') | parallelize('h/i')" in map(str, caught.value.repairs)
    found = start | wb.atomic("h") | wb.parallelize("h/i")
    golden(f"{found}\n\n{wb.generate(found).source.partition('int histogram(')[2]}")


# -- asynchronous pipelines -------------------------------------------------------------------------------


def test_an_asynchronous_pipeline_is_as_legal_as_a_synchronous_one() -> None:
    start = naive(MATMUL, M=9, N=8, K=20) | wb.tile(m=4, n=4, k=4) | wb.stage("A", "C/k_o")
    plain, later = start | wb.pipeline("C/k_o"), start | wb.pipeline("C/k_o", async_=True)
    assert "@async" in str(later)
    assert "@async" not in str(plain)
    assert plain.key != later.key
    assert wb.generate(plain).source.partition("*/")[2].count("for (") == wb.generate(later).source.count("for (")
    assert wb.Schedule.from_json(wb.operator(MATMUL), later.to_json()) == later
    np.testing.assert_array_equal(wb.build(later)(data(9, 20), data(20, 8)), data(9, 20) @ data(20, 8))
