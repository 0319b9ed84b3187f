"""The page of a record: a picture for each number of threads, marks where the ratios are, tables below."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.charts import FARTHEST, chart, sections
from bench.page import main, write_page
from bench.record import Comparison, Record, Result, Timing
from workbench.viz.draw.scene import Marker, Text

MACHINE = {"processor": "P", "cores": 2, "cache_bytes": {"L1d": 32768}, "vector_bits": 256, "system": "S", "libc": "L"}
SOFTWARE = {"packages": {}, "changed": False, "python": "3", "compiler": "gcc", "flags": ["-O3"], "commit": "c"}


def row(case, threads=1, form="fresh", **ratios):
    timing = Timing(1.0, 1.0, 1.0, 1.0, (1.0,), 1)
    results = {name: Result(**{form: timing}) for name in ("workbench", *ratios)}
    found = {name: {form: r} for name, r in ratios.items()}
    return Comparison(case, case, {"N": 4}, threads, False, 8, 8, results, None, found)


def record(*rows, **settings):
    return Record(MACHINE, SOFTWARE, settings, {"before": [0.0], "after": [0.0]}, rows, "2026-11-21T00:00:00")


def markers(scene):
    return {m.title: m for m in scene.marks if isinstance(m, Marker) and m.title}


def test_marks_stand_in_the_order_of_their_ratios():
    scene = chart([row("a", numpy=4.0, jax=0.5), row("b", numpy=1.0)], "title")
    found = markers(scene)
    assert found["jax: 0.50"].x < found["numpy: 1.00"].x < found["numpy: 4.00"].x
    assert found["numpy: 2.00"].y > found["numpy: 1.00"].y  # the geometric mean, below all cases
    words = [(m.text, m.role) for m in scene.marks if isinstance(m, Text)]
    assert ("0.50", "bad") in words
    assert ("1.00", "ink") in words


def test_what_is_far_away_stands_at_the_edge():
    scene = chart([row("a", numpy=1e6, jax=1e-6)], "title")
    assert all(m.x <= scene.width for m in markers(scene).values())
    near = chart([row("a", numpy=FARTHEST)], "title")
    assert markers(scene)["numpy: 1000000.00"].x == pytest.approx(markers(near)["numpy: 16.00"].x, abs=12)


def test_the_page_shows_a_picture_for_each_number_of_threads(tmp_path):
    file = tmp_path / "run.json"
    made = record(row("a", numpy=2.0), row("a", threads=2, numpy=3.0))
    made.write(file)
    assert main([str(file)]) == 0
    page = file.with_suffix(".md").read_text()
    assert [f"({p.name})" in page for p in sorted(tmp_path.glob("*.svg"))] == [True, True]
    assert page.startswith("# Measurements of")
    assert "| a " in page


def test_c_kernels_have_their_own_tables(tmp_path):
    rows = [replace(row("gemm", form="preallocated", sequential=2.0), flops=0)]
    page = write_page(record(*rows, kernels="PolyBench"), tmp_path / "p.json")
    assert "best other" in page.read_text()
    assert list(sections(record(*rows, kernels="PolyBench"))) == ["PolyBench, 1 thread"]
    assert sections(record(row("a"))) == {}
