"""The cheapest_cover division: equal to what trying every division finds, and never above the divisions of rules."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import workbench as wb
from tests.graph.engines.random_dags import random_dag
from workbench.errors import EngineError, ModelError
from workbench.graph.engines.regions.blocks import blocks_of
from workbench.graph.engines.regions.by_cost import (
    Candidate,
    candidates,
    cheapest_cover,
    is_chain,
    merged_neighbours,
    on_chain,
    sure_savings,
    without_borders,
)
from workbench.graph.engines.regions.measuring import Cost
from workbench.graph.engines.regions.taking import taken

CHAIN = wb.model("""
def add1<T: numbers>(T(N) x, T(N) y) -> (z) { z(i) = x(i) + y(i) }
fn main(x: float32[n]) { add1(softplus(add1(softplus(add1(softplus(x), x)), x)), x) }
""")


def engines(count: int) -> list[wb.graph.engines.Engine]:
    """Engines that take everything."""
    return [wb.engine(f"e{at}")(lambda region: region.evaluate) for at in range(count)]


def invented(model: wb.Model, seed: int, count: int = 2):
    """A block, and candidates whose costs are invented: the same for the same calls and engine."""
    (block,) = blocks_of(model.graph_form())
    random = np.random.default_rng(seed)
    known: dict[object, Cost] = {}

    def cost(engine: object, mask: int) -> Cost:
        key = (getattr(engine, "name", ""), mask)
        return known.setdefault(key, Cost(float(random.uniform(0.3, 1.0)) * mask.bit_count() ** 0.7))

    takes = [taken(block, each) for each in engines(count)]
    return block, candidates(block, takes, cost, lambda mask: cost(None, mask))


def by_brute_force(block, among) -> float:
    """The least cost of all divisions."""
    whole = block.mask(block.sites)
    best = float("inf")
    cheapest_of = {}
    for each in among:
        if each.mask not in cheapest_of or each.seconds < cheapest_of[each.mask].seconds:
            cheapest_of[each.mask] = each
    sets = list(cheapest_of.values())
    for count in range(1, len(block.sites) + 1):
        for chosen in combinations(sets, count):
            once = sum(each.mask.bit_count() for each in chosen) == len(block.sites)
            covers = once and sum(each.mask for each in chosen) == whole
            if covers and block.is_acyclic([each.mask for each in chosen]):
                best = min(best, sum(each.seconds for each in chosen))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_on_a_chain_it_is_the_best_there_is(seed):
    block, among = invented(CHAIN, seed)
    assert is_chain(block)
    assert sum(each.seconds for each in cheapest_cover(block, among)) == pytest.approx(by_brute_force(block, among))


@pytest.mark.parametrize("seed", range(6))
def test_on_a_graph_it_is_the_best_there_is(seed):
    model = random_dag(seed, 6)
    if len(blocks_of(model.graph_form())[0].sites) > 6:
        pytest.fail("the graph is too large to try every division")
    block, among = invented(model, seed)
    found = cheapest_cover(block, among)
    assert block.is_acyclic([each.mask for each in found])
    assert sum(each.mask for each in found) == block.mask(block.sites)
    assert sum(each.seconds for each in found) == pytest.approx(by_brute_force(block, among))
    assert sum(each.seconds for each in on_chain(block, among)) >= sum(each.seconds for each in found) - 1e-9


def test_a_division_that_would_wait_for_itself_is_cut_off():
    """Two regions that each need the other are cheap, and cannot be had."""
    model = wb.model("""
    def twice(float(N) x) -> (y) { y(i) = 2.0 * x(i) }
    fn main(x: float32[n], y: float32[n]) {
        %a = twice(x)
        %b = twice(y)
        %c = softplus(%a)
        %d = softplus(%b)
        (twice(%c), twice(%d), %a, %b)
    }
    """)
    (block,) = blocks_of(model.graph_form())
    takes = engines(1)
    singles = [Candidate(1 << at, None, Cost(1.0)) for at, n in enumerate(block.nodes) if n in block.sites]
    calls = [at for at, n in enumerate(block.nodes) if n in block.sites]
    a, b, c, d, e, f = _named(block, calls)
    crossed = [Candidate(1 << a | 1 << d, takes[0], Cost(0.1)), Candidate(1 << b | 1 << c, takes[0], Cost(0.1))]
    assert not block.is_acyclic([each.mask for each in crossed])
    found = cheapest_cover(block, [*singles, *crossed])
    assert block.is_acyclic([each.mask for each in found])
    assert sum(each.seconds for each in found) == pytest.approx(0.1 + 4)
    assert {e, f} <= set(calls)


def _named(block, calls):
    """The places of twice(x), twice(y), their softplus, and the last two."""
    starts = [at for at in calls if not block.direct[at]]
    after = [next(at for at in calls if block.direct[at] >> start & 1) for start in starts]
    last = [next(at for at in calls if block.direct[at] >> middle & 1) for middle in after]
    return (*starts, *after, *last)


def test_neighbours_of_one_engine_become_one_region_where_it_can_be_had():
    (block,) = blocks_of(CHAIN.graph_form())
    one, other = engines(2)
    calls = [1 << at for at, node in enumerate(block.nodes) if node in block.sites]
    parts = [Candidate(mask, one if at != 3 else other, Cost(1.0)) for at, mask in enumerate(calls)]
    asked = []

    def on(engine, mask):
        asked.append((engine, mask))
        return Cost(0.5)

    found = merged_neighbours(block, parts, on)
    assert asked == [(one, sum(calls[:3])), (one, sum(calls[4:]))]
    assert sorted((each.mask, each.engine.name) for each in found) == sorted(
        [(sum(calls[:3]), "e0"), (calls[3], "e1"), (sum(calls[4:]), "e0")]
    )
    refused = merged_neighbours(block, parts, lambda engine, mask: Cost(float("inf"), "too large"))
    assert sorted(each.mask for each in refused) == sorted(calls)


def test_a_border_less_is_tried_where_it_can_be_had():
    (block,) = blocks_of(CHAIN.graph_form())
    one, other = engines(2)
    calls = [1 << at for at, node in enumerate(block.nodes) if node in block.sites]
    parts = [Candidate(sum(calls[:2]), one, Cost(1.0)), Candidate(sum(calls[2:4]), other, Cost(1.0))]
    parts.append(Candidate(sum(calls[4:]), one, Cost(1.0)))
    takes = [taken(block, each) for each in (one, other)]
    found = without_borders(block, parts, takes, lambda engine, mask: Cost(0.1 * mask.bit_count()))
    divisions = {name: {each.mask: each.engine.name for each in of} for name, of in found.items()}
    assert divisions == {
        "region 1 to e1": {sum(calls[:4]): "e1", sum(calls[4:]): "e0"},
        "region 2 to e0": {sum(calls): "e0"},
        "region 3 to e1": {sum(calls[2:]): "e1", sum(calls[:2]): "e0"},
    }
    assert without_borders(block, parts, takes, lambda engine, mask: Cost(1.0, "too large")) == {}


def test_regions_that_save_next_to_nothing_are_left_to_the_host():
    (block,) = blocks_of(CHAIN.graph_form())
    (own,) = engines(1)
    calls = [1 << at for at, node in enumerate(block.nodes) if node in block.sites]
    hosts = [Candidate(mask, None, Cost(1.0)) for mask in calls]
    close, far = Candidate(sum(calls[:2]), own, Cost(1.99)), Candidate(sum(calls[2:4]), own, Cost(1.2))
    assert sure_savings([close, far, *hosts[4:]], hosts) == [*hosts[:2], far, *hosts[4:]]


def test_named_dimensions_need_numbers():
    with pytest.raises(ModelError, match=r"no number is given for n; give partition\(\.\.\., sizes="):
        wb.partition(CHAIN, engines(1), host="interpreter")


def test_a_plan_says_what_it_expects_and_what_else_would_cost():
    partition = wb.partition(CHAIN, engines(2), host="interpreter", sizes={"n": 3})
    assert {"chosen", "all on the host", "rules", "rules, e0 alone", "rules, e1 alone"} <= set(partition.totals)
    assert partition.totals["chosen"] <= min(partition.totals.values()) + 1e-12
    assert "expected, chosen" in str(partition)
    assert all(isinstance(each.others["host"], float) for each in partition.regions.values())


def test_costs_are_kept_on_disk_and_not_measured_again(tmp_path):
    with wb.settings(cache=tmp_path):
        first = wb.partition(CHAIN, engines(1), host="interpreter", sizes={"n": 3})
        files = list(tmp_path.rglob("engine-costs/*.json"))
        again = wb.partition(CHAIN, engines(1), host="interpreter", sizes={"n": 3})
        assert files
        assert again.totals == first.totals
        assert sorted(tmp_path.rglob("engine-costs/*.json")) == sorted(files)


def test_unknown_ways_are_refused_with_the_known_ones():
    with pytest.raises(EngineError, match="by='hope'; expected one of cost, rules"):
        wb.partition(CHAIN, [], by="hope")
    with pytest.raises(EngineError, match="unknown engine 'torsh'; did you mean 'torch'"):
        wb.partition(CHAIN, ["torsh"])
    with pytest.raises(EngineError, match="two engines are called 'e0'"):
        wb.partition(CHAIN, [*engines(1), *engines(1)])
