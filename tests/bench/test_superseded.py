"""Of the results that are kept, those go that later ones of the same machine and kind hold whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.page import leave
from bench.record import Latency, Record, Result, Timing, Tuned
from bench.superseded import main, superseded
from tests.bench.test_page import record, row

ONCE = Timing(1.0, 1.0, 1.0, 1.0, (1.0,), 1)


@pytest.fixture
def keep(tmp_path):
    """`keep(day, rows)` writes the record of a day, its page and its picture."""

    def write(day: int, *rows, processor="P", subject="", **settings) -> Record:
        made = record(*rows, **settings)
        made = replace(made, machine={**made.machine, "processor": processor}, date=f"2026-11-{day:02}T00:00:00+00:00")
        stem = f"202611{day:02}T000000-abcdef0{subject}"
        made.write(tmp_path / f"{stem}.json")
        for suffix in (".md", "-operators-1-thread.svg"):
            (tmp_path / f"{stem}{suffix}").write_text("")
        return made

    return write


def days(tmp_path) -> list[int]:
    """On which days there was what is left."""
    return sorted({int(file.name[6:8]) for file in tmp_path.iterdir()})


def test_what_was_measured_again_goes_with_its_page_and_pictures(keep, tmp_path, capsys):
    keep(1, row("a", numpy=2.0))
    keep(2, row("a", numpy=2.0), row("b"))
    assert main([str(tmp_path)]) == 0
    assert days(tmp_path) == [2]
    assert len(list(tmp_path.iterdir())) == 3
    assert capsys.readouterr().out.count("20261101T") == 3


def test_several_later_ones_together_hold_an_older_one(keep, tmp_path):
    keep(1, row("a"), row("b"))
    keep(2, row("a"))
    assert superseded(tmp_path) == []
    keep(3, row("b"))
    assert [file.name[6:8] for file in superseded(tmp_path)] == ["01"]


@pytest.mark.parametrize(
    ("rows", "other"),
    [
        ([row("a")], {"processor": "another"}),
        ([row("a")], {"isa": "avx2"}),
        ([row("a")], {"subject": "-polybench"}),
        ([row("a", threads=2)], {}),
        ([row("b")], {}),
        ([replace(row("a"), results={"workbench": Result(missing="crashed")})], {}),
    ],
    ids=["machine", "instructions", "subject", "threads", "case", "failed"],
)
def test_what_a_later_run_did_not_measure_stays(keep, tmp_path, rows, other):
    keep(1, row("a"))
    keep(2, *rows, **other)
    assert superseded(tmp_path) == []


def test_rows_of_every_kind_are_told_apart(keep, tmp_path):
    latency, tuned = Latency("call", "raw", ONCE), Tuned("a", {}, 1, 8)
    keep(1, latency)
    keep(2, tuned, row("a"))
    assert superseded(tmp_path) == []
    keep(3, row("a"), tuned, replace(latency, part="op(A, B)"))
    assert [file.name[6:8] for file in superseded(tmp_path)] == ["02"]


def test_files_of_other_formats_are_left_alone(keep, tmp_path):
    keep(1, row("a"))
    for name, text in {"20261130-gpu-1.json": "[]", "20261130-models.json": "{}", "x.json": "no JSON"}.items():
        (tmp_path / name).write_text(text)
    assert superseded(tmp_path) == []


def test_a_run_that_is_written_beside_others_deletes_what_it_makes_old(keep, tmp_path):
    keep(1, row("a", numpy=2.0))
    again = replace(keep(2, row("b")), rows=(row("a", numpy=3.0),), date="2026-11-03T00:00:00+00:00")
    leave(again, tmp_path)
    assert days(tmp_path) == [2, 3]
