"""Looks at points: each schedule is looked at once, however many points give it."""

from __future__ import annotations

import pytest

from tests.tune.support import SIZES, SMALL
from workbench.schedules import recipe_sketch
from workbench.schedules.scheduled_program import as_program
from workbench.tune.looking import Looking
from workbench.tune.measuring.building import seen_at
from workbench.tune.measuring.runner import Assignment
from workbench.tune.problem import problem_of
from workbench.tune.searching.twins import Twins


class Eyes:
    """A runner that looks, and notes at what."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.asked: list[dict[str, object]] = []

    def looks(self, points):
        self.asked += points
        return [seen_at(self.assignment.sketch, p, self.assignment.target) for p in points]


@pytest.fixture(scope="module")
def assignment():
    program = as_program(SMALL, SIZES)
    problem = problem_of(program, "c")
    return Assignment(
        recipe_sketch(program, problem.target), program, problem.target, problem.toolchain, problem.threads
    )


def looking_of(assignment: Assignment) -> tuple[Looking, Eyes]:
    eyes = Eyes(assignment)
    return Looking(assignment, eyes, Twins(assignment.sketch.space)), eyes  # type: ignore[arg-type]


def test_a_point_that_is_known_to_give_a_schedule_that_was_seen_is_not_looked_at(assignment):
    looking, eyes = looking_of(assignment)
    space = assignment.sketch.space
    first, second = space.sample(60, 1), space.sample(60, 2)  # of few schedules
    looking(first)
    looked = len(eyes.asked)
    twins = [p for p in second if looking.key(p)]
    found = looking(second)
    assert twins
    assert len(eyes.asked) - looked == len(second) - len(twins)
    for point, seen in zip(second, found, strict=True):
        alone = seen_at(assignment.sketch, point, assignment.target)
        assert (seen is None) == (alone is None)
        assert seen is None or (seen.key, seen.features) == (alone.key, alone.features)


def test_seconds_are_those_of_points_that_were_looked_at(assignment):
    looking, _ = looking_of(assignment)
    points = assignment.sketch.space.sample(6, 3)
    looking(points)
    assert 0.0 < looking.seconds_for(points[:1]) < looking.seconds
    looking.begin()
    looking(points)  # all are known
    assert looking.count == 0
    assert looking.seconds_for(points) <= looking.seconds
