"""The cache of a replay is the machine's, as small beside what is drawn as it is beside what is meant."""

from __future__ import annotations

import pytest

import workbench as wb
from workbench import viz
from workbench.viz.views.domain.cache_lines import FEWEST, SHORTEST, Scale, scale, scaled_cache

MACHINE = wb.Target(cache_bytes=(32 << 10, 512 << 10, 8 << 20))
SUMS = wb.operator("def sums(float(N,M) x, double(M) w) -> (y) { y(i) +=! x(i,j) * w(j) }")


def test_a_tenth_of_the_bytes_and_an_eighth_of_a_row_are_a_tenth_of_the_cache_in_shorter_lines():
    found = scaled_cache(MACHINE, Scale(0.1, 1 / 8), 4)
    assert found.line == 8
    assert found.size == pytest.approx(3277, abs=8)
    assert "32 KiB, lines of 64 B" in found.words
    assert "scaled with what is drawn: 3.2 KiB" in found.words


def test_a_drawing_at_its_own_size_has_the_machines_cache():
    found = scaled_cache(MACHINE, Scale(1.0, 1.0), 4)
    assert (found.size, found.line) == (32 << 10, 64)
    assert "scaled" not in found.words


@pytest.mark.parametrize("element", [1, 4, 8])
def test_a_few_lines_of_some_elements_are_left_and_the_words_say_so(element):
    found = scaled_cache(MACHINE, Scale(1e-6, 1e-3), element)
    assert (found.size, found.line) == (FEWEST * SHORTEST * element, SHORTEST * element)
    assert "less than the few lines that are drawn" in found.words


def test_the_scale_is_that_of_all_bytes_and_of_the_longest_row():
    own, drawn = (wb.schedule(SUMS, N=n, M=m).program for n, m in ((40, 60), (5, 6)))
    held = [4 * n * m + 8 * m + 8 * n for n, m in ((40, 60), (5, 6))]
    found = scale(own, drawn, {})
    assert found.data == pytest.approx(held[1] / held[0], rel=0.5)
    assert found.row == 6 / 60


def test_a_replay_says_of_which_cache_it_is():
    text = viz.replay(wb.schedule(wb.ops.matmul, M=96, N=80, K=64), target=MACHINE)[-1].text
    assert "The cache is the first one of the machine (32 KiB, lines of 64 B), scaled with what is drawn: " in text
    assert "foretells no processor" in text
    chosen = viz.replay(wb.schedule(wb.ops.matmul, M=96, N=80, K=64), cache_bytes=64, line_bytes=8)
    assert (chosen.reel.cache.size, chosen.reel.cache.line) == (64, 8)
    assert "one that was asked for" in chosen[-1].text


def test_open_sizes_are_meant_to_be_typical():
    open_one, small = wb.schedule(SUMS).program, wb.schedule(SUMS, N=5, M=6).program
    assert scale(open_one, small, {}).row == 6 / 256
