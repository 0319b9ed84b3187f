"""Hundreds of random graphs: the judge accepts every plan, and so does running it on poisoned memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.models.memory_graphs import random_graph
from tests.graph.memory.arena_run import expected, in_arena
from tests.support import examples
from workbench.graph.memory import MemoryPlan, faults, plan

GRAPHS, CHUNKS = examples(quick=100, ci=100, full=500), 25
VARIANTS = {
    "tokens": {"planner": "tokens"},
    "offsets": {"sharing": False, "reorder": False},
    "sharing": {"reorder": False},
    "everything": {},
    "unaligned": {"alignment": 1, "reorder": False},
}


def planned(lifetimes, **asked):
    found = plan(lifetimes, **{"seconds": 0.02} | asked)
    assert isinstance(found, MemoryPlan)
    return found


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_plans_of_random_graphs_hold(chunk):
    for seed in range(chunk, GRAPHS, CHUNKS):
        lifetimes = random_graph(seed)
        results = expected(lifetimes)
        for name, asked in VARIANTS.items():
            found = planned(lifetimes, **asked)
            assert faults(found, lifetimes) == [], (seed, name)
            assert found.bytes >= found.needed_bytes >= max(found.live_bytes, default=0) - 1, (seed, name)
            assert same(in_arena(found), results), (seed, name)


def moved(found, number, by):
    """The plan with one buffer elsewhere."""
    places = list(found.places)
    places[number] = replace(places[number], offset=max(0, places[number].offset + by))
    return replace(found, places=tuple(places), bytes=found.bytes + abs(by))


@pytest.mark.parametrize("seed", range(20))
def test_the_judge_sees_a_buffer_that_was_moved_over_another(seed):
    """Whatever changes a result on poisoned memory, the judge sees; and some moves do."""
    lifetimes = random_graph(seed)
    found, results, wrong = planned(lifetimes), expected(lifetimes), 0
    for number in range(len(found.places)):
        for by in (-64, 64, -1024):
            other = moved(found, number, by)
            if not same(in_arena(other), results):
                wrong += 1
                assert faults(other), (seed, number, by)
    assert wrong or found.bytes <= 128 or len(found.places) < 3


def test_the_judge_sees_every_kind_of_fault():
    lifetimes = random_graph(3)
    found = planned(lifetimes)
    first = found.places[0]
    assert faults(found, lifetimes) == []
    assert "no multiple of 64" in faults(moved(found, 0, 3))[0]
    assert "is not in the arena" in faults(replace(found, bytes=0))[0]
    assert "places differ" in faults(replace(found, places=found.places[1:]))[0]
    assert (
        "bytes in the plan"
        in faults(replace(found, places=(replace(first, size=first.size + 1), *found.places[1:])))[0]
    )
    assert "the plan has other steps" in faults(found, random_graph(4))
