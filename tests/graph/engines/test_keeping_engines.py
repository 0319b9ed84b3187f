"""Engines on disk: used again by a second start, never when stale, and without a second copy of constants."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.errors import EngineError
from workbench.graph.engines import load, save
from workbench.graph.engines.engine_records import engine_named

WEIGHTS = np.random.default_rng(0).standard_normal((64, 64)).astype("float32")
MODEL = wb.model(
    "fn main(x: float32[n, 64]) { softmax(matmul(softmax(matmul(x, const#0)), const#0)) }", constants=[WEIGHTS]
)
X = np.random.default_rng(1).standard_normal((3, 64)).astype("float32")


def kept(source: str, log: list[str]) -> wb.graph.engines.Engine:
    """An engine from a text, which says in a log what is asked of it."""
    scope: dict[str, object] = {"log": log, "Path": Path}
    exec(source, scope)
    return wb.engine("kept")(scope["Kept"])


SOURCE = """
class Kept:
    def compile(self, region):
        log.append("compile")
        return lambda *arrays: region.evaluate(*arrays)
    def save(self, compiled, folder):
        (folder / "state").write_text("state")
    def load(self, region, folder):
        assert (folder / "state").read_text() == "state"
        log.append("load")
        return lambda *arrays: region.evaluate(*arrays)
"""


def run(source: str, model: wb.Model = MODEL, x: np.ndarray = X) -> list[str]:
    log: list[str] = []
    partition = wb.partition(model, [kept(source, log)], by="rules", host="interpreter", on_failure="raise")
    np.testing.assert_array_equal(partition.evaluate(x), model.evaluate(x))
    return log


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with wb.settings(cache=tmp_path / "cache"):
        yield


def test_a_second_start_loads_what_the_first_compiled():
    assert run(SOURCE) == ["compile"]
    assert run(SOURCE) == ["load"]


def test_an_edited_engine_a_shape_or_a_weight_is_compiled_anew():
    assert run(SOURCE) == ["compile"]
    assert run(SOURCE.replace("return lambda", "pass; return lambda")) == ["load"]  # the same code
    assert run(SOURCE.replace('log.append("compile")', 'log.append("compile"); None or 3')) == ["compile"]
    assert run(SOURCE, x=X[:2]) == ["compile"]
    other = wb.model(str(MODEL), [WEIGHTS + 1])
    assert run(SOURCE, other) == ["compile"]
    assert run(SOURCE) == ["load"]


def test_what_does_not_load_is_compiled_again(tmp_path):
    assert run(SOURCE) == ["compile"]
    (state,) = (tmp_path / "cache").rglob("state")
    state.write_text("half of it")
    assert run(SOURCE) == ["compile"]
    assert run(SOURCE) == ["load"]


def test_without_keeping_nothing_is_written(tmp_path):
    log: list[str] = []
    partition = wb.partition(MODEL, [kept(SOURCE, log)], by="rules", host="interpreter", keep=False)
    partition.evaluate(X)
    assert not list((tmp_path / "cache").rglob("state"))


@pytest.mark.parametrize("name", ["c", "json"])
def test_a_saved_partition_runs_in_another_process_without_compiling(name, tmp_path):
    partition = wb.partition(MODEL, [name], by="rules", host="interpreter", on_failure="raise")
    wanted = partition.evaluate(X)
    save(partition, tmp_path / "saved")
    np.save(tmp_path / "x.npy", X)
    script = f"""
import numpy as np, workbench as wb
from workbench.graph.engines.engine_records import engine_named
from workbench.graph.engines import load
def refuse(*_): raise SystemExit("compiled anew")
object.__setattr__(engine_named({name!r}), "compile", refuse)
partition = load({str(tmp_path / "saved")!r})
np.save({str(tmp_path / "y.npy")!r}, partition.evaluate(np.load({str(tmp_path / "x.npy")!r})))
assert not partition.reports
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), wanted)


@pytest.mark.parametrize("name", ["c", "json"])
def test_constants_are_stored_once(name, tmp_path):
    partition = wb.partition(MODEL, [name], by="rules", host="interpreter", on_failure="raise")
    partition.evaluate(X)
    save(partition, tmp_path / "saved")
    files = [each.read_bytes() for each in (tmp_path / "saved").rglob("*") if each.is_file()]
    assert sum(each.count(WEIGHTS.tobytes()[:64]) for each in files) == 1
    loaded = load(tmp_path / "saved")
    assert loaded.model == partition.model
    assert [each.engine for each in loaded.regions.values()] == [engine_named(name)]


def test_a_folder_without_a_partition_is_refused(tmp_path):
    with pytest.raises(EngineError, match=r"holds no partition.*wb\.graph\.engines\.save"):
        load(tmp_path)
