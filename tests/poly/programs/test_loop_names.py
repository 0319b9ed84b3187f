"""Names of loops know their parts, and steps say what the loops are called that they make."""

import pickle

import pytest

import workbench as wb
from workbench.poly.programs.loop_names import LoopName, fused_name, loop_of, loops_of, plain
from workbench.poly.programs.tree import loops
from workbench.schedules.transform import Transform

# A sum over windows of three arrays, two statements in one nest: nobody planned for it.
WINDOWS = """
def windows(float(M,N) A, float(N) w, float(M) b) -> (S, T) {
    S(m,j) +=! A(m,j+r) * w(r) where j in 0:N/2, r in 0:N/2
    T(m,j) = S(m,j) - b(m) where j in 0:N/2
}
"""


@pytest.fixture
def naive():
    return wb.schedule(wb.operator(WINDOWS), M=12, N=16)


def names(schedule):
    return [loop.name for loop in loops(schedule.tree)]


@pytest.mark.parametrize(
    "name", ["m", "C/m", "C.init/m", "C.1.init/m_i_o"], ids=lambda name: name.replace("/", " of ")
)
def test_a_name_is_its_statement_and_its_loop(name):
    own = LoopName(name)
    assert own == name
    assert loop_of(own.statement, own.loop) == own
    assert plain(name) == own.loop
    assert own.around("D") == f"D/{own.loop}"
    assert own.beside("k").statement == own.statement
    assert (own.outer, own.inner) == (f"{name}_o", f"{name}_i")
    assert pickle.loads(pickle.dumps(own)).inner == own.inner


def test_names_of_one_nest():
    assert loops_of("C", ("m", "n")) == ("C/m", "C/n")
    assert loops_of("", ("m",)) == ("m",)
    assert fused_name("C/m", "C/n") == "C/m_n"


@pytest.mark.parametrize(
    ("step", "made"),
    [
        (wb.split("S/m", 4), lambda step: (step.outer, step.inner)),
        (wb.split("S/m", 4, names=("far", "near")), lambda step: (step.outer, step.inner)),
        (wb.tile({"S/m": 4, "S/j": 2}), lambda step: (*step.blocks, *step.points)),
        (wb.tile({"S/m": 4, "S/j": 2}, names={"S/m": ("far", "near")}), lambda step: (*step.blocks, *step.points)),
        (wb.fuse("S/m", "S/j"), lambda step: (step.fused,)),
        (wb.fuse("S/m", "S/j", name="cells"), lambda step: (step.fused,)),
        (wb.split_reduction("S/r", 2), lambda step: (step.over, step.inner, step.adding)),
        (wb.split_reduction("S/r", 2, names=("far", "near")), lambda step: (step.over, step.inner, step.adding)),
        (wb.split_reduction("S/r"), lambda step: (step.over, step.adding)),
        (wb.add_unit_loop("T", 1, name="once"), lambda step: (step.made,)),
        (wb.unroll_jam("S/j", 2), lambda step: (step.outer, step.inner)),
    ],
    ids=lambda value: str(value) if isinstance(value, Transform) else "",
)
def test_the_loops_that_a_step_says_it_makes_are_there(naive, step, made):
    ready = naive | wb.decompose_reduction("S")
    found = ready | step
    assert {plain(name) for name in made(step)} <= {*names(found)}
    assert {plain(name) for name in made(step)} >= {*names(found)} - {*names(ready)}
    for whole, half in step.halves():
        assert plain(whole) in names(ready)
        assert plain(half) in names(found)


def test_a_step_takes_what_another_one_made(naive):
    cut = wb.tile({"T/m": 4, "T/j": 4})
    written = naive | cut | wb.vectorize(cut.points[1]) | wb.parallelize(cut.blocks[0])
    assert written.python() == "naive | tile({'T/m': 4, 'T/j': 4}) | vectorize('T/j_i') | parallelize('T/m_o')"
    assert wb.replay(naive, written.to_json()) == written
