"""`viz.replay` and `viz.cells`: instances in the order of the code, the cache against one by hand."""

from __future__ import annotations

import json
import re
from io import BytesIO

import pytest

import workbench as wb
from tests.viz.values import parsed
from workbench import viz
from workbench.errors import WorkbenchError
from workbench.viz.views.domain.cache_lines import Cache, Simulation

MATMUL = {"M": 3, "N": 4, "K": 2}
VALUES = {
    "matmul": lambda: wb.schedule(wb.ops.matmul, M=1024, N=1024, K=1024)
    | wb.tile(m=64, n=64) | wb.vectorize("n_i") | wb.parallelize("m_o"),
    "trmm": lambda: wb.schedule(wb.ops.trmm, M=5, N=3),
    "seidel_2d": lambda: wb.schedule(wb.ops.seidel_2d, N=5, M=5, steps=2),
    "conv2d": lambda: wb.schedule(wb.ops.conv2d, stride=1, pad=1, dilation=1),
    "blur": lambda: wb.schedule(wb.ops.blur, H=6, W=6) | wb.compute_at("R", "B/y"),
    "nobody planned for": lambda: wb.schedule(
        wb.operator("def odd(float(N) A) -> (s) { s(i / 3) +=! A(j) * A(N - 1 - i) where i in 0:N, j in i:N }"), N=5
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_text(name, golden):
    replay = viz.replay(VALUES[name](), target=wb.Target())
    parsed(replay.picture.svg)
    golden(replay[-1].text)


@pytest.mark.parametrize("name", ["trmm", "seidel_2d", "blur", "nobody planned for"])
def test_the_order_is_that_of_the_code(name):
    replay = viz.replay(VALUES[name]())
    program = replay.reel.execution.program
    played = [(e.statement, i) for m in replay.reel.execution.moments for e in m for i in e.instances]
    schedule = VALUES[name]()
    if program.sizes == schedule.program.sizes:
        traced = dict.fromkeys((t.statement, t.instance) for t in wb.trace_touches(schedule, after=0))
        assert played == list(traced)
    assert len(played) == len(set(played)) == sum(wb.poly.points(program, s.id) for s in program.statements)


def test_lanes_run_at_once_and_threads_beside_each_other():
    execution = viz.replay(VALUES["matmul"]()).reel.execution
    updates = [m for m in execution.moments if len(m[0].instances) > 1]
    assert {e.thread for m in execution.moments for e in m if e.thread is not None} == set(range(execution.threads))
    assert execution.threads > 1
    assert all(len({i[0] for i in e.instances}) == 1 for m in updates for e in m)


def test_the_cache_forgets_what_was_used_least_recently():
    cache = Simulation(Cache(32, 16))
    assert cache.touch_all([0, 1, 0, 2, 1, 0]) == [False, False, True, False, False, False]


def test_hits_are_those_of_a_cache_by_hand():
    found = viz.replay(wb.schedule(wb.ops.matmul, MATMUL), cache_bytes=64, line_bytes=8).reel
    held, hits, total = [], 0, 0
    for moment in found.execution.moments:
        for touch in (t for e in moment for t in e.touches):
            line = (found.layout.starts[touch.array] + 4 * touch.element) // 8
            hits, total = hits + (line in held), total + 1
            held = [*(x for x in held if x != line), line][-8:]
    assert found.hits(len(found.shots) - 1) == (hits, total)


def test_a_page_holds_its_data_and_loads_nothing(tmp_path):
    replay = viz.replay(wb.schedule(wb.ops.matmul, MATMUL))
    text = replay.save(tmp_path / "replay.html").read_text(encoding="utf-8")
    assert not re.search(r"(src|href)=|@import|fetch\(|url\(|https?://(?!www\.w3\.org/2000/svg)", text)
    data = json.loads(re.search(r"const D=(\{.*?\});\n", text)[1])
    assert len(data["shots"]) == len(data["texts"]) == len(replay)
    assert len(data["cells"]) == 3 * 2 + 2 * 4 + 3 * 4
    assert [len(s[1]) for s in data["shots"]] == [len(s.touched) for s in replay.reel.shots]


def test_a_gif_has_a_frame_for_every_moment():
    from PIL import Image

    replay = viz.replay(wb.schedule(wb.ops.matmul, {"M": 1, "N": 2, "K": 2}))
    image = Image.open(BytesIO(replay.gif(milliseconds=50)))
    assert (image.format, image.n_frames) == ("GIF", len(replay))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"cache_bytes": 0}, "cache_bytes=0 does not fit"),
        ({"cache_bytes": 100}, "no whole number of lines"),
        ({"sizes": {"Q": 4}}, "unknown size 'Q'.*known: "),
        ({"x": "q"}, "unknown axis 'q'; .*known: m, n, k"),
        ({"now": 10_000}, "there is no moment 10000; expected 0 to "),
        ({"sizes": {"M": 24, "N": 24, "K": 24}}, "moments here, more than 2000; give smaller sizes"),
    ],
)
def test_what_cannot_be_played_is_refused(asked, message):
    with pytest.raises(WorkbenchError, match=message):
        viz.replay(wb.schedule(wb.ops.matmul), **asked)


def test_an_unknown_ending_lists_the_known_ones(tmp_path):
    with pytest.raises(WorkbenchError, match=r"unknown ending '\.mp4'; .*known: \.gif, \.html"):
        viz.replay(wb.schedule(wb.ops.matmul, MATMUL)).save(tmp_path / "x.mp4")


def touched(picture):
    return {a: (len(r), len(w)) for a, (r, w) in picture.data.touched.items()}


def test_cells_of_one_instance():
    picture = viz.cells(wb.schedule(wb.ops.matmul, MATMUL), at={"m": 2, "n": 1, "k": 1})
    assert touched(picture) == {"A": (1, 0), "B": (1, 0), "C": (1, 1)}
    assert picture.data.touched["A"][0] == {2 * 2 + 1}


def test_cells_of_a_tile():
    tiled = wb.schedule(wb.ops.matmul, M=8, N=8, K=8) | wb.tile(m=4, n=2, k=4)
    assert touched(viz.cells(tiled, at={"m_o": 1, "n_o": 2, "k_o": 0})) == {"A": (16, 0), "B": (8, 0), "C": (8, 8)}


@pytest.mark.parametrize("name", VALUES)
def test_cells_are_shown_without_being_asked_for_some(name, golden):
    picture = viz.cells(VALUES[name]())
    parsed(picture.svg)
    golden(picture.text)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"q": 1}, "unknown dim or loop 'q'; known: m, n, k"),
        ({"m": 7}, "no instance has m=7 for .*; there are m from 0 to 2"),
        ({"m": "a"}, "m='a' does not fit; expected a whole number"),
    ],
)
def test_cells_of_nothing_are_refused(at, message):
    with pytest.raises(WorkbenchError, match=message):
        viz.cells(wb.schedule(wb.ops.matmul, MATMUL), at=at)
