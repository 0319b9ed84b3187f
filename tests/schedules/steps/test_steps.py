"""Each step does what its law says, and says what is wrong when it does not fit."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.texts import CONVOLUTION, MATMUL, SEIDEL, SOFTMAX
from workbench.errors import IllegalSchedule, ScheduleError, UnchangedSchedule
from workbench.poly.programs.tree import loops
from workbench.schedules import Schedule, together


def naive(text: str, **sizes: int) -> Schedule:
    return wb.schedule(wb.operator(text), **sizes)


def names(schedule: Schedule) -> list[str]:
    return [loop.name for loop in loops(schedule.tree)]


def test_naive_is_what_a_person_writes(golden) -> None:
    golden(str(naive(SOFTMAX, M=4, N=8)))


def test_tile_blocks_first_then_points() -> None:
    assert names(naive(MATMUL) | wb.tile(m=4, n=8)) == ["m_o", "n_o", "m_i", "n_i", "k"]


def test_tile_of_an_imperfect_nest_moves_the_initialisation_and_says_so() -> None:
    tiled = naive(MATMUL) | wb.tile({"C/m": 4, "C/n": 8, "C/k": 16})
    assert [str(step) for step in tiled.trace] == [
        "decompose_reduction('C')",
        "tile({'C/m': 4, 'C/n': 8, 'C/k': 16})",
    ]


def test_loops_named_together_are_those_of_one_nest() -> None:
    tiled = naive(MATMUL) | wb.tile(m=4, n=8, k=16)
    assert [str(step) for step in tiled.trace] == ["decompose_reduction('C')", "tile(m=4, n=8, k=16)"]
    assert tiled.tree == (naive(MATMUL) | wb.tile({"C/m": 4, "C/n": 8, "C/k": 16})).tree
    with pytest.raises(ScheduleError, match=r"say which: C.init/m, C/m"):
        naive(MATMUL) | wb.decompose_reduction("C") | wb.interchange("m", "n")


def test_split_twice_nests_the_names() -> None:
    twice = naive(MATMUL) | wb.split("m", 16) | wb.split("m_i", 4)
    assert names(twice)[:3] == ["m_o", "m_i_o", "m_i_i"]


def test_names_can_be_chosen_and_must_be_new() -> None:
    assert names(naive(MATMUL) | wb.split("m", 4, names=("block", "row")))[:2] == ["block", "row"]
    with pytest.raises(ScheduleError, match="n exist already"):
        naive(MATMUL) | wb.split("m", 4, names=("n", "row"))


def test_interchange_swaps_two_loops_whichever_is_named_first() -> None:
    for swapped in (naive(CONVOLUTION) | wb.interchange("f", "n"), naive(CONVOLUTION) | wb.interchange("n", "f")):
        assert names(swapped)[:2] == ["f", "n"]
    tiled = naive(MATMUL) | wb.tile(m=4, n=8)
    assert names(tiled)[:4] == ["m_o", "n_o", "m_i", "n_i"]
    assert names(tiled | wb.interchange("m_o", "n_i"))[:4] == ["n_i", "n_o", "m_i", "m_o"]


def test_reorder_puts_loops_in_the_given_order_and_leaves_others_where_they_are() -> None:
    tiled = naive(MATMUL) | wb.tile(m=4, n=8)
    assert names(tiled | wb.reorder("n_i", "m_o", "n_o"))[:4] == ["n_i", "m_o", "m_i", "n_o"]


def test_interchange_takes_two_loops() -> None:
    with pytest.raises(ScheduleError, match=r"swaps two loops, not 3; the order of several: reorder\('k', 'm', 'n'\)"):
        wb.interchange("k", "m", "n")
    with pytest.raises(ScheduleError, match="reorder needs at least two loops, outermost first"):
        wb.reorder("k")


CHAIN = """
def chain(float(N,N) A) -> (B, C, S) {
    B(i,j) = A(i,j) + 1
    C(i,j) = 2 * A(i,j)
    S(i) +=! B(i,k) * C(k,i)
}
"""
SO_ALREADY = {
    "reorder": wb.reorder("B/i", "B/j"),
    "arrange": wb.arrange("B", "C"),
    "unroll": wb.unroll("S/k"),
    "vectorize": wb.vectorize("C/j"),
    "parallelize": wb.parallelize("B/i"),
    "storage_align": wb.storage_align("B_local", 0, 16),
}


@pytest.mark.parametrize("kind", SO_ALREADY)
def test_a_step_that_changes_nothing_is_refused(kind: str) -> None:
    step = SO_ALREADY[kind]
    start = naive(CHAIN, N=8) | wb.decompose_reduction("S") | wb.stage("B", "S/i")
    start = start | wb.unroll("S/k") | wb.vectorize("C/j") | wb.parallelize("B/i") | wb.storage_align("B_local", 0, 16)
    with pytest.raises(UnchangedSchedule, match=rf"^{kind}\(.* changes nothing: .* already\b.*\. Leave it out$"):
        start | step
    assert "changes nothing" in start.can(step).reason


def test_of_a_step_that_only_needed_its_prerequisites_these_are_kept() -> None:
    apart = naive(MATMUL) | wb.reorder("m", "n", "k")
    assert apart == naive(MATMUL) | wb.decompose_reduction("C")


def test_merge_and_distribute_are_inverse() -> None:
    start = naive(SOFTMAX)
    merged = start | wb.merge("top", "Y")
    assert (merged | wb.distribute("Y")).tree == start.tree


def test_merge_moves_what_stands_between_to_the_front() -> None:
    text = "def two(float(M,N) X) -> (A, B) { A(m) +=! X(m,n)\n B(m) +=! X(m,n) * X(m,n) }"
    merged = naive(text) | wb.merge("A", "B.init") | wb.merge("A", "B")
    assert str(merged).splitlines()[-6:] == [
        "  for m",
        "    A.init(m)",
        "    B.init(m)",
        "    for n",
        "      A(m, n)",
        "      B(m, n)",
    ]


ILLEGAL = {
    "race": (MATMUL, wb.parallelize("k")),
    "time-inside": (SEIDEL, wb.interchange("A.1/j", "A.1/t")),
    "lanes": (SEIDEL, wb.vectorize("A.1/j")),
    "time-tile": (SEIDEL, wb.tile({"A.1/t": 2, "A.1/i": 2, "A.1/j": 2})),
    "parallel-time": (SEIDEL, wb.parallelize("t")),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_illegal_steps_show_a_witness(case: str, golden) -> None:
    text, step = ILLEGAL[case]
    with pytest.raises(IllegalSchedule) as caught:
        naive(text) | step
    assert not caught.value.verdict
    golden(str(caught.value))


def test_together_is_judged_at_its_end() -> None:
    start = naive(SEIDEL)
    there_and_back = together(wb.interchange("A.1/j", "A.1/t"), wb.interchange("A.1/t", "A.1/j"))
    with pytest.raises(IllegalSchedule):
        start | wb.interchange("A.1/j", "A.1/t")
    assert (start | there_and_back).tree == start.tree


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (wb.tile(mm=4), "unknown loop 'mm'; did you mean 'm'? known: m, n, k"),
        (wb.split("m", 0), "the block size of loop 'm' must be a positive integer, not 0"),
        (wb.merge("C", "D"), "unknown statement 'D'"),
        (wb.vectorize("D/m"), "unknown statement 'D'"),
        (wb.distribute("C.init"), "no loop holds another statement before 'C.init'"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_said(step, message) -> None:
    with pytest.raises(ScheduleError) as caught:
        naive(MATMUL) | step
    assert message in str(caught.value)


def test_a_shared_loop_name_asks_which() -> None:
    with pytest.raises(ScheduleError, match=r"loop 'm' stands in several nests; say which: top/m, Y/m"):
        naive(SOFTMAX) | wb.parallelize("m")


def test_equal_traces_are_equal_schedules_and_equal_trees_share_a_key() -> None:
    a = naive(MATMUL, M=8, N=8, K=8)
    assert (a | wb.split("m", 4)) == (a | wb.split("m", 4))
    assert (a | wb.split("m", 4)) != (a | wb.split("m", 2))
    back_and_forth = a | wb.interchange("n", "m") | wb.interchange("m", "n")
    assert back_and_forth != a
    assert back_and_forth.key == a.key
