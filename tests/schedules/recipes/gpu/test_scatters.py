"""Scatters on GPUs: iterations at once that take turns at a cell, right on an emulated GPU, steps with reasons."""

from __future__ import annotations

from functools import cache

import pytest

import workbench as wb
from workbench.lang.expr import index_names
from workbench.poly.programs.tree import path
from workbench.schedules.recipes.gpu.reasons import one_thread
from workbench.schedules.recipes.step_reasons import reasons

HEAD = "int32(N) idx, int32 V) -> (float(V{}) G) where in_range(idx, 0, V)"
TEXTS = {
    "sums by segment": (
        f"def f(float(N,D) X, {HEAD.format(',D')} {{ G(idx(n),d) +=! X(n,d) }}", dict(N=300, D=20, V=9),
    ),
    "rank k": (
        f"def f(float(N,K) A, float(K,D) B, {HEAD.format(',D')} {{ G(idx(n),d) +=! A(n,k) * B(k,d) }}",
        dict(N=70, K=5, D=9, V=7),
    ),
    "two subscripts": (
        "def f(float(N) X, int32(N) row, int32(N) col, int32 V, int32 W) -> (float(V,W) G) "
        "where in_range(row, 0, V), in_range(col, 0, W) { G(row(n),col(n)) +=! X(n) }", dict(N=400, V=5, W=6),
    ),
    "greatest": (f"def f(float(N) X, {HEAD.format('')} {{ G(idx(n)) max=! X(n) }}", dict(N=400, V=7)),
    "every seventh": ("def f(float(N) X) -> (float(7) G) { G(n % 7) +=! X(n) }", dict(N=400)),
    "vectors": (f"def f(float(N,D) X, {HEAD.format(',D')} {{ G(idx(n),d) +=! X(n,d) }}", dict(N=4096, D=256, V=9)),
}  # fmt: skip


@cache
def scheduled(name: str, target: str = "cuda") -> wb.Schedule:
    text, sizes = TEXTS[name]
    return wb.autoschedule(wb.operator(text), target, sizes=sizes)


def on_threads(schedule: wb.Schedule, statement: str) -> set[str]:
    """The dims of a statement that blocks and threads divide."""
    own = schedule.program.named(statement)
    assert own is not None
    bound = [x for x in path(schedule.tree, own.id) if "." in x.kind]
    return set[str]().union(*(index_names(x.row(own.id)) for x in bound))


@pytest.mark.parametrize("name", TEXTS)
def test_what_meets_in_a_cell_is_atomic_and_all_of_it_runs_at_once(name):
    schedule = scheduled(name)
    assert schedule.verdict
    assert [step.statement for step in schedule.trace if step.name == "atomic"] == ["G"]
    assert on_threads(schedule, "G") == {*schedule.program.named("G").dims} - {"k"}
    assert not one_thread(schedule)


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "vectors"])
def test_scatters_are_right_on_the_emulated_gpu(name):
    text, sizes = TEXTS[name]
    arrays = wb.ops.sample_arrays(wb.operator(text), seed=3, **sizes)
    assert wb.verify(wb.build(scheduled(name), target="cuda-on-cpu"), *arrays)


def test_a_histogram_counts_on_many_threads_of_any_size(golden):
    schedule = wb.autoschedule(wb.ops.load("histogram"), "cuda")
    known = wb.autoschedule(wb.ops.load("histogram"), "cuda", N=1 << 20, bins=64)
    assert "atomic('h') | split('h/i', 256)" in " | ".join(map(str, known.trace))
    golden("\n".join(f"{step}: {why}" for step, why in reasons(schedule)))
    arrays = wb.ops.sample_arrays(wb.ops.load("histogram"), seed=3, N=1000, bins=7)
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), *arrays)


def test_sums_of_floats_in_an_open_order_are_told_and_counts_are_not():
    told = dict(reasons(scheduled("sums by segment")))
    assert "in an order that is open" in told["atomic('G')"]
    assert "open" not in dict(reasons(scheduled("greatest")))["atomic('G')"]


def test_where_independent_loops_fill_the_gpu_the_order_stays():
    text = TEXTS["sums by segment"][0]
    schedule = wb.autoschedule(wb.operator(text), "h200", N=64, D=1 << 17, V=9)
    assert "atomic" not in {step.name for step in schedule.trace}
    assert on_threads(schedule, "G") == {"d"}


ALONE = {
    "tuples": (
        "monoid most(float a, int32 i) { identity (-inf, -1) combine (a, i), (b, j) -> "
        "(a >= b ? a : b, a >= b ? i : j) }\n"
        "def f(float(N) X, int32(N) idx, int32 V) -> (float(V) T, int32(V) P) where in_range(idx, 0, V) "
        "{ (T(idx(n)), P(idx(n))) most=! (X(n), n) }", dict(N=99, V=5), "n",
    ),
    "recurrences": ("def f(float(N) X) -> (float(N) Y) { Y(n+1) = Y(n) * X(n) where n in 0:N-1 }", dict(N=99), "n"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONE)
def test_what_no_atomic_step_does_stays_in_one_thread_and_says_so(name):
    text, sizes, loop = ALONE[name]
    schedule = wb.autoschedule(wb.operator(text), "cuda", sizes=sizes)
    assert [inside for _, inside in one_thread(schedule)] == [(loop,)]
    told = " ".join(why for _, why in reasons(schedule))
    assert f"one thread goes through all of {loop}" in told
    assert f"a kernel of one thread, as {loop} must stay serial" in told


def test_languages_without_narrow_atomic_updates_get_none():
    text = TEXTS["greatest"][0].replace("float(", "float16(")
    op = wb.operator(text)
    assert "atomic" in {step.name for step in wb.autoschedule(op, "cuda", N=99, V=5).trace}
    schedule = wb.autoschedule(op, "opencl", N=99, V=5)
    assert [name for name, _ in one_thread(schedule)] == ["G"]
    assert wb.generate(schedule, target="opencl").source
