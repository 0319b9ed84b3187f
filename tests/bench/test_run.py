"""The command, from arguments to files; nothing is said about how long anything takes."""

from __future__ import annotations

import pytest

from bench.__main__ import main
from bench.record import Comparison, Timing, read
from bench.suite import CASES

BRIEF = ["--quick", "--rounds", "2", "--seconds", "0.002", "--threads", "1"]


def sound(timing: Timing | None) -> bool:
    return timing is not None and 0 < timing.least <= timing.lower <= timing.seconds <= timing.upper


def _without_pictures(page: str) -> list[str]:
    """The lines of a page, without its pictures and the empty line after each."""
    lines = page.strip().splitlines()
    return [x for n, x in enumerate(lines) if not x.startswith("![") and not (n and lines[n - 1].startswith("!["))]


@pytest.mark.slow
def test_two_operators_leave_json_and_a_table(tmp_path, capsys):
    command = ["tmm 128x256x32", "bias + ReLU", *BRIEF, "--contenders", "numpy", "--output", str(tmp_path)]
    assert main(command) == 0
    (file,) = tmp_path.glob("*.json")
    record, printed = read(file), capsys.readouterr().out
    page = file.with_suffix(".md").read_text(encoding="utf-8")
    assert printed.strip().splitlines() == _without_pictures(page)
    assert all(f"({picture.name})" in page for picture in tmp_path.glob("*.svg"))
    rows = [row for row in record.rows if isinstance(row, Comparison)]
    assert [row.case for row in rows] == ["tmm 128x256x32", "bias + ReLU 4096x1024"]
    for row in rows:
        assert list(row.results) == ["workbench", "numpy"]
        assert all(sound(r.fresh) and sound(r.preallocated) and not r.missing for r in row.results.values())
        assert set(row.ratios["numpy"]) == {"fresh", "preallocated"}
        assert row.case in printed
    assert rows[0].copy is None
    assert rows[1].copy is not None
    assert record.machine["processor"]
    assert record.software["flags"]
    assert len(record.load["before"]) == 3


def test_without_torch_the_run_goes_on_and_says_why(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("bench.contenders.find_spec", lambda name: None)
    command = ["tmm 128x256x32", *BRIEF, "--contenders", "torch,torch.compile", "--output", str(tmp_path)]
    assert main(command) == 0
    assert "PyTorch is not installed" in capsys.readouterr().out


@pytest.mark.slow
def test_torch_takes_part_where_it_is(tmp_path):
    pytest.importorskip("torch", reason="install torch: PyTorch is not here to compare with")
    both = ("torch", "workbench/torch")
    assert main(["tmm 128x256x32", *BRIEF, "--contenders", ",".join(both), "--output", str(tmp_path)]) == 0
    (row,) = read(next(tmp_path.glob("*.json"))).comparisons
    for contender in both:
        assert sound(row.results[contender].fresh)
        assert row.ratios[contender]["fresh"] > 0


@pytest.mark.slow
def test_the_thread_pool_is_held_against_openmp(tmp_path, monkeypatch):
    monkeypatch.setattr("bench.__main__.BACKENDS", ("workbench/pool",))
    command = ["moments 128", *BRIEF, "--only", "backends", "--output", str(tmp_path)]
    assert main(command) == 0
    (row,) = read(next(tmp_path.glob("*.json"))).comparisons
    assert sound(row.results["workbench/pool"].fresh)


def test_the_list_names_every_case(capsys):
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [case.name for case in CASES]


def test_a_filter_that_fits_nothing_is_refused(capsys):
    assert main(["no such case"]) == 2
    assert "matmul 512" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["--contenders", "nunpy"], ["--only", "operator"], ["--threads", "0"], ["--rounds", "0"], ["--seconds", "-1"]],
)
def test_arguments_that_do_not_fit_are_refused(wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(wrong)
    assert stopped.value.code == 2
    assert "error" in capsys.readouterr().err
