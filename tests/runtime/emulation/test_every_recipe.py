"""Every operator of the library under every recipe for GPUs: CUDA compiles, and computes what the oracle says.

All of them: `HYPOTHESIS_PROFILE=full python -m pytest tests/runtime/emulation/test_every_recipe.py`.
"""

from __future__ import annotations

import pytest

import workbench as wb
from tests.gpu_recipes import RECIPES, grown_sizes, one_of_each
from tests.ops.awkward import awkward_sizes
from tests.ops.test_compiled import NOT_AFFINE, agree, given, needs_out
from tests.ops.test_values import arguments
from tests.support import examples
from workbench.codegen.kernel import Kernel
from workbench.runtime.compilers.gpu_compiling import gpu_binary
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.runtime.emulation import build_on_cpu
from workbench.runtime.emulation.records import ORDERS

ARCHITECTURES = ("sm_80", "sm_90")
PAIRS = [(name, recipe) for name in wb.ops.list() for recipe in RECIPES]
# A stride that shares no factor with the number of recipes: each run has some of all.
CHOSEN = PAIRS[:: examples(quick=131, ci=73, full=1)]
FOR_ALL_SIZES = [name for name in wb.ops.list() if name not in NOT_AFFINE][:: examples(quick=67, ci=41, full=1)]


def right(name: str, kernel: Kernel, sizes: dict[str, int], order: int = 0) -> None:
    """The kernel's threads, in one order or the other, give what the oracle gives."""
    op, (arrays, out) = wb.ops.load(name), arguments(name, sizes)
    out = out if needs_out(op) else None
    run = build_on_cpu(kernel, order=ORDERS[order % 2])
    agree(name, run(*arrays, **given(out)), op.evaluate(*arrays, **given(out)))


def compiles(kernel: Kernel) -> None:
    """Without warnings, where there is a compiler."""
    if nvrtc() is not None:
        for architecture in ARCHITECTURES:
            assert gpu_binary(kernel, architecture).warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "recipe"), CHOSEN)
def test_a_recipe_gives_every_operator_cuda_that_is_right(name: str, recipe: str):
    tried = (grown_sizes(name), one_of_each(name)) if recipe == "default" else (grown_sizes(name),)
    for place, sizes in enumerate(tried):
        kernel = wb.generate(RECIPES[recipe](name, sizes), target="h200")
        compiles(kernel)
        right(name, kernel, sizes, place + len(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", FOR_ALL_SIZES)
def test_one_kernel_of_the_default_recipe_serves_all_sizes(name: str):
    op, cases = wb.ops.load(name), [*awkward_sizes(name), grown_sizes(name)]
    scalars = {k: v for k, v in cases[0].items() if k in op.scalars}
    kernel = wb.generate(wb.autoschedule(op, "h200", sizes=scalars), target="h200")
    compiles(kernel)
    for place, sizes in enumerate(cases):
        if all(sizes[k] == v for k, v in scalars.items()):
            right(name, kernel, sizes, place)
