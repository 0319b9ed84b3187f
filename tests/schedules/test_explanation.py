"""isl's schedules, said as named steps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from tests.fromc import polybench
from tests.fromc.test_polybench import LONG
from tests.support import examples
from workbench import poly
from workbench.errors import LoweringError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Const, Index
from workbench.schedules.explanation import explained
from workbench.schedules.explanation.single import single_steps
from workbench.schedules.normal_form import normal_form, normal_text


def program_of(name):
    operator = wb.ops.load(name)
    try:
        return wb.lower(operator)
    except LoweringError:
        return wb.lower(operator, sizes=dict(operator.examples[0]))


@pytest.mark.parametrize("fusion", ["none", "default", "max"])
@pytest.mark.slow
def test_nearly_every_operator_is_explained(fusion, capsys):
    found = Counter()
    for name in wb.ops.list():
        program = program_of(name)
        tree = poly.isl_tree(program, fusion)
        schedule = explained(program, tree)
        found[schedule is not None] += 1
        if schedule is not None:
            assert normal_form(program, schedule.tree) == normal_form(program, tree)
            assert schedule.verdict
    with capsys.disabled():
        print(f"\nisl, fusion={fusion}: {found[True]} of {sum(found.values())} schedules are named steps")
    assert found[True] >= 0.9 * sum(found.values())


@pytest.mark.parametrize("fusion", ["none", "default", "max"])
def test_the_polybench_kernels_are_explained(fusion):
    names = [name for name in polybench.NAMES if examples(quick=0, ci=0, full=1) or name not in LONG]
    traces = [wb.autoschedule(polybench.program(name), fusion=fusion).trace for name in names]
    unexplained = [n for n, trace in zip(names, traces, strict=True) if any(step.name == "affine" for step in trace)]
    assert unexplained == []


def test_the_text_of_a_normal_form_is_its_repr_whatever_order_statements_stand_in():
    """Keys in databases are hashes of that text."""
    both = wb.operator("def both(float(N,M) A) -> (R, S) { R(n) +=! A(n,m)  S(m) max=! fabs(A(n,m)) }")
    naive = wb.schedule(both, N=40, M=60)
    packed = naive | wb.decompose_reduction("R") | wb.tile({"R/n": 8}) | wb.parallelize("R/n_o")
    made = wb.autoschedule(both, N=40, M=60), wb.autoschedule(wb.ops.matmul, M=64, N=64, K=64)
    for schedule in (naive, packed, *made):
        assert normal_text(schedule.program, schedule.tree) == repr(normal_form(schedule.program, schedule.tree))


def test_a_row_that_mixes_two_loops_not_used_yet_is_two_skews():
    program = wb.from_c("void f(int n, double A[n][n]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
                        " A[i][j] = A[i][j] + 1.0; }")  # fmt: skip
    rows = [Binary("+", Index("i"), Index("j"), INT32)]
    rows.append(Binary("+", Binary("*", Const(2, INT32), Index("i"), INT32), Index("j"), INT32))
    steps = single_steps(program.statements[0], rows)
    assert steps is not None
    assert [step.name for step in steps] == ["skew", "reverse", "skew"]


def test_a_wavefront_is_skews():
    schedule = wb.autoschedule(wb.ops.load("seidel_2d"), fusion="none")
    assert [step.name for step in schedule.trace] == ["skew", "skew", "skew"]
    X = np.random.default_rng(1).random((9, 8), np.float32)
    result = wb.build(schedule | wb.tile({"A.1/t": 2, "A.1/i": 3, "A.1/j": 4}))(X, steps=4)
    np.testing.assert_allclose(result, wb.ops.load("seidel_2d").evaluate(X, steps=4), rtol=1e-5)


def test_steps_that_are_legal_only_together_stand_together():
    schedule = wb.autoschedule(wb.ops.load("jacobi_1d"), fusion="default")
    assert "wb.together(" in schedule.to_python()
    again = wb.replay(wb.schedule(schedule.program), schedule.trace)
    assert again.key == schedule.key == wb.Schedule.from_json(schedule.program, schedule.to_json()).key


def test_the_trace_can_be_edited():
    schedule = wb.autoschedule(wb.ops.softmax, fusion="max")
    parallel = schedule | wb.parallelize("m")
    assert parallel.without(len(schedule.trace)).key == schedule.key
