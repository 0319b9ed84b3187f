"""Panels of pixels: what pointwise convolutions read, packed for all rows."""

from __future__ import annotations

from random import Random

import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from tests.support import examples
from workbench.target import Target

POINTWISE = """
def pointwise(float(N,C,H,W) I, float(F,C) K) -> (O) {
    O(n,f,y,x) +=! I(n, c, {step} * y, {step} * x) * K(f,c)
        where y in 0:(H - 1) / {step} + 1, x in 0:(W - 1) / {step} + 1
}"""
GROUPED = """
def grouped(float(N,G,C,H,W) I, float(G,F,C) K) -> (O) { O(n,g,f,y,x) +=! I(n,g,c,y,x) * K(g,f,c) }"""
DOWN = "def down(float(C,H,W) I, float(F,C) K) -> (O) { O(f,y,x) +=! I(c, y + 1, x) * K(f,c) where y in 0:H - 1 }"


def text(step: int) -> str:
    return POINTWISE.replace("{step}", str(step))


def packs(source: str, sizes: dict[str, int]) -> bool:
    return "_panel'" in str(wb.autoschedule(wb.operator(source), **sizes))


def check(source: str, sizes: dict[str, int], threads: int, seed: int = 0) -> None:
    """The default, with the flags that users get, against the oracle."""
    agree(wb.autoschedule(wb.operator(source), **sizes), seed=seed, threads=threads, debug=False)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("batch", "side"), [(1, 14), (1, 7), (2, 9), (3, 12)])
def test_packed_pixels_are_summed_right(step, threads, batch, side):
    sizes = dict(N=batch, C=40, H=side * step, W=side * step, F=197)
    assert packs(text(step), sizes)
    check(text(step), sizes, threads)


def test_random_pictures_are_summed_right():
    for seed in range(examples(quick=4, ci=12, full=200)):
        random = Random(seed)
        step = random.choice((1, 1, 2, 3))
        sizes = dict(N=random.choice((1, 1, 2)), C=random.randint(30, 90), F=random.randint(90, 300))
        sizes |= dict(H=random.randint(5, 40), W=random.randint(5, 40))
        check(text(step), sizes, random.choice((1, 2)), seed)


@pytest.mark.parametrize("groups", [1, 2, 5])
def test_groups_have_panels_of_their_own(groups):
    sizes = dict(N=2, G=groups, C=33, H=8, W=10, F=120)
    assert packs(GROUPED, sizes)
    check(GROUPED, sizes, 2)


def test_a_picture_that_is_read_from_its_second_row_on_stays_where_it_is():
    """Its panels would begin within those of the tiles."""
    sizes = dict(C=64, H=15, W=14, F=192)
    assert not packs(DOWN, sizes)
    check(DOWN, sizes, 1)


@pytest.mark.parametrize(("channels", "filters"), [(16, 256), (256, 64)])
def test_few_channels_and_few_filters_are_not_worth_a_copy(channels, filters):
    assert not packs(text(1), dict(N=1, C=channels, H=14, W=14, F=filters))


def test_panels_are_read_in_whole_vectors():
    """Also where two threads divide the pixels: no panel is cut."""
    sizes = dict(N=1, C=128, H=28, W=28, F=512)
    target = Target("avx2")
    assert "wb_l" not in wb.generate(wb.autoschedule(wb.operator(text(1)), target, sizes=sizes), target).source
