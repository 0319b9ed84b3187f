"""isl's schedules, said as named steps."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import workbench as wb
from workbench import poly
from workbench.errors import LoweringError
from workbench.schedules.explanation import explained
from workbench.schedules.normal_form import normal_form


def program_of(name):
    operator = wb.ops.load(name)
    try:
        return wb.lower(operator)
    except LoweringError:
        return wb.lower(operator, sizes=dict(operator.examples[0]))


@pytest.mark.parametrize("fusion", ["none", "default", "max"])
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
