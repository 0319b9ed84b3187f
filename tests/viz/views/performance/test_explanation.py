"""`wb.explain`: what is left out stays legal, ratios are of one round, any schedule has an explanation."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from tests.viz.values import parsed
from workbench.errors import LoweringError, WorkbenchError
from workbench.viz.views.performance.ablation_data import Removal, Timed, ablation, without_step
from workbench.viz.views.performance.ablation_drawing import bars
from workbench.viz.views.performance.explanation_text import sentences, step_table

CEILINGS = wb.Ceilings(1e11, {"L2": 1e11, "L3": 5e10, "memory": 1e10})
TRIANGLE = """
void f(int n, double A[n][n], double x[n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      x[i] += A[i][j];
}
"""


def explained(value, **asked):
    return wb.explain(value, seconds=0.001, ceilings=CEILINGS, **asked)


def tiled():
    return (
        wb.schedule(wb.ops.matmul, M=32, N=32, K=32)
        | wb.decompose_reduction("C")
        | wb.tile({"C/m": 8})
        | wb.vectorize("C.init/n")
        | wb.unroll("C/m_i")
    )


def test_what_cannot_stay_falls_with_the_step():
    schedule = tiled()
    after, lost = without_step(schedule, 1)
    assert [str(step) for step in lost] == ["unroll('C/m_i')"]
    assert [step.name for step in after.trace] == ["decompose_reduction", "vectorize"]
    assert without_step(schedule, 3) == (schedule.undo(), ())


def test_ratios_are_taken_in_each_round():
    def prepare(schedule):
        return lambda: 1.0 + 3.0 * all(step.name != "tile" for step in schedule.trace)

    timed, removals = ablation(tiled(), prepare, seconds=1e-9)
    assert timed.seconds == 1.0
    assert [r.ratio for r in removals] == [1.0, 4.0, 1.0, 1.0]
    assert removals[1].spread == (4.0, 4.0)
    assert removals[1].also == ("unroll('C/m_i')",)


def test_an_illegal_rest_is_named_and_not_run():
    jacobi = wb.schedule(wb.ops.load("jacobi_1d"), N=64, steps=8)
    schedule = jacobi | wb.together(wb.shift("A.1/i", 1), wb.merge("B", "A.1"))
    place = next(i for i, step in enumerate(schedule.trace) if step.name == "shift")
    built = []
    _, removals = ablation(schedule, lambda one: built.append(one) or (lambda: 1.0), seconds=1e-9)
    assert removals[place].reason == "illegal without it"
    assert removals[place].ratio is None
    assert all(one.verdict for one in built)


def test_values_text_and_drawing_agree():
    picture = explained(tiled())
    found = picture.data
    assert [r.place for r in found.removals] == [0, 1, 2, 3]
    assert found.flops_per_second == pytest.approx(2 * 32**3 / found.timed.seconds)
    assert found.bytes_moved == 3 * 4 * 32 * 32
    assert picture.text.startswith("matmul for M=32, K=32, N=32: ")
    words = "".join(parsed(picture.svg).itertext())
    assert "tile({'C/m': 8}) +1" in words
    assert picture.text.count("×") >= 4


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("softmax", {"M": 16, "N": 1024}),
        ("jacobi_2d", {"N": 32, "M": 32, "steps": 3}),
        ("lookup", {"E": 100, "D": 64, "B": 8, "L": 40}),
        ("trmm", {"M": 48, "N": 32}),
        ("transpose", {"M": 64, "N": 48}),
        ("cholesky", {"N": 24}),
    ],
)
def test_any_operator_has_an_explanation(name, sizes):
    found = explained(wb.autoschedule(wb.ops.load(name), sizes=sizes), ablation=False).data
    assert found.timed.seconds > 0
    assert found.levels
    assert bool(found.roofline) == bool(found.flops)
    assert found.loops or found.unread


def test_a_program_from_c_and_sizes_left_open():
    program = wb.from_c(TRIANGLE)
    found = explained(wb.autoschedule(program), sizes={"n": 40}, ablation=False).data
    assert found.flops == 40 * 41 // 2
    kernel = wb.build(wb.autoschedule(wb.ops.softmax))
    assert explained(kernel, sizes={"M": 8, "N": 64}, ablation=False).data.program.sizes == {"M": 8, "N": 64}


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(LoweringError, match="give sizes="):
        explained(wb.autoschedule(wb.ops.softmax))
    with pytest.raises(WorkbenchError, match="takes a schedule"):
        explained(3)
    with pytest.raises(WorkbenchError, match="number of seconds"):
        wb.explain(tiled(), seconds=0)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (0.97, "With its arrays on a few pages, near the core, it takes 970 ms, as long: memory does not bind it."),
        (0.6, "With its arrays on a few pages, near the core, it takes 600 ms (60%): the rest is waiting."),
        (1.05, "it takes 1 s, as long: memory does not bind it."),
        (1.5, ""),
        (None, ""),
    ],
)
def test_it_says_whether_memory_binds(left, words):
    found = explained(tiled(), ablation=False).data
    found = replace(found, timed=Timed((1.0,)) if left is None else Timed((1.0,), (2 * left,), (2.0,)))
    assert words in "\n".join(sentences(found))
    assert bool(words) == ("near the core" in "\n".join(sentences(found)))


def test_it_says_that_vectors_are_not_full():
    machine = wb.Target(vector_bits=256)
    apart = wb.schedule(wb.ops.matmul, M=32, N=13, K=64) | wb.decompose_reduction("C")
    narrow = apart | wb.reorder("C/m", "C/k", "C/n") | wb.vectorize("C/n")
    text = str(wb.explain(narrow, machine, seconds=0.001, ablation=False, ceilings=CEILINGS))
    assert "256-bit vectors, 81% full: " in text
    assert "% full" not in str(wb.explain(tiled(), machine, seconds=0.001, ablation=False, ceilings=CEILINGS))


def test_calls_with_folded_arrays_are_timed_in_the_same_rounds():
    beside = (lambda: 1.0), (lambda: 4.0)
    timed, _ = ablation(tiled(), lambda one: lambda: 2.0, seconds=1e-9, steps=False, beside=beside)
    assert len(timed.folded) == len(timed.unfolded) == len(timed.rounds)
    assert timed.without_waiting == 0.25


def test_rows_without_a_ratio_say_why(golden):
    rows = (
        Removal(0, "tile(m=8)", ("unroll('m_i')",), 2.0, (2.0, 2.5, 1.9)),
        Removal(1, "parallelize('m')", (), 1.0, (0.7, 0.8, 0.75)),
        Removal(2, "vectorize('n')", reason="the same program without it"),
    )
    parsed_marks = [m.text for m in bars(rows).marks if type(m).__name__ == "Text"]
    assert "the same program without it" in parsed_marks
    golden("\n".join([*parsed_marks, *(", ".join(row) for row in step_table(rows).rows)]))
