"""The model that chooses tiles: what makes a product longer makes its time longer, and what nobody can use costs."""

from __future__ import annotations

from itertools import pairwise

import pytest

from workbench.schedules.recipes.gpu.fragments import Tile
from workbench.schedules.recipes.gpu.tile_costs import Work, cycles
from workbench.target_gpus import GPUS

H200 = GPUS["h200"]
LARGE, SMALL = Tile(128, 128, 16, 16), Tile(16, 16, 8, 8)


def time_of(work: Work, size: Tile, splits: int = 1) -> float:
    return cycles(work, size, splits, 16, H200)


@pytest.mark.parametrize("size", [LARGE, Tile(64, 64, 8, 16), SMALL])
@pytest.mark.parametrize("side", ["rows", "columns", "depth", "around"])
def test_more_work_takes_longer(size: Tile, side: str):
    usual = {"rows": 1024, "columns": 1024, "depth": 256, "around": 4}
    times = [time_of(Work(**{**usual, side: usual[side] * n}), size) for n in (1, 2, 4, 8)]
    assert all(a < b for a, b in pairwise(times))


def test_large_tiles_are_for_large_products_and_small_ones_for_small_products():
    large, small = Work(4096, 4096, 4096, 1), Work(64, 64, 64, 1)
    assert time_of(large, LARGE) < time_of(large, SMALL)
    assert time_of(small, SMALL) < time_of(small, LARGE)


def test_splits_are_for_multiprocessors_that_would_have_nothing_to_do():
    few, enough = Work(128, 128, 4096, 1), Work(4096, 4096, 4096, 1)
    assert time_of(few, LARGE, 16) < time_of(few, LARGE) / 4
    assert time_of(enough, LARGE) < time_of(enough, LARGE, 16)


def test_a_tile_that_is_not_whole_is_worse_than_one_that_fits():
    work = Work(26, 26, 72, 500)
    assert time_of(work, Tile(26, 26, 13, 13)) < time_of(work, Tile(32, 32, 8, 8))


def test_a_chip_with_fewer_multiprocessors_takes_longer():
    work = Work(2048, 2048, 512, 1)
    assert cycles(work, LARGE, 1, 16, GPUS["t4"]) > time_of(work, LARGE)
