"""Contests between whole divisions: each is run as a partition runs it, and one that fails or is slow loses."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.graph.engines.random_dags import random_dag, random_engines
from tests.support import examples
from workbench.graph.engines.regions.blocks import Block, blocks_of
from workbench.graph.engines.regions.by_rules import by_rules
from workbench.graph.engines.regions.contests import contest, division_alone
from workbench.graph.engines.regions.measuring import Measuring, dispatch_seconds, host_call
from workbench.graph.engines.regions.measuring import example_arrays as arrays_of
from workbench.graph.engines.regions.taking import taken
from workbench.graph.evaluation.values import same
from workbench.lang.oracle.evaluation import evaluate as oracle
from workbench.runtime.arrays.foreign import several

CHAIN = wb.model("""
def swing<T: floats>(T(N) x, T(N) y) -> (z, top) { z(i) = sin(x(i)) * y(i) - 0.5  top max=! z(i) }
fn main(x: float32[n], y: float32[n]) { softplus(swing(softplus(x), y).0) }
""")
BETWEEN = wb.model("""
def twice(float(N) x) -> (y) { y(i) = 2.0 * x(i) }
fn main(x: float32[n], b: bool) { %a = twice(x); softplus(if b { %a } else { twice(%a) }) }
""")


def measuring_of(model: wb.Model) -> tuple[Measuring, list[Block]]:
    """What measures a model of vectors of four, on the oracles, and its blocks."""
    graph = model.graph_form()
    return Measuring(graph, {"n": 4}, oracle, "interpreter"), blocks_of(graph)


def on_host(block: Block):
    """The division without regions."""
    return [(None, 1 << at) for at, node in enumerate(block.nodes) if node in block.sites]


@given(st.integers(0, 1 << 30))
@settings(max_examples=examples(quick=10, ci=40, full=400), deadline=None)
def test_a_division_alone_computes_what_its_calls_do(seed):
    measuring, (block,) = measuring_of(random_dag(seed))
    regions = by_rules(block, [taken(block, each) for each in random_engines(seed)])
    covered = sum(each.mask for each in regions)
    parts = [*((each.engine, each.mask) for each in regions), *(p for p in on_host(block) if not p[1] & covered)]
    alone = division_alone(measuring, block, parts)
    region = measuring.region(block, block.mask(block.sites))
    assert alone is not None
    arrays = arrays_of(region)
    assert same(alone(*arrays), region.run(arrays, oracle))


def test_what_stands_around_a_branch_is_run_part_by_part():
    measuring, blocks = measuring_of(BETWEEN)
    (block,) = (each for each in blocks if len(each.sites) == 2)
    assert division_alone(measuring, block, on_host(block)) is None
    assert 0 < contest(measuring, block, {"host": on_host(block)})["host"] < float("inf")


def test_equal_divisions_have_equal_times_and_slow_ones_and_those_that_fail_lose(tmp_path):
    @wb.engine("slow")
    def slow(region):
        return lambda *arrays: (time.sleep(0.003), region.evaluate(*arrays))[1]

    @wb.engine("broken")
    def broken(region):
        raise RuntimeError("out of order")

    with wb.settings(cache=tmp_path):
        measuring, (block,) = measuring_of(CHAIN)
        whole = block.mask(block.sites)
        reverse = on_host(block)[::-1]
        among = {"host": on_host(block), "slow": [(slow, whole)], "broken": [(broken, whole)], "same": reverse}
        found = contest(measuring, block, among)
        assert found["host"] == found["same"] < found["slow"] < found["broken"] == float("inf")
        assert contest(measuring, block, among) == found  # from the disk


def test_an_engine_that_is_slow_is_given_nothing_and_one_that_is_fast_all(tmp_path):
    @wb.engine("slow")
    def slow(region):
        return lambda *arrays: (time.sleep(0.01), region.evaluate(*arrays))[1]

    @wb.engine("fast")
    def fast(region):
        known = {}

        def run(*arrays):
            key = tuple(each.tobytes() for each in arrays)
            return known[key] if key in known else known.setdefault(key, region.evaluate(*arrays))

        return run

    model = wb.model("""
    def swing<T: floats>(T(N) x) -> (z) { z(i) = sin(x(i)) * x(i) - 0.5 }
    fn main(x: float32[n]) { softplus(swing(softplus(swing(x)))) }
    """)
    with wb.settings(cache=tmp_path):
        divided = wb.partition(model, [slow, fast], host="interpreter", sizes={"n": 3000})
    assert {each.engine.name for each in divided.regions.values()} == {"fast"}
    x = np.linspace(-1, 1, 3000, dtype="float32")
    np.testing.assert_allclose(divided.evaluate(x), model.evaluate(x), rtol=1e-6)


def test_a_call_on_the_host_is_what_the_region_computes():
    measuring, (block,) = measuring_of(CHAIN)
    for _, mask in on_host(block):
        region = measuring.region(block, mask)
        arrays = arrays_of(region)
        first = several(host_call(region, oracle)(arrays))[0]  # of two results nobody takes the second
        assert same(first, region.run(arrays, oracle))


@pytest.mark.parametrize("to", ["operator", "region"])
def test_a_dispatch_takes_time(to):
    assert 0 < dispatch_seconds(to=to) < 0.01
