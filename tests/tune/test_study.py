"""Studies: they return at once, can be paused, stopped and taken up again, and end with the best schedule."""

from __future__ import annotations

import os
import signal
import time
from typing import ClassVar

import numpy as np
import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL, descendants, sketch, waited
from workbench.errors import ScheduleError, WorkbenchError
from workbench.tune.measuring.builders import Builders
from workbench.tune.searching.contract import Told
from workbench.tune.searching.unlearned import GridSearcher
from workbench.tune.trials import TIED


def test_a_study_of_a_sketch_measures_every_point_and_gives_the_fastest_schedule(database):
    study = wb.autotune(sketch(), trials=100, database=database, seed=1).result()
    assert study.state == "finished"
    assert [t.number for t in study.trials] == list(range(9))
    assert study.outcomes["measured"] == 9
    assert study.trials[0].source == "default"
    assert study.best_trial is not None
    assert study.best_trial.confirmed
    best = study.best
    A, w = (np.random.default_rng(0).random(s).astype("f4") for s in ((24, 40), 40))
    assert wb.verify(wb.build(best), A, w)
    assert study.best_trial.seconds <= TIED * min(t.seconds for t in study.trials if t.confirmed)
    assert all(t.lower <= t.seconds <= t.upper for t in study.trials)
    assert "finished, 9 trials (9 measured)" in str(study)


def test_an_operator_is_tuned_without_a_sketch(database):
    study = wb.autotune(SMALL, sizes=SIZES, trials=10, database=database, seed=1).result()
    assert len(study.trials) == 11
    assert study.outcomes["measured"] == 11, [t for t in study.trials if not t.measured]
    assert len(study.rounds) == 2
    assert study.rounds[1].quality is not None
    assert study.speedup >= 1
    for trial in study.trials:
        assert study.schedule(trial).verdict


def test_it_returns_at_once_and_the_best_before_the_first_measurement_is_the_default_recipe(database):
    begun = time.perf_counter()
    study = wb.autotune(SMALL, sizes=SIZES, trials=1000, database=database)
    assert time.perf_counter() - begun < 30  # all of them take minutes
    if not study.measured:
        assert study.best == wb.autoschedule(SMALL, study.assignment.target, sizes=SIZES)
    study.stop()
    assert study.state == "stopped"


def test_pause_resume_and_stop_keep_what_was_measured(database):
    others = _helpers()  # those that an earlier test keeps warm
    study = wb.autotune(SMALL, sizes=SIZES, trials=60, database=database, seed=2)
    assert waited(lambda: len(study.trials) > 2)
    study.pause()
    assert study.state == "paused"
    time.sleep(1.5)  # what was being measured is finished
    count = len(study.trials)
    time.sleep(1.0)
    assert len(study.trials) == count < 61
    study.resume()
    assert waited(lambda: len(study.trials) > count)
    study.stop()
    assert study.state == "stopped"
    kept = len(study.trials)
    assert waited(lambda: _helpers() <= others)
    again = wb.autotune(SMALL, sizes=SIZES, trials=0, database=database, seed=2)
    assert len(again.trials) == kept
    assert again.state == "finished"
    study.budget = kept + 2
    study.resume()
    study.result()
    assert study.state == "finished"
    assert sum(t.source == "search" for t in study.trials) == kept + 2


def _helpers() -> set[int]:
    return {p for p in descendants(os.getpid()) if _is_helper(p)}


def _is_helper(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"workbench.tune.measuring" in file.read()
    except OSError:
        return False


def test_a_study_is_taken_up_where_it_was_left_and_the_same_trials_are_not_measured_again(database):
    first = wb.autotune(SMALL, sizes=SIZES, trials=6, database=database, seed=3).result()
    known = {t.uid for t in first.trials}
    more = wb.autotune(SMALL, sizes=SIZES, trials=10, database=database, seed=3).result()
    assert known <= {t.uid for t in more.trials}
    points = [tuple(t.point.items()) for t in more.trials if t.source == "search"]
    assert len(points) == len(set(points)) == 10
    same = wb.autotune(SMALL, sizes=SIZES, trials=10, database=database, seed=3)
    assert same.state == "finished"
    other = wb.autotune(SMALL, sizes=SIZES, trials=0, database=database, seed=4)
    assert other.trials == ()


def test_a_study_that_is_taken_up_knows_which_steps_its_trials_decided_for(database):
    """Steps are stored as text: they are options again, not strangers."""
    wb.autotune(sketch(), trials=4, searcher="grid", database=database, seed=1).result()
    again = wb.autotune(sketch(), trials=8, searcher="grid", database=database, seed=1).result()
    own = [t for t in again.trials if t.source == "search"]
    space = again.assignment.sketch.space
    assert sorted(space.index(t.point) for t in own) == sorted(space.index(p) for p in space)
    assert again.best_trial.confirmed


def test_an_interrupt_while_waiting_pauses(database, monkeypatch):
    study = wb.autotune(SMALL, sizes=SIZES, trials=80, database=database)
    # While it waits, not before and not twice, however busy the machine is.
    monkeypatch.setattr("workbench.tune.progress.Progress.update", lambda progress: signal.raise_signal(signal.SIGINT))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            study.result()
    finally:
        signal.signal(signal.SIGINT, usual)
    assert study.state == "paused"
    study.stop()


def test_calls_run_the_best_schedule_that_is_known_and_the_plan_says_so(tmp_path):
    op = wb.operator("def own(float(N,M) A) -> (R) { R(n) +=! A(n,m) * A(n,m) }")
    A = np.random.default_rng(1).random((20, 70)).astype("f4")
    before = op(A)
    assert op.plan(A).source == "the default recipe"
    with wb.settings(database=tmp_path / "calls.sqlite"):
        study = wb.autotune(op, sizes={"N": 20, "M": 70}, trials=6, seed=0).result()
        plan = op.plan(A)
        assert plan.source.startswith(f"trial {study.best_trial.number} of a study")
        assert plan.schedule == study.best
        np.testing.assert_allclose(op(A), before, rtol=1e-5)
        assert op.plan(A[:10].copy()).source == "the default recipe"
        with wb.settings(tuned=False):
            assert op.plan(A).source == "the default recipe"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"trials": -1}, "trials=-1 does not fit; expected a whole number, 0 or more"),
        ({"trials": True}, "trials=True does not fit"),
        ({"seed": "x"}, "seed='x' does not fit"),
        ({"searcher": "xbg"}, "unknown searcher 'xbg'; did you mean 'xgb'?"),
        ({"runner": object}, "is no runner; expected None for this machine"),
        ({"sizes": {}}, r'N, M of odd have none: give sizes={"N": ..., "M": ...}'),
    ],
)
def test_bad_arguments_are_refused_before_anything_starts(arguments, message, database):
    given = {"sizes": SIZES, "trials": 3, "database": database, **arguments}
    with pytest.raises(WorkbenchError, match=message.replace("(", r"\(").replace("{", r"\{").replace("}", r"\}")):
        wb.autotune(SMALL, **given)


def test_spaces_without_points_and_without_decisions_are_refused(database):
    with pytest.raises(ScheduleError, match="the space is empty"):
        wb.autotune(wb.where(sketch(), "rows > 100"), database=database)
    with pytest.raises(ScheduleError, match=r"a schedule with a wb\.choose"):
        wb.autotune(wb.schedule(SMALL, **SIZES), database=database)
    with pytest.raises(ScheduleError, match="autotune takes an operator or a sketch, not 3"):
        wb.autotune(3, database=database)


def test_a_space_in_which_all_points_are_illegal_is_an_error_that_says_why(database):
    recurrence = wb.operator("def run(float(N) A) -> (Y) { Y(i) = A(i) for t in 1:N { Y(t) = Y(t - 1) * 0.5 + A(t) } }")
    start = wb.schedule(recurrence, N=40)
    loop = next(n for n in ("Y.1/t", "Y/t") if _has(start, n))
    study = wb.autotune(
        start | wb.choose(wb.parallelize(loop), wb.vectorize(loop)), database=database, searcher="random", trials=5
    )
    with pytest.raises(ScheduleError, match="none of the 2 points that were tried is a legal schedule"):
        study.result()
    assert study.state == "failed"
    assert study.outcomes["illegal"] == 2


def _has(schedule, name):
    return schedule.can(wb.unroll(name)).reason == "" or bool(schedule.can(wb.unroll(name)))


def test_the_best_point_of_other_sizes_is_tried_first_and_their_trials_teach_the_model(database):
    first = wb.autotune(SMALL, sizes={"N": 30, "M": 64}, trials=12, database=database, seed=1).result()
    own = [t for t in first.trials if t.measured and t.source == "search"]
    best = min(own, key=lambda t: (not t.confirmed, t.seconds))
    second = wb.autotune(SMALL, sizes={"N": 36, "M": 64}, trials=6, database=database, seed=1)
    assert [len(group.rows) for group in second._others] == [13]
    second.result()
    start = second.schedule(next(t for t in second.trials if t.number == 1))
    names = set(best.point) & set(second.trials[1].point)
    assert names
    assert sum(best.point[n] == second.trials[1].point[n] for n in names) >= len(names) - 1
    assert start.verdict
    assert second.trials[1].predicted is None or second.trials[1].predicted > 0


def test_finalists_are_timed_again_with_the_libraries_that_were_built_for_the_search(database, monkeypatch):
    built = []
    usual = Builders.built

    def noted(self, requests):
        built.extend(r.number for r in requests)
        return usual(self, requests)

    monkeypatch.setattr(Builders, "built", noted)
    study = wb.autotune(sketch(), trials=8, database=database, seed=1).result()
    assert any(t.confirmed for t in study.trials if t.source == "default")
    assert sum(t.confirmed for t in study.trials) > 1
    assert len(built) == len(set(built)) == len(study.trials)


class _Listening(GridSearcher):
    """Every point in order; what it is told is noted."""

    told: ClassVar[list[Told]] = []

    def tell(self, results):
        self.told.extend(results)
        super().tell(results)


@pytest.mark.parametrize("default", [True, False])
def test_a_search_begins_at_the_default_recipe_unless_it_is_left_out(default, database):
    _Listening.told.clear()
    arguments = {"sizes": SIZES, "trials": 3, "searcher": _Listening, "database": database, "seed": 1}
    study = wb.autotune(SMALL, **arguments, default=default).result()
    usual = study.assignment.sketch.space.default
    assert any(t.source == "default" for t in study.trials) is default
    assert _Listening.told[0].point == usual
    assert study.done == 3
    assert len(_Listening.told) == len(study.trials)
    assert any(t.point == usual for t in study.trials if t.source == "search") is not default
    assert (study.speedup is not None) is default
    told = len(_Listening.told)
    again = wb.autotune(SMALL, **{**arguments, "trials": 5}, default=default).result()
    assert again.done == 5
    assert sum(t.point == usual for t in _Listening.told[told:]) == 1


def test_a_sketch_without_the_default_recipe_is_not_told_of_it(database):
    _Listening.told.clear()
    wb.autotune(sketch(), trials=2, searcher=_Listening, database=database, seed=1).result()
    assert len(_Listening.told) == 2
