"""Every step of a GPU recipe has a reason that is about a GPU."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.support import examples
from workbench.schedules.recipes.step_reasons import reasons


@pytest.mark.parametrize("name", list(PAIRS)[3 :: examples(quick=3, ci=2, full=1)])
def test_every_step_of_a_recipe_has_a_reason(name):
    assert all(why and why != "asked for" for _, why in reasons(recipe_schedule(name)))


def test_reasons_say_where_values_live_and_who_works_on_them(golden):
    schedule = wb.schedule(wb.ops.matmul, M=64, N=64, K=32) | wb.decompose_reduction("C") | wb.tile({"C/m": 16})
    schedule = schedule | wb.stage("B", "C/m_o") | wb.bind("C/m_o", "block.x") | wb.bind("C/m_i", "thread.x")
    golden("\n".join(f"{step}: {why}" for step, why in reasons(schedule)))
