"""Orders of steps: against every order there is, and on networks whose branches can be taken one by one."""

from __future__ import annotations

from itertools import permutations

import pytest

from bench.models.memory_graphs import Recorder, inception, random_graph
from workbench.errors import WorkbenchError
from workbench.graph.memory import Buffer, Lifetimes, Step, faults, plan
from workbench.graph.memory.moments import Moments
from workbench.graph.memory.ordering import searched


def possible(lifetimes):
    """Every order that the dependences allow."""
    before = lifetimes.predecessors
    for order in permutations(range(len(before))):
        if all(order.index(p) < order.index(at) for at in order for p in before[at]):
            yield order


SMALL = [seed for seed in range(60) if 3 <= len(random_graph(seed, 7).steps) <= 7]


@pytest.mark.parametrize("sharing", [False, True])
@pytest.mark.parametrize("seed", SMALL)
def test_the_order_is_the_best_there_is(seed, sharing):
    lifetimes = random_graph(seed, 7)
    moments = Moments(lifetimes, sharing)
    best = min(map(moments.peak, possible(lifetimes)))
    assert moments.peak(searched(lifetimes, sharing=sharing)) == best
    assert moments.floor <= best


def test_the_small_graphs_are_not_all_easy():
    better = [seed for seed in SMALL if (g := Moments(random_graph(seed, 7))).peak(searched(g.lifetimes)) < g.peak(
        range(len(g.lifetimes.steps)))]  # fmt: skip
    assert len(better) > 3


@pytest.mark.parametrize("seed", range(30))
def test_moments_without_sharing_are_what_a_plan_needs(seed):
    """Two ways to count: by sets of steps, and by rectangles (slices keep all they were cut from in the first)."""
    lifetimes = random_graph(seed)
    lines = Lifetimes(tuple(Step(s.name, s.reads, s.writes) for s in lifetimes.steps), lifetimes.buffers)
    found = plan(lines, sharing=False, reorder=False, alignment=1, seconds=0)
    assert found.needed_bytes == Moments(lines, False).peak(range(len(lines.steps)))


def test_a_beam_is_no_worse_than_the_given_order():
    lifetimes = random_graph(6, 200)
    moments = Moments(lifetimes)
    order = searched(lifetimes, most=50)
    assert sorted(order) == list(range(len(lifetimes.steps)))
    assert moments.peak(order) <= moments.peak(range(len(lifetimes.steps)))
    lifetimes.reordered(order)


def test_branches_are_finished_one_by_one():
    lifetimes = inception()
    given, other = plan(lifetimes, reorder=False), plan(lifetimes)
    assert faults(other, lifetimes) == []
    assert other.bytes <= 0.8 * given.bytes


def test_what_comes_after_another_step_still_does():
    r = Recorder()
    x = r.outside("x", 1)
    big = r.compute("big", 1000, x)
    small = r.compute("small", 64, x)
    lifetimes = r.finish(r.compute("a", 64, small), r.compute("b", 64, big))
    wanted = Step("b3", (big,), ("b3",), (), ("a2",))
    bound = Lifetimes((*lifetimes.steps[:3], wanted), lifetimes.buffers)
    free = plan(lifetimes).lifetimes
    assert [s.name for s in plan(bound).lifetimes.steps].index("b3") == 3
    assert free.predecessors != bound.predecessors


def test_steps_in_a_circle_are_no_lifetimes():
    with pytest.raises(WorkbenchError, match="before it is written"):
        Lifetimes((Step("a", ("y",), ("x",)), Step("b", ("x",), ("y",))), (Buffer("x", 1), Buffer("y", 1)))
