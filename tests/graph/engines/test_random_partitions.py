"""Random graphs among random engines: regions are convex and acyclic, cover each call once, and change no result."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.graph.engines.random_dags import dag_arguments, random_dag, random_engines
from tests.graph.random_models import random_arguments, random_model
from tests.support import examples
from workbench.graph.engines.regions.blocks import blocks_of
from workbench.graph.engines.regions.by_rules import by_rules
from workbench.graph.engines.regions.taking import taken
from workbench.graph.evaluation.values import same

SEEDS = st.integers(0, 1 << 30)
BEHAVIOURS = (
    "honest", "crashes", "crashes while compiling", "gives too many", "gives another type", "gives another shape",
    "gives other numbers", "writes to its inputs",
)  # fmt: skip


@given(SEEDS)
@settings(max_examples=examples(quick=12, ci=60, full=1000), deadline=None)
def test_regions_by_rules_are_convex_acyclic_and_cover_what_engines_take(seed):
    model = random_dag(seed, 16).graph_form()
    for block in blocks_of(model):
        takes = [taken(block, each) for each in random_engines(seed)]
        regions = by_rules(block, takes)
        assert all(block.is_convex(each.mask) for each in regions)
        assert block.is_acyclic([each.mask for each in regions])
        covered = sum(each.mask for each in regions)
        assert covered.bit_count() == sum(map(len, regions))  # none twice
        singles = [each for each in takes if each.engine.patterns is None]
        assert not sum({1 << at for each in singles for at in range(64) if each.mask >> at & 1}) & ~covered


@given(SEEDS)
@settings(max_examples=examples(quick=12, ci=60, full=1000), deadline=None)
def test_a_partition_computes_what_the_interpreter_does(seed):
    model = random_dag(seed)
    arrays = dag_arguments(model)
    partition = wb.partition(model, random_engines(seed), by="rules", host="interpreter", on_failure="raise")
    assert same(partition.evaluate(*arrays), model.evaluate(*arrays))
    assert same(partition.model.evaluate(*arrays), model.evaluate(*arrays))
    assert wb.model(str(partition.model), partition.model.constants) == partition.model


@given(SEEDS)
@settings(max_examples=examples(quick=8, ci=40, full=500), deadline=None)
def test_models_with_control_flow_and_cells_too(seed):
    model, arrays = random_model(seed), random_arguments(seed)
    partition = wb.partition(model, random_engines(seed), by="rules", host="interpreter", on_failure="raise")
    assert same(partition.evaluate(*arrays), model.evaluate(*arrays))


@given(SEEDS)
@settings(max_examples=examples(quick=12, ci=60, full=1000), deadline=None)
def test_capricious_engines_change_no_result(seed):
    model = random_dag(seed)
    arrays = dag_arguments(model)
    before = [np.array(each) for each in arrays]
    engines = random_engines(seed, BEHAVIOURS)
    partition = wb.partition(model, engines, by="rules", host="interpreter", check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for _ in range(2):
            assert same(partition.evaluate(*arrays), model.evaluate(*arrays))
    assert same(tuple(before), arrays)


def test_an_engine_that_gives_other_numbers_is_not_found_out_without_a_check():
    """So the check of the test above is what finds it out."""
    model = random_dag(0)
    engines = [random_engines(seed, ("gives other numbers",))[0] for seed in range(1)]
    partition = wb.partition(model, engines, by="rules", host="interpreter")
    arrays = dag_arguments(model)
    assert partition.regions
    assert not same(partition.evaluate(*arrays), model.evaluate(*arrays))


@pytest.mark.parametrize("seed", range(3))
def test_partitions_by_cost_compute_the_same(seed):
    model = random_dag(seed, 6)
    arrays = dag_arguments(model)
    partition = wb.partition(model, random_engines(seed), host="interpreter", sizes={"n": 4}, on_failure="raise")
    assert same(partition.evaluate(*arrays), model.evaluate(*arrays))
    assert partition.totals["chosen"] <= min(partition.totals.values())
