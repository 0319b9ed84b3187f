"""Searches on recorded spaces, where nothing is timed: what the model is worth is the same on every machine."""

from __future__ import annotations

from functools import cache
from statistics import median

import numpy as np
import pytest

from bench.tuning.replays.recording import recorded
from bench.tuning.replays.replaying import FIRST, NEAR, Replay
from bench.tuning.replays.spaces import SPACES
from tests.support import examples

SEEDS, SEARCHES = range(examples(quick=3, ci=5, full=20)), range(examples(quick=9, ci=15, full=20))


@cache
def replay(name: str) -> Replay:
    return Replay.of(name)


def needed(name: str, *, transfer: bool = False) -> float:
    """Trials of the learned search until a point within 5 % of the optimum, the median of the seeds."""
    return median(len(replay(name).search("xgb", seed, transfer=transfer)) for seed in SEARCHES)


def by_chance(name: str) -> int:
    """Trials after which random search has such a point with a chance of a half."""
    own, trials, missed = replay(name), 0, 1.0
    near, left = sum(s is not None and s <= NEAR * own.best for s in own.seconds.values()), len(own.seconds)
    while missed > 0.5:
        missed *= 1.0 - near / left
        trials, left = trials + 1, left - 1
    return trials


def test_the_recorded_spaces_are_of_five_kinds_and_few_of_their_points_are_near_the_optimum():
    assert len(SPACES) == 5
    for name, own in SPACES.items():
        _, (whole, *others) = recorded(name)
        best = float(np.nanmin(whole.seconds))
        assert len(whole.seconds) == own.make(**own.sizes).space.size >= 2000
        assert np.sum(whole.seconds <= NEAR * best) <= 0.02 * len(whole.seconds), name
        assert others
        assert all(other.sizes != own.sizes for other in others)


@pytest.mark.parametrize("name", SPACES)
def test_the_learned_search_needs_a_quarter_of_the_trials_of_random_search_and_a_tenth_with_other_sizes(name):
    assert 4 * needed(name) <= by_chance(name)
    assert 10 * needed(name, transfer=True) <= by_chance(name)


def test_the_analytic_ranking_alone_is_within_a_tenth_of_the_optimum_in_four_of_five_spaces():
    found = {name: median(replay(name).first(seed) for seed in SEEDS) for name in SPACES}
    assert FIRST == 16
    assert sum(factor <= 1.10 for factor in found.values()) >= 4, found
