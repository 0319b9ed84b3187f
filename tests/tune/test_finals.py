"""The fastest trials, timed again: what disturbs the machine for a while decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from workbench.tune.measuring.building import Built, Request
from workbench.tune.measuring.local_runner import PASSES, LocalRunner, _beaten
from workbench.tune.measuring.runner import Result
from workbench.tune.trials import TIED, Trial, fastest

DEFAULT = wb.schedule(wb.ops.matmul, M=2, N=2, K=2)


class Disturbed(LocalRunner):
    """A runner whose second timing is ten times too slow, whatever it is of; number 9 gives wrong results."""

    def __init__(self) -> None:
        super().__init__()
        self.timed: list[int] = []
        self.checked: list[int] = []
        self.ended: list[int] = []

    def stop(self) -> None:
        """The end of the process that times."""
        self.ended.append(len(self.timed))

    def _timed(self, built: Built, best: float | None, patience: float, *, right: bool = False) -> Result:
        self.timed.append(built.number)
        self.checked += [] if right else [built.number]
        if built.number == 9:
            return Result(9, "wrong", "another number")
        seconds = built.number * 1e-3 * (10.0 if len(self.timed) == 2 else 1.0)
        return Result(built.number, "measured", seconds=seconds, lower=seconds, upper=seconds, run_seconds=patience)


def again(
    numbers: list[int], refused: tuple[int, ...] = (), usual: tuple[int, ...] = ()
) -> tuple[Disturbed, dict[int, Result]]:  # fmt: skip
    runner = Disturbed()

    class Shop:
        def built(self, requests):
            return [replace(a_built(r.number), outcome="not built", message="no") for r in requests]

    class Saved:
        def result(self):
            """Nothing was computed."""

    runner.shop, runner.saved, runner.runner = Shop(), Saved(), runner  # type: ignore[assignment]
    runner.known = {n: a_built(n) for n in numbers}
    requests = [Request(n, {}, DEFAULT if n in usual else None) for n in (*numbers, *refused)]
    found = list(runner.again(requests, 6.0))
    assert len({r.number for r in found}) == len(found)
    return runner, {r.number: r for r in found}


def test_each_pass_has_a_process_of_its_own():
    runner, _ = again([1, 2, 3])
    assert runner.ended == [3 * n for n in range(1, PASSES)]


def a_built(number: int) -> Built:
    return Built(number=number)


def test_finalists_are_timed_in_turn_and_one_disturbed_pass_decides_nothing():
    runner, found = again([1, 2, 3])
    assert runner.timed == [1, 2, 3] * (PASSES - 1) + [1]
    assert runner.checked == [1, 2, 3]
    assert {n: r.seconds for n, r in found.items()} == pytest.approx({1: 1e-3, 2: 2e-3, 3: 3e-3})
    assert found[2].upper == pytest.approx(20e-3)
    assert found[1].run_seconds == pytest.approx(6.0)


def test_one_that_may_still_be_the_fastest_and_the_default_recipe_are_timed_in_every_pass():
    runner, found = again([1, 2, 3], usual=(3,))
    assert runner.timed == [1, 2, 3, 1, 2, 3, 1, 3]
    assert found[3].run_seconds == found[1].run_seconds > found[2].run_seconds
    first, second = ([Result(0, "measured", seconds=s) for s in own] for own in ((1.0, 1.2), (1.1, 1.3)))
    assert _beaten({0: first, 1: second}, set()) == set()
    assert _beaten({0: first[:1], 1: second}, set()) == {1}
    assert _beaten({0: first[:1], 1: second}, {1}) == set()


def test_one_that_fails_is_not_timed_again_and_one_that_is_not_built_is_said():
    runner, found = again([1, 9], refused=(7,))
    assert runner.timed.count(9) == 1
    assert found[9].outcome == "wrong"
    assert found[7].outcome == "not built"
    assert found[1].seconds == pytest.approx(1e-3)


def test_what_is_hardly_faster_gives_way_to_the_default_recipe():
    usual = Trial(0, {}, "measured", 1e-3, source="default", confirmed=True)
    tied = Trial(1, {}, "measured", 1e-3 / (TIED - 1e-4), confirmed=True)
    faster = Trial(2, {}, "measured", 1e-3 / (TIED + 1e-4), confirmed=True)
    assert fastest([usual, tied]) is usual
    assert fastest([usual, tied, faster]) is faster
    assert fastest([tied]) is tied
    assert fastest([replace(usual, confirmed=False), tied]) is tied
    assert fastest([replace(usual, outcome="wrong", seconds=None), tied]) is tied
