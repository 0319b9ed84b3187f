"""Many operators share one number of trials, and each study is kept like one of its own."""

from __future__ import annotations

import importlib

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL, sketch, waited
from workbench.errors import WorkbenchError
from workbench.tune.task_scheduler import expected_saving
from workbench.tune.tuner import ROUND

PRODUCT = wb.operator("def product(float(N,K) A, float(K,M) B) -> (C) { C(n,m) +=! A(n,k) * B(k,m) }")
PRODUCT_SIZES = {"N": 24, "K": 16, "M": 32}
PAIRS = [(SMALL, SIZES), (PRODUCT, PRODUCT_SIZES)]


def test_the_name_is_the_function_also_after_its_module_was_imported():
    importlib.import_module("workbench.tune.task_scheduler")
    assert callable(wb.tune.many)


def test_trials_are_shared_and_each_has_its_round_first(database):
    found = wb.tune.many(PAIRS, trials=40, database=database, seed=1).result()
    assert found.state == "finished"
    assert found.done == 40
    assert all(s.done >= ROUND and s.state == "finished" for s in found.studies)
    assert all(s.best_trial.confirmed for s in found.studies)
    assert found.seconds == sum(s.best_trial.seconds for s in found.studies)
    assert "2 studies: finished, 40 of 40 trials" in str(found)
    alone = wb.autotune(SMALL, sizes=SIZES, trials=0, database=database, seed=1)
    assert {t.uid for t in alone.trials} == {t.uid for t in found.studies[0].trials}


def test_the_operator_with_the_greater_weight_has_more_trials(database):
    found = wb.tune.many(PAIRS, trials=56, weights=[0.001, 1000], database=database, seed=1).result()
    light, heavy = (s.done for s in found.studies)
    assert (light, heavy) == (ROUND, 56 - ROUND)


def test_equal_operators_share_a_study_and_add_their_weights(database):
    found = wb.tune.many([sketch(), sketch()], trials=8, weights=[2, 3], database=database, seed=1).result()
    assert found.studies[0] is found.studies[1]
    assert "  5 x odd" in str(found)


def test_a_space_that_is_used_up_leaves_its_trials_to_others(database):
    both = [sketch(2, 3), (PRODUCT, PRODUCT_SIZES)]
    found = wb.tune.many(both, trials=32, weights=[1000, 1], database=database).result()
    assert [s.done for s in found.studies] == [4, 28]


def test_pause_resume_and_stop(database):
    found = wb.tune.many(PAIRS, trials=400, database=database, seed=1)
    assert waited(lambda: found.done > 2)
    found.pause()
    assert found.state == "paused"
    found.resume()
    count = found.done
    assert waited(lambda: found.done > count)
    found.stop()
    assert found.state == "stopped"
    again = wb.tune.many(PAIRS, trials=0, database=database, seed=1).result()
    assert again.done == found.done
    assert again.state == "finished"


def test_stopped_between_two_rounds_it_is_stopped(database):
    found = wb.tune.many(PAIRS, trials=400, database=database, seed=1)
    for study in found.studies:  # as if no round were granted any more
        study.grant = lambda trials: None
    assert waited(lambda: all(s.waits for s in found.studies))
    found.stop()
    assert found.state == "stopped"
    assert {s.state for s in found.studies} == {"finished"}


def test_it_goes_on_where_it_was_left(database):
    first = wb.tune.many(PAIRS, trials=16, database=database, seed=1).result()
    more = wb.tune.many(PAIRS, trials=24, database=database, seed=1).result()
    assert more.done == 24
    assert {t.uid for s in first.studies for t in s.trials} <= {t.uid for s in more.studies for t in s.trials}


def test_savings_are_expected_where_there_were_some_and_where_little_was_tried():
    assert expected_saving([]) == float("inf")
    assert expected_saving([None, None]) < expected_saving([1e-4])
    assert expected_saving([5.0, 4.0, 3.0]) > expected_saving([3.0, 3.0, 3.0])
    assert expected_saving([3.0]) > expected_saving([3.0, 3.0])


@pytest.mark.parametrize(
    ("what", "given", "message"),
    [
        ([], {}, "many takes a list of operators or sketches, not"),
        (SMALL, {}, "many takes a list of operators"),
        ([SMALL], {"trials": -1}, "trials=-1 does not fit"),
        ([SMALL], {"weights": [1, 2]}, "there are 2 weights for 1 operators"),
        ([SMALL], {"weights": [-1]}, "the weight -1 does not fit; expected numbers, 0 or more"),
        ([SMALL], {}, "N, M of odd have none"),
        ([3], {}, "autotune takes an operator or a sketch, not 3"),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(what, given, message, database):
    with pytest.raises(WorkbenchError, match=message):
        wb.tune.many(what, database=database, **given)
