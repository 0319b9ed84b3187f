"""Every operator of the library on a GPU, under every recipe, against the oracle at awkward sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import workbench as wb
from tests import gpu_schedules
from tests.ops.awkward import awkward_sizes
from tests.ops.test_compiled import agree, given, needs_out
from tests.ops.test_values import arguments
from tests.support import examples
from tests.wild_gpu_schedules import wild_gpu_schedule
from workbench.schedules import Schedule

pytestmark = pytest.mark.gpu

RECIPES: dict[str, Callable[[str, dict[str, int]], Schedule]] = {
    "default": lambda name, sizes: wb.autoschedule(wb.ops.load(name), "cuda", sizes=sizes),
    "naive": lambda name, sizes: gpu_schedules.bound(wb.schedule(wb.ops.load(name), sizes=sizes)),
}
SIZES = 2
SEEDS = range(examples(quick=40, ci=200, full=2000))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("name", wb.ops.list())
def test_an_operator_agrees_with_the_oracle(name: str, recipe: str) -> None:
    op = wb.ops.load(name)
    for sizes in awkward_sizes(name)[:SIZES]:
        arrays, out = arguments(name, sizes)
        out = out if needs_out(op) else None
        kernel = wb.build(RECIPES[recipe](name, sizes), target="cuda")
        agree(name, kernel(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


@pytest.mark.parametrize("name", gpu_schedules.HAND_MADE)
def test_a_schedule_made_by_hand_agrees_with_the_oracle(name: str) -> None:
    schedule = gpu_schedules.HAND_MADE[name]()
    op = schedule.program.definition
    assert op is not None
    sizes = dict(schedule.program.sizes) or {"M": 70, "N": 45, "K": 33}
    arrays, out = arguments(op.name, sizes)
    assert wb.verify(wb.build(schedule, target="cuda"), *arrays, **given(out if needs_out(op) else None))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_schedule_agrees_with_the_oracle(seed: int) -> None:
    schedule = wild_gpu_schedule(seed)
    if schedule is None:
        return
    op = schedule.program.definition
    assert op is not None
    arrays, out = arguments(op.name, dict(schedule.program.sizes))
    out = out if needs_out(op) else None
    kernel = wb.build(schedule, target="cuda")
    agree(op.name, kernel(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))
