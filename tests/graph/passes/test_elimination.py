"""Sums of costs by elimination: what trying every combination finds, and the layouts that the integer program finds."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from random import Random

import numpy as np
import pytest

import workbench as wb
from tests.graph.passes.test_channels_last import random_pictures
from tests.support import examples
from workbench.graph.passes.support.layouts import choice
from workbench.graph.passes.support.layouts.elimination import least, table

channels_last = import_module("workbench.graph.passes.channels_last")


def random_tables(seed: int):
    """Some costs over pairs and triples of a few choices, a part of them forbidden, many of them alike."""
    random = Random(seed)
    lengths = {name: random.randint(1, 3) for name in "abcdef"}
    for _ in range(random.randint(3, 8)):
        own = random.sample("abcdef", random.randint(1, 3))
        costs = np.array([random.choice((0, 1, 1, 2, 5, np.inf)) for _ in range(np.prod([lengths[c] for c in own]))])
        yield table(own, costs.astype(float).reshape([lengths[c] for c in own]))


def every_sum(tables):
    """The sum of each combination of choices, with the combination."""
    lengths = {c: n for each in tables for c, n in zip(each.choices, each.best.shape, strict=True)}
    for numbers in product(*map(range, lengths.values())):
        chosen = dict(zip(lengths, numbers, strict=True))
        yield sum(float(each.best[tuple(chosen[c] for c in each.choices)]) for each in tables), chosen


@pytest.mark.parametrize("seed", range(examples(quick=40, ci=100, full=2000)))
def test_the_least_sum_and_the_next_are_those_of_all_combinations(seed):
    tables = list(random_tables(seed))
    sums = sorted(every_sum(tables), key=lambda pair: pair[0])
    found = least(tables)
    if not np.isfinite(sums[0][0]):
        assert found is None
        return
    assert found is not None
    assert found.cost == sums[0][0]
    assert (found.cost, dict(found.chosen)) in sums
    assert found.gap == (sums[1][0] - sums[0][0] if len(sums) > 1 else np.inf)


def test_wide_tables_are_left_to_others():
    names = "abcdefghij"
    wide = [table((a, b), np.eye(4)) for a in names for b in names if a < b]
    assert least(wide) is None


def layouts_of(model: wb.Model):
    """What there is to choose in a network over pictures."""
    seen, types = [], model.typing.types
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(channels_last, "cheapest", lambda layouts: seen.append(layouts))
        for function in model.functions.values():
            channels_last._converted(function, types)
    return seen


@pytest.mark.parametrize("seed", range(examples(quick=10, ci=20, full=300)))
def test_elimination_and_the_integer_program_choose_the_same_layouts(seed):
    for layouts in layouts_of(random_pictures(seed)):
        eliminated, solved = choice._by_elimination(layouts), choice._by_integer_program(layouts)
        tables = least(choice._tables(layouts))
        assert solved is not None
        assert tables is not None
        assert tables.cost == pytest.approx(solved.cost)
        if eliminated is not None:
            assert eliminated.ways == solved.ways
