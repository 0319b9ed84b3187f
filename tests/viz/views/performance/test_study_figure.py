"""The charts of a study: made from its trials, whatever they are, in both themes."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.tune.support import sketch
from workbench.errors import WorkbenchError
from workbench.tune.importance import importance
from workbench.tune.trials import Trial


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    database = tmp_path_factory.mktemp("study") / "trials.sqlite"
    return wb.autotune(sketch(), trials=10, database=database, seed=1).result()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_chart_has_something_to_show(study, theme):
    figure = study.figure(theme=theme, baselines={"PyTorch": 1e-4})
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [
        "trials, and the best so far", "outcomes", "which decisions matter", "predicted before it was measured",
        "how well the model ranks", "all trials, decision by decision",
    ]  # fmt: skip
    assert figure._repr_png_()[:4] == b"\x89PNG"
    trials = figure.axes[0]
    points = trials.lines[0]
    assert list(points.get_xdata()) == [t.number for t in study.trials if t.source == "search"]
    best = list(trials.lines[1].get_ydata())
    assert best == sorted(best, reverse=True)
    assert [text.get_text() for text in trials.texts] == ["default recipe", "PyTorch"]


def test_a_study_without_trials_is_drawn_with_words(tmp_path):
    empty = wb.autotune(sketch(), trials=0, database=tmp_path / "empty.sqlite")
    words = [text.get_text() for axes in empty.figure().axes for text in axes.texts]
    assert {"nothing measured yet", "too few trials", "no predictions", "no round was predicted"} <= set(words)
    assert empty.figure("outcomes").axes[0].get_title(loc="left") == "outcomes"


def test_charts_and_themes_that_are_unknown_are_named(study):
    with pytest.raises(WorkbenchError, match="unknown chart 'trails'; did you mean 'trials'"):
        study.figure("trails")
    with pytest.raises(WorkbenchError, match="unknown theme 'blue'"):
        study.figure(theme="blue")


def test_importance_is_what_a_decision_explains():
    def trial(n: int, a: int, b: int) -> Trial:
        return Trial(n, {"a": a, "b": b, "c": n}, "measured", 1e-3 * 2**a * 1.01**b)

    trials = [trial(n, n % 3, n // 3 % 3) for n in range(27)]
    found = importance(trials)
    assert next(iter(found)) == "a"
    assert found["a"] > 0.95
    assert found["b"] < 0.02
    assert "c" not in found  # with as many options as trials nothing can be told from chance
    assert importance(trials[:3]) == {}
