"""Studies that are opened as they were left, also those of other machines."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pytest

import workbench as wb
from tests.support import ROOT
from workbench.errors import WorkbenchError
from workbench.tune.trials import TIED

TEXT = "def widest(float(N,M) A) -> (w) { w(n) max=! fabs(A(n,m)) }"
SIZES = {"N": 20, "M": 30}


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """An exported database with a study of an operator and one of a sketch, as lines."""
    folder = tmp_path_factory.mktemp("stored")
    database = folder / "trials.sqlite"
    op = wb.operator(TEXT)
    wb.autotune(op, sizes=SIZES, trials=3, database=database, seed=1).result()
    sketch = wb.schedule(op, **SIZES) | wb.tile({"w/n": wb.choose(2, 4, 5)})
    wb.autotune(sketch, trials=3, searcher="grid", database=database).result()
    wb.tune.Database(database).export(folder / "trials.jsonl")
    return (folder / "trials.jsonl").read_text().splitlines()


def of_another_machine(lines):
    """The same, measured on a processor with seven threads that nobody has."""
    rows = [json.loads(line) for line in lines]
    for row in rows:
        if row["table"] == "wb_problems":
            row["machine"] = json.dumps({**json.loads(row["machine"]), "processor": "Model 7", "threads": 7})
    return rows


def written(path, rows):
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def only(rows, searcher):
    """Without the studies of other searchers."""
    return [row for row in rows if row["table"] != "wb_studies" or row["searcher"] == searcher]


@pytest.mark.parametrize("searcher", ["xgb", "grid"])
def test_a_study_of_another_machine_is_all_there(lines, tmp_path, searcher):
    path = written(tmp_path / "trials.jsonl.gz", only(of_another_machine(lines), searcher))
    study = wb.tune.stored(path)
    assert study.state == "finished"
    assert "Model 7" in str(study)
    assert "7 threads" in str(study)
    measured = [trial for trial in study.trials if trial.measured]
    assert study.best_trial.seconds <= TIED * min(trial.seconds for trial in measured)
    assert study.best.verdict
    assert study.schedule(0) == study.default
    searched = [trial for trial in study.trials if trial.source == "search"]
    names = {d.name for d in study.assignment.sketch.space.decisions}
    assert searched
    assert all(set(trial.point) == names for trial in searched)


def test_it_does_not_go_on(lines, tmp_path):
    study = wb.tune.stored(written(tmp_path / "t.jsonl.gz", only(of_another_machine(lines), "grid")))
    before = study.trials
    study.resume()
    assert study.result() is study
    study.stop()
    assert study.trials == before


def test_it_is_drawn_in_a_session_that_tuned_nothing():
    script = (
        "import workbench as wb\n"
        f"study = wb.tune.stored({str(ROOT / 'notebooks' / 'studies' / 'apart_study.jsonl.gz')!r})\n"
        "assert len(study.figure().axes) > 1\n"
        "assert study.best != study.default\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_it_is_drawn(lines, tmp_path):
    study = wb.tune.stored(written(tmp_path / "t.jsonl.gz", only(of_another_machine(lines), "grid")))
    assert len(study.figure().axes) > 1


def test_one_of_several_is_chosen_by_its_key(lines, tmp_path):
    path = written(tmp_path / "t.jsonl.gz", of_another_machine(lines))
    keys = [json.loads(line)["key"] for line in lines if '"wb_studies"' in line]
    with pytest.raises(WorkbenchError, match=r"there are 2 studies in .*t\.jsonl\.gz; give the key of one") as error:
        wb.tune.stored(path)
    assert all(key[:8] in str(error.value) for key in keys)
    assert "widest(M=30, N=20) by grid, seed None: 4 trials" in str(error.value)
    assert {wb.tune.stored(path, key[:8]).key.key for key in keys} == set(keys)
    with pytest.raises(WorkbenchError, match="there are 2 studies 'widest'"):
        wb.tune.stored(path, "widest")
    with pytest.raises(WorkbenchError, match="there is no study 'narrowest'"):
        wb.tune.stored(path, "narrowest")


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(WorkbenchError, match="there is no file"):
        wb.tune.stored(tmp_path / "none.jsonl")
    wb.tune.Database(tmp_path / "empty.sqlite").close()
    with pytest.raises(WorkbenchError, match="there is no study"):
        wb.tune.stored(tmp_path / "empty.sqlite")


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        ("wb_problems", "operator", "def broken("), ("wb_problems", "sizes", '{"N": "many", "M": []}'),
        ("wb_problems", "machine", '{"threads": [2], "isa": 5}'),
        ("wb_studies", "sketch", '{"recipe": 1, "target": 7}'),
    ],
)  # fmt: skip
def test_damage_is_an_error(lines, tmp_path, table, name, value):
    rows = only(of_another_machine(lines), "xgb")
    for row in rows:
        if row["table"] == table:
            row[name] = value
    with pytest.raises(WorkbenchError):
        wb.tune.stored(written(tmp_path / "t.jsonl.gz", rows))
