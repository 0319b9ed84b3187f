"""What comes back from a machine with a GPU: whole files, resumed runs, tables, and a clear word without a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench.gpu import installing, testing
from bench.gpu.cases import CASES
from bench.gpu.results import ROOT, Results
from bench.gpu.tables import markdown
from workbench import ops
from workbench.runtime.gpu.drivers import choosing

FACTS = {"gpu": "NVIDIA H200", "driver": "580"}
ROW = {"device_us": {"workbench": 10.0, "eager": 25.0}, "against_eager": 2.5, "against_best": 2.5, "of_copy": 0.93}


def results(folder: Path, digest: str = "abcdef0123") -> Results:
    found = Results(digest, folder)
    found.facts = FACTS
    return found


def test_a_run_goes_on_from_what_an_earlier_one_left(tmp_path):
    first = results(tmp_path)
    first.sections["tests"]["t::a"] = {"outcome": "passed"}
    first.sections["bench"]["softmax"] = ROW
    file = first.save()
    again = results(tmp_path)
    assert again.go_on_from(file)
    assert again.sections == first.sections
    assert again.file == file
    assert not results(tmp_path, "other sources").go_on_from(file)
    assert not again.go_on_from(tmp_path / "nothing.json")


def test_names_of_files_may_travel(tmp_path):
    file = results(tmp_path).save()
    assert all(c.isalnum() or c in "._-" for c in file.name)
    assert {p.name for p in tmp_path.iterdir()} == {file.name, file.with_suffix(".md").name}


def test_out_says_where_results_go(tmp_path, monkeypatch):
    monkeypatch.setenv("OUT", str(tmp_path))
    assert Results("x").folder == tmp_path


def test_the_table_says_what_went_wrong():
    tests = {"t::a": {"outcome": "passed"}, "t::b": {"outcome": "crashed", "said": "first\nexit status -11"}}
    bench = {"softmax": ROW, "matmul": {"device_us": {"eager": 5.0}, "failed": "BuildError: no compiler"}}
    text = markdown({"date": "2026", "sources": "x", "facts": FACTS, "tests": tests, "bench": bench, "notes": ["slow"]})
    for piece in ("1 passed, 1 crashed", "`t::b`: crashed: exit status -11", "| softmax | 10 | 25 | 2.5 |",
                  "BuildError: no compiler", "geometric mean 2.50 over 1 cases", "- slow"):  # fmt: skip
        assert piece in text


def test_a_table_of_nothing_says_so():
    text = markdown({"date": "2026", "sources": "x", "facts": {}, "tests": {}, "bench": {}, "notes": []})
    assert "None were run" in text
    assert "Not measured" in text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_an_operator_at_its_sizes_with_a_peer(case):
    op = ops.load(case.operator)
    assert {*case.sizes} == {*op.examples[0]}
    assert f"def {case.torch}(" in (ROOT / "bench" / "peers" / "torch_peers.py").read_text(encoding="utf-8")


def pytest_process(*names: str) -> dict[str, dict]:
    found: dict[str, dict] = {}
    testing.run_tests(names, 1, "quick", time.monotonic() + 60, lambda name, entry: found.update({name: entry}))
    return found


def test_a_crash_costs_one_test(tmp_path, monkeypatch):
    file = tmp_path / "test_crash.py"
    file.write_text("import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): assert 0, 'no'\n")
    monkeypatch.setattr(testing, "ROOT", tmp_path)
    outcomes = pytest_process(*(f"{file.name}::test_{x}" for x in "abc"))
    assert [entry["outcome"] for entry in outcomes.values()] == ["passed", "crashed", "failed"]


def test_without_a_gpu_the_last_word_says_so(tmp_path, monkeypatch):
    command = (sys.executable, "-m", "bench.gpu", "--no-pycuda")
    monkeypatch.setenv("OUT", str(tmp_path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv(choosing.VARIABLE, raising=False)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "NO GPU: nothing was measured." in done.stdout
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_told_without_a_bundle(tmp_path, monkeypatch):
    monkeypatch.setattr(installing, "BUNDLE", tmp_path / "none")
    monkeypatch.setattr(installing, "NEEDED", {"surely-not-there": "surely_not_there", "pytest": "pytest"})
    (said,) = installing.installed(build=False)
    assert said.startswith("surely-not-there is missing and there is no bundle")


def test_the_state_is_json_all_the_time(tmp_path):
    found = results(tmp_path)
    for n in range(5):
        found.sections["tests"][f"t{n}"] = {"outcome": "passed"}
        assert len(json.loads(found.save().read_text())["tests"]) == n + 1
