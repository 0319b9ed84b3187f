"""Builders: what others wait for meanwhile is looked at, and gives the same answers."""

from __future__ import annotations

import pytest

from tests.tune.support import SIZES, SMALL, sketch
from workbench.schedules.recipes import default_schedule
from workbench.schedules.scheduled_program import as_program
from workbench.tune.measuring.builders import Builders, helpers
from workbench.tune.measuring.building import Look, Request, Task
from workbench.tune.problem import problem_of

PROGRAM = as_program(SMALL, SIZES)
PROBLEM = problem_of(PROGRAM, "c")


@pytest.fixture
def builders(tmp_path):
    found = Builders(Task(sketch(), PROBLEM.target, PROBLEM.toolchain, str(tmp_path)), helpers(2), 60.0)
    yield found
    found.close()


def test_a_builder_without_work_looks_at_what_is_foreseen(builders, monkeypatch):
    points = list(sketch().space)
    asked: list[Look | Request] = []
    begin = builders._begin
    monkeypatch.setattr(builders, "_begin", lambda helper, job: asked.append(job) or begin(helper, job))
    builders.foresee(points)
    (built,) = builders.built([Request(0, {}, default_schedule(PROGRAM, PROBLEM.target))])
    assert built.outcome is None
    ahead = [p for look in asked if isinstance(look, Look) for p in look.points]
    assert ahead  # while the other builder made the default recipe
    found = builders.looks(points)
    assert [p for look in asked if isinstance(look, Look) for p in look.points].count(ahead[0]) == 1
    assert found == builders.looks(points)  # nothing is remembered: both builders look at half of them again
    assert all(seen is not None for seen in found)


def test_nothing_is_looked_at_while_nobody_builds(builders):
    builders.foresee(list(sketch().space))
    assert list(builders.built([])) == []
    assert not builders.seen


def test_a_builder_that_dies_on_a_look_costs_nothing(builders, monkeypatch):
    points = list(sketch().space)
    builders.foresee(points)
    receive = type(builders.helpers[0]).receive

    def dying(helper, seconds):
        if helper is builders.helpers[1]:
            helper.process.kill()
        return receive(helper, seconds)

    monkeypatch.setattr(type(builders.helpers[0]), "receive", dying)
    (built,) = builders.built([Request(0, {}, default_schedule(PROGRAM, PROBLEM.target))])
    assert built.outcome is None
    monkeypatch.undo()
    assert all(seen is not None for seen in builders.looks(points))
