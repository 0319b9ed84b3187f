"""Programs that other systems judge wrongly, by name: every one is judged as it is."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import IllegalSchedule
from workbench.schedules import Schedule, Transform

# B[i+1,j] = B[i,j+1] + 1: the distance is (1, -1).
DIAGONAL = """
def diagonal(float(N,M) A) -> (B) {
    B(i,j) = A(i,j)
    B(i+1,j) = B(i,j+1) + 1 where i in 0:N-1, j in 0:M-1
}"""

# B[i,j+1] = B[i,j] + A[i,j]: the distance is (0, 1).
RUNNING = """
def running(float(N,M) A) -> (B) {
    B(i,j) = A(i,j)
    B(i,j+1) = B(i,j) + A(i,j) where i in 0:N, j in 0:M-1
}"""

RECURRENCE = """
def recurrence(float(N) A0) -> (A) {
    A(i) = A0(i)
    A(i) = A(i-1) + A(i) where i in 1:N
}"""

RECURRENCE_IN_TIME = """
def recurrence_in_time(float(N) A0, int32 T) -> (A) {
    A(i) = A0(i)
    for t in 0:T { A(i) = A(i-1) + A(i) where i in 1:N }
}"""

SEIDEL_9 = """
def seidel_9(float(N,N) A0, int32 T) -> (A) {
    A(i,j) = A0(i,j)
    for t in 0:T {
        A(i,j) = (A(i-1,j-1) + A(i-1,j) + A(i-1,j+1) + A(i,j-1) + A(i,j) + A(i,j+1)
                + A(i+1,j-1) + A(i+1,j) + A(i+1,j+1)) / 9.0 where i in 1:N-1, j in 1:N-1
    }
}"""

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def naive(text: str, **sizes: int) -> Schedule:
    return wb.schedule(wb.operator(text), **sizes)


CASES: dict[str, tuple[str, Transform, str]] = {
    "distance (1,-1), interchange": (DIAGONAL, wb.interchange("B.1/j", "B.1/i"), "illegal"),
    "distance (1,-1), rectangular tiles": (DIAGONAL, wb.tile({"B.1/i": 5, "B.1/j": 5}), "illegal"),
    "distance (1,-1), inner loop in parallel": (DIAGONAL, wb.parallelize("B.1/j"), "legal"),
    "distance (1,-1), inner loop in lanes": (DIAGONAL, wb.vectorize("B.1/j"), "legal"),
    "distance (1,-1), outer loop in parallel": (DIAGONAL, wb.parallelize("B.1/i"), "illegal"),
    "distance (0,1), outer loop in parallel": (RUNNING, wb.parallelize("B.1/i"), "legal"),
    "distance (0,1), interchange": (RUNNING, wb.interchange("B.1/j", "B.1/i"), "legal"),
    "distance (0,1), tiles": (RUNNING, wb.tile({"B.1/i": 5, "B.1/j": 5}), "legal"),
    "distance (0,1), inner loop in lanes": (RUNNING, wb.vectorize("B.1/j"), "illegal"),
    "distance (0,1), inner loop in parallel": (RUNNING, wb.parallelize("B.1/j"), "illegal"),
    "a recurrence in parallel": (RECURRENCE, wb.parallelize("A.1/i"), "illegal"),
    "a recurrence in parallel under a serial loop": (RECURRENCE_IN_TIME, wb.parallelize("A.1/i"), "illegal"),
    "a recurrence in lanes under a serial loop": (RECURRENCE_IN_TIME, wb.vectorize("A.1/i"), "illegal"),
    "seidel, interchange of space": (SEIDEL_9, wb.interchange("A.1/j", "A.1/i"), "illegal"),
    "seidel, rectangular tiles of space": (SEIDEL_9, wb.tile({"A.1/i": 4, "A.1/j": 4}), "illegal"),
    "seidel, rectangular tiles": (SEIDEL_9, wb.tile({"A.1/t": 4, "A.1/i": 4, "A.1/j": 4}), "illegal"),
    "seidel, time innermost": (SEIDEL_9, wb.reorder("A.1/i", "A.1/j", "A.1/t"), "illegal"),
}


@pytest.mark.parametrize("case", CASES)
def test_known_case(case: str) -> None:
    text, step, expected = CASES[case]
    symbolic, bound = naive(text), naive(text, **{n: 12 for n in wb.operator(text).size_names})
    assert symbolic.can(step).outcome == expected
    assert bound.can(step).outcome == expected


@pytest.mark.parametrize("case", [name for name, (*_, expected) in CASES.items() if expected == "illegal"])
def test_known_refusal_shows_instances_and_sizes(case: str, golden) -> None:
    text, step, _ = CASES[case]
    with pytest.raises(IllegalSchedule) as caught:
        naive(text) | step
    golden(caught.value.verdict.explain())


def test_seidel_is_refused_with_the_first_pair_that_turns_round() -> None:
    verdict = naive(SEIDEL_9, N=8, T=2).can(wb.interchange("A.1/j", "A.1/i"))
    pairs = [(tuple(v.source.values()), tuple(v.target.values()), v.loop) for v in verdict.violations]
    assert ((0, 1, 2), (0, 2, 1), "j") in pairs


REALLY_WRONG = ["distance (1,-1), interchange", "distance (1,-1), rectangular tiles", "seidel, rectangular tiles"]
REALLY_RIGHT = ["distance (1,-1), inner loop in parallel", "distance (1,-1), inner loop in lanes",
                "distance (0,1), outer loop in parallel", "distance (0,1), tiles"]  # fmt: skip


@pytest.mark.parametrize("case", REALLY_WRONG + REALLY_RIGHT)
def test_compiled_code_agrees_with_the_verdict(case: str) -> None:
    text, step, expected = CASES[case]
    op = wb.operator(text)
    sizes = {n: 12 for n in op.size_names}
    array = np.random.default_rng(0).random((12, 12), dtype=np.float32)
    scalars = {"T": 3} if "T" in op.scalars else {}
    built = wb.build(wb.preview(wb.schedule(op, sizes={**sizes, **scalars}), step), unsafe=expected == "illegal")
    error = np.abs(built(array, *scalars.values()) - op.evaluate(array, *scalars.values())).max()
    assert (error < 1e-4) == (expected == "legal")


SKEWED = wb.skew("A.1/i", by="t") | wb.skew("A.1/j", by="A.1/i") | wb.skew("A.1/j", by="t")


@pytest.mark.parametrize("tiles", [{"A.1/i": 4, "A.1/j": 4}, {"A.1/t": 2, "A.1/i": 4, "A.1/j": 4}], ids=str)
def test_skewed_tiles_of_seidel_are_accepted_and_right(tiles: dict[str, int]) -> None:
    assert (naive(SEIDEL_9) | SKEWED | wb.tile(tiles)).verdict
    tiled = naive(SEIDEL_9, N=13, T=3) | SKEWED | wb.tile(tiles)
    image = np.random.default_rng(3).random((13, 13), dtype=np.float32)
    assert np.array_equal(wb.build(tiled)(image, 3), wb.build(naive(SEIDEL_9, N=13, T=3))(image, 3))


def test_without_the_skew_the_tile_is_named() -> None:
    tiled = naive(SEIDEL_9) | wb.skew("A.1/j", by="A.1/i") | wb.tile({"A.1/i": 4, "A.1/j": 4})
    with pytest.raises(IllegalSchedule, match=r"step 1 of 1, tile\(.*\), is not legal here: would break"):
        tiled.without(0)


@pytest.mark.parametrize("before", ["as written", "alone", "outermost"])
def test_a_reduction_may_run_backwards_its_initialisation_stays_before_it(before: str) -> None:
    start = naive(MATMUL, M=5, N=6, K=7)
    if before != "as written":
        start = start | wb.decompose_reduction("C")
    if before == "outermost":
        start = start | wb.reorder("k", "C/m", "C/n")
    a, b = (np.random.default_rng(4).integers(-9, 9, s).astype(np.float32) for s in ((5, 7), (7, 6)))
    assert np.array_equal(wb.build(start | wb.reverse("k"))(a, b), a @ b)


def test_a_nest_turns_round_with_its_initialisation_or_not_at_all() -> None:
    start = naive(MATMUL)
    assert start.can(wb.reverse("m"))
    assert start.can(wb.reverse("C/m")).outcome == "illegal"
    assert start.can(wb.together(wb.reverse("C/m"), wb.reverse("C.init/m")))
    assert (start | wb.decompose_reduction("C")).can(wb.reverse("C/m"))
    assert (start | wb.decompose_reduction("C")).can(wb.arrange("C", "C.init")).outcome == "illegal"


def test_an_empty_reduction_still_initialises_and_has_nothing_to_race() -> None:
    verdict = naive(MATMUL).can(wb.parallelize("k"))
    assert verdict.outcome == "illegal"
    for k in (0, 1):
        assert dict(M=3, N=3, K=k) in verdict.valid_for
        assert naive(MATMUL, M=3, N=3, K=k).can(wb.parallelize("k"))
    assert dict(M=3, N=3, K=2) not in verdict.valid_for
    tiled = naive(MATMUL, M=3, N=3, K=0) | wb.tile(m=2, n=2, k=2)
    result = wb.build(tiled)(np.zeros((3, 0), np.float32), np.zeros((0, 3), np.float32))
    assert result.shape == (3, 3)
    assert not result.any()


SCATTER = "def scatter(float(M) X, int32(M) idx, int32 N) -> (float(N) O) {promise} {{ O(idx(i)) {assign} X(i) }}"


@pytest.mark.parametrize("assign", ["=", "+="])
@pytest.mark.parametrize("step", [wb.parallelize("i"), wb.vectorize("i")], ids=str)
def test_a_scatter_is_open_until_its_index_is_promised_to_be_injective(assign: str, step: Transform) -> None:
    promised = naive(SCATTER.format(promise="where injective(idx)", assign=assign))
    assert (promised | step).verdict
    plain = naive(SCATTER.format(promise="", assign=assign))
    if assign == "+=" and step.name == "vectorize":
        assert plain.can(step)  # contributions to one cell, in lanes
        return
    verdict = plain.can(step)
    assert verdict.outcome == "unproved"
    assert "if idx(0) = idx(1)" in verdict.explain()


def test_a_promise_lets_producer_and_consumer_of_a_scatter_be_one_loop() -> None:
    text = """
    def there_and_back(float(M) X, int32(M) idx, int32 N) -> (float(N) O, P) {promise} {{
        O(idx(i)) = X(i)
        P(i) = O(idx(i)) * 2
    }}"""
    step = wb.together(wb.merge("O", "P"), wb.parallelize("O/i"))
    assert naive(text.format(promise="where injective(idx)")).can(step)
    open_still = naive(text.format(promise="")).can(step)
    assert open_still.outcome == "unproved"
    assert "idx(0) = idx(1)" in open_still.explain()


def test_a_promised_range_keeps_a_scatter_apart_from_what_is_read_elsewhere() -> None:
    text = """
    def halves(float(M) X, int32(M) idx, int32 N) -> (float(2*N) O, P) {promise} {{
        O(j) = 0.0 where j in N:2*N
        O(idx(i)) = X(i)
        P(j) = O(N+j) where j in 0:N
    }}"""
    assert ("O.1", "P") in flows(naive(text.format(promise="")))
    assert ("O.1", "P") not in flows(naive(text.format(promise="where in_range(idx, 0, N)")))


def flows(schedule: Schedule) -> set[tuple[str, str]]:
    """Names of the statements between which values may flow."""
    names = {s.id: s.name for s in schedule.program.statements}
    return {(names[d.source], names[d.target]) for d in wb.poly.dependences(schedule.program) if d.kind == "flow"}
