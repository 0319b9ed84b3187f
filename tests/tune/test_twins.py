"""Twins: points that give one and the same schedule are recognised, recorded, and neither built nor timed again."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

import workbench as wb
from tests.tune.support import SIZES, SMALL
from workbench.schedules import recipe_sketch
from workbench.schedules.scheduled_program import as_program
from workbench.schedules.sketches.space import Decision, Space
from workbench.tune import tuner
from workbench.tune.measuring.builders import Builders
from workbench.tune.problem import problem_of
from workbench.tune.searching import Surroundings, Told, make_searcher, searchers
from workbench.tune.searching.twins import Twins
from workbench.tune.searching.unlearned import RandomSearcher
from workbench.tune.storing.database import Database
from workbench.tune.trials import fastest, merged
from workbench.viz.panels.watching import study_payload

OPERATORS = {
    "rows": (SMALL, SIZES),
    "scan": (
        wb.operator("def scan(float(N,C) x) -> (y) { y(t,c) = x(t,c) for t in 1:N { y(t,c) = x(t,c) + y(t-1,c) } }"),
        {"N": 20, "C": 24},
    ),
    "chain": (wb.ops.softmax, {"M": 12, "N": 40}),
}
SPACE = Space((Decision("a", (0, 1, 2, 3)), Decision("b", tuple(range(12))), Decision("c", ("x", "y", "z"))))


def recipe(name: str, target: str = "c") -> wb.Sketch:
    operator, sizes = OPERATORS[name]
    program = as_program(operator, sizes)
    return recipe_sketch(program, problem_of(program, target).target)


@pytest.mark.parametrize("name", OPERATORS)
def test_points_that_decide_alike_what_a_schedule_follows_from_give_the_same_schedule(name):
    sketch = recipe(name)
    twins, known = Twins(sketch.space), 0
    for point in sketch.space.sample(120, 1):
        index = sketch.space.index(point)
        schedule, follows = sketch.followed(point)
        assert schedule == sketch.at(point)
        assert twins.key(index) in ("", schedule.key)
        known += twins.key(index) != ""
        twins.note(index, schedule.key, follows)
        assert twins.key(index) == schedule.key
    assert known or name != "rows"


def test_a_sketch_without_a_recipe_follows_from_all_that_it_leaves_open():
    sketch = wb.schedule(SMALL, **SIZES) | wb.tile({"R/n": wb.choose(2, 3, name="rows")})
    assert sketch.followed({"rows": 3})[1] == ("rows",)
    recipe_and_more = recipe("rows") | wb.choose(wb.unroll("R/n"), None, name="more")
    assert "more" in recipe_and_more.followed({"R_way": "loops", "more": None})[1]


class _Unknowing(RandomSearcher):
    """Points around the default recipe's, then at random, also those that are known to be twins."""

    def propose(self, count):
        return [*self.space.neighbours(self.space.default), *self.random(count)]

    def taken(self, index):
        return index in self.seen


def made(database, monkeypatch, searcher, trials=24, **more):
    """A study, and the points that its builders were asked for."""
    built: list[tuple[int, str]] = []
    usual = Builders.built

    def noted(self, requests):
        built.extend((r.number, str(sorted(r.point.items()))) for r in requests)
        return usual(self, requests)

    monkeypatch.setattr(Builders, "built", noted)
    study = wb.autotune(SMALL, SIZES, trials=trials, searcher=searcher, database=database, seed=1, **more).result()
    return study, [number for number, _ in built]


def test_twins_are_trials_with_what_was_measured_and_are_not_built_and_do_not_count(database, monkeypatch):
    study, built = made(database, monkeypatch, _Unknowing)
    twins = [t for t in study.trials if t.twin_of is not None]
    own = {t.number: t for t in study.trials if t.twin_of is None}
    assert twins
    assert study.done == 24 == len(own) - 1
    assert study.twins == len(twins) == len(study.trials) - 25
    assert len({t.key for t in own.values()}) == len(own)  # the default's is one of them
    assert not {t.number for t in twins} & {*built}
    for trial in twins:
        first = own[trial.twin_of]
        same = ("key", "outcome", "seconds", "lower", "upper", "schedule", "features")
        assert [getattr(trial, n) for n in same] == [getattr(first, n) for n in same]
        assert trial.point != first.point
        assert trial.predicted is None
        assert trial.uid != first.uid
        assert study.schedule(trial).key == study.assignment.sketch.at(trial.point).key
        assert f"the schedule of trial {first.number}" in str(trial)
    assert any(t.twin_of == 0 for t in twins)  # of the default recipe
    assert study.best_trial.twin_of is None
    assert sum(study.outcomes.values()) == len(own)
    assert f"{len(twins)} more points gave schedules that had been tried" in str(study)


def test_twins_stand_in_the_database_in_json_lines_and_in_what_is_taken_up_again(database, monkeypatch, tmp_path):
    first, _ = made(database, monkeypatch, _Unknowing, trials=12)
    store = Database(database)
    stored = {t.number: t for t in merged(store.trials(first.key.key))}
    for trial in first.trials:
        kept = stored[trial.number]
        assert (kept.key, kept.twin_of) == (trial.key, trial.twin_of)
    assert all(stored[t.number].seconds == t.seconds for t in first.trials)  # of finals, too
    assert store.export(tmp_path / "lines.jsonl")
    other = Database(tmp_path / "other.sqlite")
    other.load(tmp_path / "lines.jsonl")
    assert sorted(map(str, other.trials(first.key.key))) == sorted(map(str, store.trials(first.key.key)))
    again, built = made(database, monkeypatch, _Unknowing, trials=20)
    assert again.done == 20
    keys = [t.key for t in again.trials if t.twin_of is None]
    assert len(keys) == len(set(keys)) == 21
    assert len([n for n in built if n >= len(first.trials)]) == 8
    assert {t.uid for t in first.trials} <= {t.uid for t in again.trials}


def test_rows_of_older_tables_and_damaged_ones_have_no_twins(database):
    store = Database(database)
    study = wb.autotune(SMALL, SIZES, trials=0, database=store, seed=1)
    trial = tuner.Trial(1, {}, "measured", 1e-3, features={"cycles": 1.0}, uid="a")
    store.add(study.key, trial)
    store.add(study.key, replace(trial, number=2, uid="b", key=7, twin_of=-3))  # type: ignore[arg-type]
    assert [(t.key, t.twin_of) for t in store.trials(study.key.key)] == [("", None), ("", None)]


def test_a_search_that_finds_nothing_but_twins_ends_with_a_word(database, monkeypatch):
    monkeypatch.setattr(tuner, "IN_VAIN", 8)
    usual = recipe("rows")
    point = usual.space.full({"R_way": "loops"})
    free = [n for n in point if n not in usual.followed(point)[1]]
    options = {d.name: d.options for d in usual.space.decisions}
    decided = [{**point, n: o, m: p} for n in free for m in free for o in options[n] for p in options[m]]

    class OnlyTwins(_Unknowing):
        def ask(self, count):
            return self.fresh(decided, count)

    study, built = made(database, monkeypatch, OnlyTwins, trials=500)
    assert study.state == "finished"
    assert study.done == 1
    assert study.twins == tuner.FIRST - 1 + tuner.ROUND
    assert {*built} == {-1, 1}  # the default recipe and the first of the twins
    assert study.reason == tuner.GIVEN_UP
    assert f"ended before it had 500 trials: {study.reason}" in str(study)


@pytest.mark.parametrize("searcher", ["random", "xgb", "genetic"])
def test_a_search_of_a_space_of_few_schedules_ends_when_all_were_tried(database, monkeypatch, searcher):
    study, _ = made(database, monkeypatch, searcher, trials=300)
    keys = {study.assignment.sketch.at(p).key for p in study.assignment.sketch.space}
    assert study.done == len(keys) - 1  # the default recipe is not tried again
    assert study.reason == tuner.EXHAUSTED
    assert study.twins < study.assignment.sketch.space.size / 10


def of_a(point) -> tuple[str, ...]:
    """The decisions that a schedule of `SPACE` follows from."""
    return ("c",) if point["c"] == "z" else ("c", "a")


def key_of(point) -> str:
    return str([point[name] for name in of_a(point)])


@pytest.mark.parametrize("name", [n for n in searchers() if n != "optuna"])
def test_no_searcher_asks_for_what_it_knows_to_be_a_twin_and_each_finds_all_schedules(name):
    twins = Twins(SPACE)

    def features(points):
        for point in points:
            twins.note(SPACE.index(point), key_of(point), of_a(point))
        return [{"cycles": 10.0 + p["a"]} for p in points]

    searcher = make_searcher(name, Surroundings(SPACE, random.Random(1), features, twins=twins))
    known: set[str] = set()
    while points := searcher.ask(4):
        assert not {twins.key(SPACE.index(p)) for p in points} & known
        features(points)  # as the tuner looks at what is to be built
        known |= {key_of(p) for p in points}
        searcher.tell([Told(p, 1e-3 * (1 + p["a"])) for p in points])
    assert len(known) == 9
    assert len(searcher.results) < 9 + 4 * 4  # only points of one round can be twins unnoticed
    best = searcher.best(3)
    assert len({key_of(t.point) for t in best}) == 3


def test_the_panel_and_the_figure_do_not_take_a_twin_for_a_measurement(database, monkeypatch):
    study, _ = made(database, monkeypatch, _Unknowing)
    rows = study_payload(study, {})["trials"]
    assert {row[0]: row[8] for row in rows} == {t.number: t.twin_of for t in study.trials if t.source != "default"}
    json.dumps(rows)
    trials, outcomes = study.figure("trials", "outcomes").axes
    measured, _, hollow = trials.lines[:3]
    assert list(measured.get_xdata()) == [t.number for t in study.trials if t.source == "search" and t.twin_of is None]
    assert list(hollow.get_xdata()) == [t.number for t in study.trials if t.twin_of is not None]
    assert hollow.get_markerfacecolor() == "none"
    assert outcomes.get_xlabel() == f"trials, without {study.twins} twins"
    assert fastest(t for t in study.trials if t.twin_of is not None) is None
