"""The PolyBench kernels from plain C: scheduled automatically, they compute what their text does in its order.

Without declared re-association and compiled without contraction: bit for bit.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.fromc.polybench import NAMES, arguments, copied, program, results, small_sizes
from tests.support import examples

FUSIONS = ("none", "default", "max")
# isl's scheduler, or the compiler after it, takes seconds for these: all their fusions are in the full run.
LONG = frozenset({"adi", "deriche", "heat-3d"})
# These call exp and pow, of which kernels have their own.
ROUNDED = frozenset({"deriche"})


def assert_same_bits(kernel, of, sizes):
    given = arguments(of, sizes)
    if of.name in ROUNDED:
        assert wb.verify(kernel, *given)
        return
    expected, computed = results(wb.evaluate_c(of, *given)), results(kernel(*copied(given)))
    for name, a, b in zip(of.outputs, computed, expected, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_there_are_twenty_three():
    assert len(NAMES) == 23


@pytest.mark.parametrize("name", NAMES)
def test_the_default_recipe_agrees(name):
    of = program(name)
    sizes = small_sizes(of)
    kernel = wb.build(wb.autoschedule(of, sizes=sizes))
    assert wb.verify(kernel, *arguments(of, sizes))


@pytest.mark.parametrize("name", NAMES)
def test_isl_s_order_gives_the_same_bits_at_any_size(name):
    """One fusion level a kernel here, all of them in the full run; sizes are left symbolic."""
    of = program(name)
    chosen = FUSIONS if examples(quick=0, ci=0, full=1) else FUSIONS[NAMES.index(name) % 3 :][: name not in LONG]
    for fusion in chosen or (None,):
        kernel = wb.build(wb.autoschedule(of, fusion=fusion) if fusion else wb.schedule(of), debug=True)
        for least in (1, 6):
            assert_same_bits(kernel, of, small_sizes(of, least))


@pytest.mark.parametrize("name", ["gemm", "syr2k", "doitgen", "covariance"])
def test_declared_sums_get_the_recipe_of_reductions(name):
    of = program(name, reassociate=True)
    sizes = small_sizes(of, 20)
    schedule = wb.autoschedule(of, sizes=sizes)
    assert any(s.reduction == "+" for s in of.statements)
    assert wb.verify(wb.build(schedule), *arguments(of, sizes))


def test_seidel_needs_a_skew_before_tiles():
    of = wb.lower(program("seidel-2d"), tsteps=6, n=12)
    with pytest.raises(wb.errors.IllegalSchedule) as caught:
        wb.schedule(of) | wb.tile(i=4, j=4)
    assert caught.value.violations
    skewed = wb.schedule(of) | wb.skew("i", by="t") | wb.skew("j", by="i") | wb.skew("j", by="t")
    assert (skewed | wb.tile(t=2, i=4, j=4)).verdict


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_isl_s_orders_agree_at_bound_sizes(name):
    of = program(name)
    sizes = small_sizes(of, 9)
    for fusion in FUSIONS:
        kernel = wb.build(wb.autoschedule(of, fusion=fusion, sizes=sizes), debug=True)
        assert_same_bits(kernel, of, sizes)
