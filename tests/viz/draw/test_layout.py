"""Of eight programs no two labels of a picture meet, none leaves it, and what is drawn smaller says so."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations

import pytest

import workbench as wb
from tests.viz.values import MACHINE
from workbench import viz
from workbench.viz.draw.scene import Scene, Text
from workbench.viz.draw.svg import MARGIN

RESIDUAL_BLOCK = """
def residual_block(float(N,C,H,W) X, float(C,C,3,3) W1, float(C) g1, float(C) b1,
                   float(C,C,3,3) W2, float(C) g2, float(C) b2) -> (Y) {
    P(n,c,y,x) = y >= 1 && y < H + 1 && x >= 1 && x < W + 1 ? X(n,c,y-1,x-1) : 0 where y in 0:H+2, x in 0:W+2
    T(n,o,h,w) +=! P(n,i,h+kh,w+kw) * W1(o,i,kh,kw)
    U(n,o,h,w) = max(T(n,o,h,w) * g1(o) + b1(o), 0.0)
    R(n,c,y,x) = y >= 1 && y < H + 1 && x >= 1 && x < W + 1 ? U(n,c,y-1,x-1) : 0 where y in 0:H+2, x in 0:W+2
    V(n,o,h,w) +=! R(n,i,h+kh,w+kw) * W2(o,i,kh,kw)
    Y(n,o,h,w) = max(V(n,o,h,w) * g2(o) + b2(o) + X(n,o,h,w), 0.0)
}
"""
OPERATORS = {
    "matmul": lambda: wb.ops.matmul,
    "triangle": lambda: wb.ops.trmm,
    "stencil": lambda: wb.ops.jacobi_2d,
    "convolution": lambda: wb.ops.conv2d,
    "attention": lambda: wb.ops.attention,
    "lstm_cell": lambda: wb.ops.lstm_cell,
    "residual_block": lambda: wb.operator(RESIDUAL_BLOCK),
    "scatter": lambda: wb.ops.histogram,
}
RESIDUAL_SIZES = {"N": 1, "C": 64, "H": 56, "W": 56}
VIEWS = {
    "domain": viz.domain,
    "order": viz.order,
    "tree": viz.tree,
    "footprint": lambda s: viz.footprint(s, MACHINE),
    "cells": viz.cells,
    "replay": lambda s: viz.replay(s)[3],
}
DRAWN_SMALLER = ("domain", "order", "cells", "replay")


@cache
def scheduled(name):
    operator = OPERATORS[name]()
    return wb.schedule(operator, operator.examples[0] if operator.examples else RESIDUAL_SIZES)


@cache
def shown(program, view):
    return VIEWS[view](scheduled(program))


def around(text: Text) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the letters."""
    left = text.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * text.width
    return left, text.y - 0.72 * text.size, left + text.width, text.y + 0.18 * text.size


def collisions(scene: Scene, room: float = 1.5) -> list[tuple[str, str]]:
    """Pairs of labels that share more than `room` pixels in both directions."""
    placed = [(t.text, around(t)) for t in scene.marks if isinstance(t, Text)]
    return [(a, b) for (a, p), (b, q) in combinations(placed, 2) if _shared(p, q, 0) > room and _shared(p, q, 1) > room]


def _shared(p, q, axis):
    return min(p[axis + 2], q[axis + 2]) - max(p[axis], q[axis])


def outside(scene: Scene) -> list[str]:
    """Labels that are cut off."""
    right, bottom = scene.width + MARGIN, scene.height + MARGIN
    found = [(t.text, around(t)) for t in scene.marks if isinstance(t, Text)]
    return [text for text, (x0, y0, x1, y1) in found if x0 < -MARGIN or y0 < -MARGIN or x1 > right or y1 > bottom]


def test_a_collision_is_seen():
    assert collisions(Scene(99, 20, (Text(0, 10, "one"), Text(5, 12, "other")))) == [("one", "other")]
    assert outside(Scene(20, 20, (Text(0, 10, "far too long for it"),))) == ["far too long for it"]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("program", OPERATORS)
def test_labels_stand_apart_and_inside(program, view):
    picture = shown(program, view)
    assert collisions(picture.scene) == []
    assert outside(picture.scene) == []


@pytest.mark.parametrize("view", DRAWN_SMALLER)
@pytest.mark.parametrize("program", [name for name in OPERATORS if name != "scatter"])
def test_what_is_drawn_smaller_says_so(program, view):
    picture = shown(program, view)
    drawn = " ".join(m.text for m in picture.scene.marks if isinstance(m, Text))
    assert "rawn for " in drawn
    assert "instead of" in drawn
    words = " ".join(picture.text.split())
    own = scheduled(program).program.sizes
    assert "rawn for " in words, view
    assert any(f"instead of {name}={value}" in words for name, value in own.items()), words[-300:]


def test_what_is_drawn_smaller_says_so_beside_tiles():
    """Tiles are drawn smaller too: both are said."""
    tiled = wb.schedule(wb.ops.matmul, M=32, N=40, K=64) | wb.tile(m=16, n=20)
    for view in (viz.domain, viz.order):
        words = " ".join(view(tiled).text.split())
        assert "instead of M=32" in words
        assert "iles of " in words


@pytest.mark.parametrize("view", DRAWN_SMALLER)
def test_a_schedule_with_copies_says_so_too(view):
    """Sizes of a program that a step made stay as they are: a window of it is drawn, or its steps are repeated."""
    staged = wb.schedule(wb.ops.matmul, M=512, N=512, K=512) | wb.tile(m=64, n=64) | wb.stage("B", "n_o")
    words = " ".join(VIEWS[view](staged).text.split())
    assert "rawn for " in words
    assert "instead of M=512" in words
    assert "iles of 64 as 4" in words


def test_nothing_is_drawn_larger_than_it_is():
    picture = viz.domain(wb.schedule(wb.ops.matmul, M=3, N=2000, K=20))
    drawn = dict(re.findall(r"(\w)=(\d+)", picture.text.partition("rawn for ")[2].partition(" instead")[0]))
    assert 1 <= int(drawn.get("M", 3)) <= 3
    assert int(drawn["N"]) < 20
