"""Marks of blocks, tiles and threads: told apart, around their own cells only, words that never meet, an exact key."""

from __future__ import annotations

import random
from functools import cache

import pytest

import workbench as wb
from tests.gpu_schedules import bind_all, bound, register_tiles, staged_matmul
from tests.viz.draw.test_layout import collisions, outside
from tests.viz.draw.test_pictures import contrast
from workbench import viz
from workbench.viz.draw.axes import axes_for
from workbench.viz.draw.palette import COLOURS, STATEMENT_COLOURS
from workbench.viz.draw.regions import SHADES, THICK, THIN, hatched, outlines, region_borders, region_key, region_labels
from workbench.viz.draw.scene import Line, Path, Text

NOBODY = """def windows(float(N,M) A, float(M) w) -> (S) { S(i,j) +=! A(i+a,j) * w(j) where a in 0:3, i in 1:N-3 }"""


def on_gpu(operator, **sizes):
    return bound(wb.schedule(operator, **sizes))


def tiles_in_blocks():
    """Blocks of 8 x 8 with four tiles each, in which threads are rows of cells."""
    s = wb.schedule(wb.operator("def copied(float(M,N) A) -> (B) { B(m,n) = A(m,n) }"), M=16, N=16)
    s = s | wb.tile(m=8, n=8) | wb.tile({"m_i": 4, "n_i": 4})
    return bind_all(s, {"m_o": "block.y", "n_o": "block.x", "m_i_i": "thread.x"})


SCHEDULES = {
    "matmul": lambda: on_gpu(wb.ops.matmul, M=64, N=64, K=16),
    "staged matmul": lambda: staged_matmul(M=32, N=32, K=32),
    "register tiles": register_tiles,
    "stencil": lambda: on_gpu(wb.ops.jacobi_2d, N=19, M=23, steps=3),
    "attention": lambda: on_gpu(wb.ops.attention, B=2, M=16, N=16, D=8, E=8),
    "scatter": lambda: on_gpu(wb.ops.histogram, N=101, bins=7),
    "triangle": lambda: on_gpu(wb.ops.trmm, M=17, N=12),
    "tiles in blocks": tiles_in_blocks,
    "nobody planned for": lambda: on_gpu(wb.operator(NOBODY), N=15, M=9),
}


@cache
def made(name):
    return SCHEDULES[name]()


@cache
def shown(name, view):
    return getattr(viz, view)(made(name))


def divided(picture):
    """The regions of a picture, by statement."""
    return [one.regions for one in (picture.data if isinstance(picture.data, tuple) else [picture.data])]


def area(corners):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, (*corners[1:], corners[0]), strict=True)) / 2


@pytest.mark.parametrize("seed", range(20))
def test_borders_go_around_what_is_their_own(seed):
    """What they enclose, less the holes, is as large as the cells; they are as long as the edges that are seen."""
    chance = random.Random(seed)
    cells = {(x, y) for x in range(6) for y in range(5) if chance.random() < 0.6}
    edges = sum((x + dx, y + dy) not in cells for x, y in cells for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)))
    borders = outlines(cells)
    assert sum(map(area, borders)) == len(cells)
    ends = [pair for border in borders for pair in zip(border, (*border[1:], border[0]), strict=True)]
    assert sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in ends) == edges
    assert sum(map(area, outlines(cells, 0.1))) < len(cells)


def test_cells_that_meet_in_a_corner_have_borders_of_their_own():
    assert len(outlines([(0, 0), (1, 1)])) == 2


def test_lines_go_through_the_cells_of_the_thread_and_no_others():
    axes = axes_for("x", "y", [(x, y) for x in range(4) for y in range(4)])
    lines = [mark for mark in hatched(axes, [(1, 2)]) if isinstance(mark, Line)]
    assert len(lines) > 4
    for line in lines:
        for x, y in (line.start, line.end):
            (left, top), (right, bottom) = axes.at(0.5, 1.5), axes.at(1.5, 2.5)
            assert left - 1e-6 <= x <= right + 1e-6
            assert top - 1e-6 <= y <= bottom + 1e-6


def over(shade, theme):
    """The ground below a shade of threads."""
    pairs = zip(*(bytes.fromhex(COLOURS[role][theme][1:]) for role in ("soft", "ground")), strict=True)
    return "#" + bytes(round(a * shade + b * (1 - shade)) for a, b in pairs).hex()


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_lines_are_seen_over_the_shades_of_threads(theme):
    for ground in (over(shade, theme) for shade in SHADES):
        assert contrast(COLOURS["ink"][theme], ground) >= 7
        for n in range(STATEMENT_COLOURS):
            assert contrast(COLOURS[f"s{n}"][theme], ground) >= 3, n
    assert contrast(*(over(shade, theme) for shade in SHADES)) > 1.1


@pytest.mark.parametrize("view", ["order", "lanes"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_each_has_its_mark_and_the_key_names_what_is_drawn(name, view):
    picture = shown(name, view)
    found = divided(picture)
    marks = picture.scene.marks
    words = [m.text.partition(",")[0] for m in marks if isinstance(m, Text)]
    for drawn, key in (
        (any(f.blocks for f in found), "block"),
        (any(f.tiles for f in found), "tile"),
        (any(f.threads for f in found), "threads by turns"),
    ):
        assert drawn is (key in words), key
    assert any(f.blocks or f.threads for f in found)
    assert any(isinstance(m, Path) and m.width == THICK for m in marks) is any(f.blocks for f in found)
    dashes = [m for m in marks if isinstance(m, Line) and m.width == THIN and m.dash and not m.head]
    assert bool(dashes) is any(f.tiles for f in found)
    words = [m.text for m in marks if isinstance(m, Text)]
    assert all(f.example is None or f.example.label in words for f in found)


@pytest.mark.parametrize("view", ["order", "lanes"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_words_stand_apart_and_inside(name, view):
    scene = shown(name, view).scene
    assert collisions(scene) == []
    assert outside(scene) == []


@pytest.mark.parametrize("name", SCHEDULES)
def test_regions_divide_the_places_and_tiles_are_neither_blocks_nor_threads(name):
    for found in divided(shown(name, "lanes")):
        for part in (found.blocks, found.threads):
            cells = [cell for region in part for cell in region.cells]
            assert len(cells) == len({*cells})
        others = {region.cells for region in (*found.blocks, *found.threads)}
        assert not others & {tile.cells for tile in found.tiles}
        for thread in found.threads:
            around = [block for block in found.blocks if {*thread.cells} & {*block.cells}]
            assert len(around) == bool(found.blocks), "a thread stands in one block"


def test_a_block_holds_tiles_and_a_thread_several_places():
    found = shown("tiles in blocks", "order").data.regions
    assert found.blocks[0].label == "(0,0)"
    inside = [tile for tile in found.tiles if {*tile.cells} < {*found.blocks[0].cells}]
    assert len(inside) > 1
    assert found.example is not None
    assert len(found.example.cells) > 1
    assert found.example.label == "thread (0)"


def test_of_a_grid_each_block_is_named_where_there_is_room():
    found = shown("tiles in blocks", "order").data.regions
    axes = axes_for("n", "m", [cell for block in found.blocks for cell in block.cells])
    words = {m.text for m in region_labels(axes, found, []) if isinstance(m, Text)}
    assert words == {"thread (0)", "block (0,0)", *(block.label for block in found.blocks[1:])}


def test_indices_count_from_zero_wherever_loops_begin():
    s = wb.schedule(wb.operator("def f(float(N) A) -> (B) { B(i) = A(i) where i in 3:N }"), N=9)
    (placed,) = viz.lanes(s | wb.bind("i", "block.x")).data
    assert [block.label for block in placed.regions.blocks] == [f"({n})" for n in range(6)]
    (placed,) = viz.lanes(s | wb.bind("i", "thread.x")).data
    assert [thread.label for thread in placed.regions.threads] == [f"thread ({n})" for n in range(6)]


def test_a_processor_has_threads_of_a_loop_and_tiles_but_no_blocks():
    tiled = wb.schedule(wb.ops.matmul, M=8, N=8, K=4) | wb.tile(m=4, n=4) | wb.parallelize("m_o")
    found = viz.order(tiled, "n", "m").data.regions
    assert [thread.label for thread in found.threads] == ["thread m_o=0", "thread m_o=1"]
    assert len(found.tiles) == 4
    assert not found.blocks


def test_without_regions_there_is_no_key():
    found = viz.order(wb.schedule(wb.ops.matmul, M=3, N=3, K=3)).data.regions
    assert not region_key(found, [], 300.0).marks


def rows_in_blocks(rows):
    """So many rows of blocks, each one place high and four wide, whose places are threads; cells are small."""
    s = wb.schedule(wb.operator("def copied(float(M,N) A) -> (B) { B(m,n) = A(m,n) }"), M=rows, N=24)
    s = bind_all(s | wb.split("n", 4), {"m": "block.y", "n_o": "block.x", "n_i": "thread.x"})
    found = viz.order(s, "n", "m").data
    return axes_for("n", "m", [cell for block in found.regions.blocks for cell in block.cells]), found.regions


def test_of_many_small_blocks_only_the_first_is_named():
    axes, found = rows_in_blocks(20)
    assert len(found.blocks) > 60
    words = [m.text for m in region_labels(axes, found, []) if isinstance(m, Text)]
    assert [text for text in words if not text.startswith("thread")] == ["block (0,0)"]
    widths = {m.width for m in region_borders(axes, found, "ink") if isinstance(m, Path)}
    assert max(widths) < THICK


def test_a_thread_is_not_named_on_the_edge_of_another_block():
    axes, found = rows_in_blocks(3)
    assert not [m for m in region_labels(axes, found, []) if isinstance(m, Text) and m.text.startswith("thread")]
    axes, found = rows_in_blocks(1)
    (named,) = [m for m in region_labels(axes, found, []) if isinstance(m, Text) and m.text.startswith("thread")]
    assert named.y > axes.at(0, 0.5)[1], "below the picture"
