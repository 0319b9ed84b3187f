"""Random points of the spaces that the recipes for GPUs leave open: executed on this processor, they are right.

All operators: `HYPOTHESIS_PROFILE=full python -m pytest tests/runtime/emulation/test_gpu_spaces.py`.
"""

from __future__ import annotations

import pytest

import workbench as wb
from tests.gpu_recipes import grown_sizes
from tests.runtime.emulation.test_every_recipe import right
from tests.support import examples
from workbench.target import Target

OPERATORS = wb.ops.list()[:: examples(quick=31, ci=9, full=1)]
TARGETS = ("h200", "rtx4090", "t4")


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_every_point_computes_what_the_operator_says(name: str):
    target = Target(TARGETS[len(name) % len(TARGETS)])
    sizes = grown_sizes(name)
    found = wb.sketch(wb.ops.load(name), sizes, target)
    for place, point in enumerate(found.space.sample(examples(quick=2, ci=3, full=8), 11)):
        schedule = found.at(point)
        assert schedule.verdict, point
        right(name, wb.generate(schedule, target=target), sizes, place)
