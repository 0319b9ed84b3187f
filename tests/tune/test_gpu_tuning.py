"""Tuning for CUDA: ranked where there is no GPU, measured by a process of its own where there is one."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from bench.gpu.estimates import estimated, quality
from tests.runtime.gpu.fake_driver import FakeDriver
from tests.tune.support import alive
from workbench.errors import BuildError, WorkbenchError
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.runtime.gpu.drivers.choosing import VARIABLE
from workbench.tune.measuring import dask_runner, gpu_timing
from workbench.tune.measuring import gpu_at_hand as at_hand
from workbench.tune.measuring.gpu_at_hand import GpuRunner
from workbench.tune.measuring.ranking_runner import RankingRunner
from workbench.tune.measuring.runner import Limits
from workbench.tune.measuring.workload import workload
from workbench.tune.trials import OUTCOMES, fastest
from workbench.viz.views.performance.study_figure import UNJUDGED

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc to compile candidates for a GPU")

ODD = wb.operator("def odd(float(N,M) A, float(M) w) -> (R) { R(n) max=! fabs(A(n,m)) * w(m) }")
SIZES = {"N": 300, "M": 200}


@pytest.fixture
def no_gpu(monkeypatch):
    """As on a machine without one, whatever this one has."""
    monkeypatch.setattr(at_hand, "gpu_at_hand", lambda: None)


@pytest.fixture
def gpu(monkeypatch, compilers):
    """A function: the driver of this name in tests/tune/gpu_drivers.py is this machine's."""
    del compilers
    return lambda name: monkeypatch.setenv(VARIABLE, f"tests.tune.gpu_drivers:{name}")


def threads_sketch() -> wb.Sketch:
    """Blocks of 64 or 256 threads, chosen in a step of a GPU's own."""
    start = wb.schedule(ODD, **SIZES) | wb.decompose_reduction("R")
    size = wb.choose(64, 256, name="threads")
    cut = start | wb.split("R.init/n", size) | wb.bind("R.init/n_o", "block.x") | wb.bind("R.init/n_i", "thread.x")
    return cut | wb.split("R/n", size) | wb.bind("R/n_o", "block.x") | wb.bind("R/n_i", "thread.x")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """A study of an operator that nobody planned for, on a machine without a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(at_hand, "gpu_at_hand", lambda: None)
        database = tmp_path_factory.mktemp("ranked") / "trials.sqlite"
        return wb.autotune(ODD, sizes=SIZES, target="h200", trials=12, database=database, seed=1).result()


def test_without_a_gpu_trials_are_estimated_and_claim_no_seconds(ranked):
    assert isinstance(ranked._runner, RankingRunner)
    assert ranked.ranked
    assert not ranked.measured
    assert ranked.speedup is None
    assert {t.outcome for t in ranked.trials} == {"estimated"}
    assert all(t.seconds is None and t.lower is None and t.predicted is None for t in ranked.trials)
    assert all(t.estimate > 0 and "registers" in t.message for t in ranked.trials)
    assert len({t.estimate for t in ranked.trials}) > 4
    assert [t.source for t in ranked.trials] == ["default"] + ["search"] * 12
    own = ranked.assignment.sketch.space.default  # the recipe's point, which the search knows from the first trial
    assert all(t.point != own for t in ranked.trials[1:])
    assert ranked.best_trial.estimate <= min(t.estimate for t in ranked.trials if t.confirmed)


def test_it_says_that_nothing_was_measured(ranked):
    text = str(ranked)
    assert "on no GPU, for h200: finished, 13 trials (13 estimated)" in text
    assert "ranked without a GPU: nothing was measured" in text
    assert "best estimate:" in text
    assert "executed by the processor, it is right" in text
    assert ranked.headline.endswith("not measured")
    assert "not measured" in str(ranked.best_trial)
    figure = ranked.figure()
    assert figure.axes[0].get_title(loc="left") == "estimates, and the best so far"
    assert "not measured" in figure.get_suptitle()
    assert [a.texts[0].get_text() for a in figure.axes[3:5]] == 2 * [UNJUDGED]


def test_the_front_end_is_told_that_they_are_estimates(ranked):
    from workbench.viz.panels.watching import study_payload

    payload = study_payload(ranked, {"measured by somebody": 1e-3})
    assert payload["ranked"] is True
    assert payload["speedup"] is None
    assert [name for name, _ in payload["baselines"]] == ["default recipe"]
    assert {OUTCOMES[row[1]] for row in payload["trials"]} == {"estimated"}


def test_estimates_are_kept_and_taken_up_again(ranked, tmp_path, no_gpu):
    again = wb.autotune(ODD, sizes=SIZES, target="h200", trials=0, database=ranked.database, seed=1)
    assert {t.number: t.estimate for t in again.trials} == {t.number: t.estimate for t in ranked.trials}
    assert again.best == ranked.best
    assert not any("estimate" in (t.features or {}) for t in again.trials)
    ranked.database.export(tmp_path / "trials.jsonl")
    copy = wb.tune.Database(tmp_path / "copy.sqlite")
    assert copy.load(tmp_path / "trials.jsonl") >= len(ranked.trials)
    assert fastest(copy.trials(ranked.key.key)).estimate == min(t.estimate for t in ranked.trials)


def test_a_call_never_takes_an_estimate_for_a_measurement(ranked):
    problem = ranked.key.problem
    assert ranked.database.fastest(problem.key) is None
    assert ranked.database.of_problem(problem.key)
    rng = np.random.default_rng(0)
    A, w = rng.random((300, 200), np.float32), rng.random(200, np.float32)
    with wb.settings(database=ranked.database.shown.removeprefix("sqlite:///")):
        assert "trial" not in ODD.plan(A, w).source


def test_a_sketch_of_ones_own_is_ranked_too(tmp_path, no_gpu):
    study = wb.autotune(threads_sketch(), target="cuda", searcher="grid", database=tmp_path / "own.sqlite").result()
    assert sorted(t.point["threads"] for t in study.trials if t.source == "search") == [64, 256]
    assert {t.outcome for t in study.trials} == {"estimated"}


def test_what_does_not_fit_a_block_is_no_candidate(tmp_path, no_gpu):
    start = wb.schedule(ODD, **SIZES) | wb.decompose_reduction("R")
    bound = start | wb.bind("R.init/n", "thread.x") | wb.split("R/n", wb.choose(35, 150, name="rows"))
    study = wb.autotune(
        bound | wb.bind("R/n_i", "thread.x") | wb.choose(wb.vectorize("R/n_o"), None, name="lanes"),
        target="h200", searcher="grid", database=tmp_path / "own.sqlite",
    ).result()  # fmt: skip
    assert {t.outcome for t in study.trials} <= {"estimated", "not built", "illegal"}


def test_on_a_gpu_candidates_are_checked_and_timed_by_the_process_that_owns_it(tmp_path, gpu):
    gpu("FakeDriver")
    study = wb.autotune(threads_sketch(), target="cuda", searcher="grid", database=tmp_path / "gpu.sqlite").result()
    assert isinstance(study._runner, GpuRunner)
    assert not study.ranked
    assert study.measured
    assert str(study.key.problem).endswith("on h200")
    assert {t.outcome for t in study.trials} == {"measured"}
    assert all(t.seconds > 0 and t.estimate is None for t in study.trials)
    assert all(t.confirmed for t in study.trials)


@pytest.mark.parametrize(
    ("driver", "outcome", "said"),
    [
        ("Faulting", "crashed", "illegal memory access"),
        ("Hanging", "timed out", "did not answer within"),
        ("Lazy", "wrong", "DIFFERS from the oracle"),
    ],
)
def test_what_a_gpu_makes_of_a_bad_candidate_is_an_outcome_and_the_study_goes_on(tmp_path, gpu, driver, outcome, said):
    gpu(driver)
    sketch = wb.where(threads_sketch(), "threads >= 64")
    study = wb.autotune(
        sketch, target="h200", searcher="grid", database=tmp_path / "bad.sqlite", limits=Limits(run_seconds=6.0)
    )
    study.result()
    found = {t.point["threads"]: t for t in study.trials if t.source == "search"}
    assert found[64].outcome == "measured"
    assert found[256].outcome == outcome
    assert said in found[256].message
    assert study.best_trial.score is not None
    assert study._runner.runner.pid is None or not alive(study._runner.runner.pid)


@pytest.mark.parametrize(
    ("driver", "said"),
    [
        ("tests.tune.gpu_drivers:Absent", "no attribute 'Absent'"),
        ("tests.tune.gpu_drivers:Ending", "the process that opened its driver ended with exit status 3"),
    ],
)
def test_where_a_gpu_cannot_be_used_a_study_says_why_it_ranks(driver, said, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, driver)
    with pytest.warns(RuntimeWarning, match=f"candidates are ranked, not measured: .*{said}") as noted:
        study = wb.autotune(threads_sketch(), target="h200", trials=0, database=tmp_path / "own.sqlite")
    assert study.ranked
    assert noted[0].filename == __file__


def test_whatever_happens_to_a_check_the_estimate_stands(tmp_path, no_gpu, monkeypatch):
    class Failing:
        def ask(self, request: object, seconds: float) -> None:
            raise MemoryError("no memory is left")

    monkeypatch.setattr(RankingRunner, "_checking", lambda self, seconds: Failing())
    study = wb.autotune(threads_sketch(), target="cuda", searcher="grid", database=tmp_path / "own.sqlite").result()
    assert study.state == "finished"
    assert {t.outcome for t in study.trials} == {"estimated"}
    assert not any(t.confirmed for t in study.trials)
    assert "not executed by the processor: no memory is left" in study.best_trial.message
    assert "its results were not compared" in str(study)


def test_a_kernel_that_writes_nothing_is_not_right_where_another_one_left_its_results(monkeypatch, compilers):
    class Driver(FakeDriver):
        works = True

        def launch(self, *arguments: object) -> None:
            if self.works:
                super().launch(*arguments)

    driver = Driver()
    monkeypatch.setattr(gpu_timing, "the_driver", lambda: driver)
    kernel = wb.generate(threads_sketch().at({"threads": 64}), "cuda")
    given = workload(wb.schedule(ODD, **SIZES).program)
    judged = []
    for driver.works in (True, False):  # the second call gets the memory of the first
        judged.append(bool(given.expected.judged([gpu_timing.prepared(kernel, given)().numpy()])))
    assert judged == [True, False]


def test_measurements_and_estimates_are_different_problems(tmp_path, gpu, ranked):
    gpu("FakeDriver")
    study = wb.autotune(ODD, sizes=SIZES, target="h200", trials=0, database=ranked.database, seed=1)
    assert study.key.problem.key != ranked.key.problem.key
    assert study.trials == ()
    mine = wb.autotune(
        ODD, sizes=SIZES, target="h200", trials=0, database=ranked.database, seed=1, runner=RankingRunner()
    )
    assert len(mine.trials) == len(ranked.trials)


def test_measured_trials_say_how_well_the_model_ranks(tmp_path, gpu):
    gpu("FakeDriver")
    study = wb.autotune(ODD, SIZES, "cuda", 4, "random", tmp_path / "ranks.sqlite", seed=1).result()
    found = quality(study)
    assert found is not None
    assert found.count == sum(t.measured for t in study.trials) == 5
    assert estimated(study.best, study.assignment.target) > 0


def test_a_worker_without_the_gpu_measures_nothing(tmp_path, no_gpu, monkeypatch):
    monkeypatch.setattr(dask_runner, "usual_runner", at_hand.usual_runner)
    study = wb.autotune(threads_sketch(), target="h200", trials=0, database=tmp_path / "own.sqlite")
    with pytest.raises(WorkbenchError, match="this worker has no h200 to measure on"):
        dask_runner._runner_of(study.assignment)


def test_another_gpu_than_the_one_at_hand_is_ranked(gpu):
    gpu("FakeDriver")
    assert isinstance(at_hand.usual_runner("a100"), RankingRunner)
    assert isinstance(at_hand.usual_runner("h200"), GpuRunner)
    assert at_hand.tuned_target("cuda").name == "h200"
    assert at_hand.tuned_target("a100") == "a100"


def test_hip_and_a_missing_compiler_are_refused_in_words(tmp_path, monkeypatch, no_gpu):
    with pytest.raises(WorkbenchError, match="autotune takes C and CUDA; HIP is written as text only"):
        wb.autotune(ODD, sizes=SIZES, target="hip", database=tmp_path / "a.sqlite")
    monkeypatch.setattr("workbench.runtime.compilers.gpu_compiling.nvrtc", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BuildError, match="no CUDA compiler is found: pip install nvidia-cuda-nvrtc"):
        wb.autotune(ODD, sizes=SIZES, target="h200", database=tmp_path / "b.sqlite", runner=RankingRunner())
