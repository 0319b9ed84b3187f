"""Engines that crash, hang or lie: the host takes over and says so, or an error names them."""

from __future__ import annotations

import ctypes
import time
import warnings

import numpy as np
import pytest

import workbench as wb
from workbench.errors import EngineError

MODEL = wb.model("""
def twice(float(N) x) -> (y) { y(i) = 2.0 * x(i) }
fn main(x: float32[n]) { softplus(twice(x)) }
""")
X = np.array([0.5, -1.0, 2.0], "float32")


def crashing(region):
    raise RuntimeError("no licence for this machine")


def raising(region):
    def run(x):
        raise ValueError("out of luck")

    return run


def hanging(region):
    return lambda x: time.sleep(30)


def wide(region):
    return lambda x: region.evaluate(x).astype("float64")


def short(region):
    return lambda x: region.evaluate(x)[:-1]


def talkative(region):
    return lambda x: (region.evaluate(x), 3)


def wordy(region):
    return lambda x: "done"


def greedy(region):
    def run(x):
        x[...] = 0
        return region.evaluate(x)

    return run


def off(region):
    return lambda x: region.evaluate(x) + np.float32(0.25)


def absent(region):
    return None


CASES = [
    (absent, "compile returned None, which cannot be called"),
    (crashing, "compiling of e_1: RuntimeError: no licence for this machine"),
    (raising, "the first call of e_1: ValueError: out of luck"),
    (hanging, "the first call of e_1: hangs: it has not ended within 0.2 s"),
    (wide, r"returned float64\[3\] as result 0, expected float32\[3\]"),
    (short, r"returned float32\[2\] as result 0, expected float32\[3\]"),
    (talkative, "returned 2 results, expected 1"),
    (wordy, "returned <U4 as result 0"),
    (greedy, "ValueError: assignment destination is read-only"),
    (off, r"result 0 is wrong at \(0,\): 1.56326, and the oracle says 1.31326"),
]


@pytest.mark.parametrize(("compiler", "words"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_the_host_takes_over_and_says_so(compiler, words):
    engine = wb.engine("e")(compiler)
    partition = wb.partition(MODEL, [engine], by="rules", host="interpreter", check=True, timeout_seconds=0.2)
    with pytest.warns(RuntimeWarning, match=f"the engine 'e'.*{words}.*the host computes it from now on"):
        found = partition.evaluate(X)
    np.testing.assert_array_equal(found, MODEL.evaluate(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(partition.evaluate(X), MODEL.evaluate(X))  # it is not asked again
    assert len(partition.reports) == 1
    assert words.replace("\\", "") in str(partition)


@pytest.mark.parametrize(("compiler", "words"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_or_an_error_names_the_engine(compiler, words):
    engine = wb.engine("e")(compiler)
    partition = wb.partition(
        MODEL, [engine], by="rules", host="interpreter", check=True, timeout_seconds=0.2, on_failure="raise"
    )
    with pytest.raises(EngineError, match=f"the engine 'e'.*{words}"):
        partition.evaluate(X)


def test_an_engine_that_takes_the_process_with_it_is_found_in_a_process_of_its_own():
    @wb.engine("deadly")
    def deadly(region):
        return lambda x: ctypes.string_at(0)

    partition = wb.partition(MODEL, [deadly], by="rules", host="interpreter", isolate=True)
    with pytest.warns(RuntimeWarning, match="it took its process with it"):
        found = partition.evaluate(X)
    np.testing.assert_array_equal(found, MODEL.evaluate(X))


def test_a_process_of_its_own_is_ended_when_it_hangs_and_does_no_harm_when_it_works():
    for compiler, working in ((hanging, False), (lambda region: region.evaluate, True)):
        engine = wb.engine("e")(compiler)
        partition = wb.partition(MODEL, [engine], by="rules", host="interpreter", isolate=True, timeout_seconds=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            np.testing.assert_array_equal(partition.evaluate(X), MODEL.evaluate(X))
        assert (not partition.reports) is working


def test_one_that_fails_later_is_replaced_then():
    calls = []

    @wb.engine("tired")
    def tired(region):
        def run(x):
            calls.append(x)
            return region.evaluate(x) if len(calls) < 3 else None

        return run

    partition = wb.partition(MODEL, [tired], by="rules", host="interpreter")
    for _ in range(2):
        partition.evaluate(X)
    with pytest.warns(RuntimeWarning, match="a call of tired_1"):
        np.testing.assert_array_equal(partition.evaluate(X), MODEL.evaluate(X))


def test_one_that_refuses_a_shape_when_it_sees_it_gives_that_shape_back():
    @wb.engine("odd", supports=lambda site: site.arguments[0].shape != (3,) or "no vectors of three")
    def odd(region):
        return region.evaluate

    partition = wb.partition(MODEL, [odd], by="rules", host="interpreter")
    partition.evaluate(X[:2])
    assert not partition.reports
    with pytest.warns(RuntimeWarning, match="asked about these shapes.*no vectors of three"):
        np.testing.assert_array_equal(partition.evaluate(X), MODEL.evaluate(X))


def test_a_predicate_that_fails_is_a_refusal():
    engine = wb.engine("broken", supports=lambda site: 1 / 0)(lambda region: region.evaluate)
    partition = wb.partition(MODEL, [engine], by="rules", host="interpreter")
    assert not partition.regions
    assert "its `supports` failed: ZeroDivisionError" in str(partition)


def test_arguments_that_do_not_fit_are_the_callers_mistake():
    engine = wb.engine("e")(lambda region: region.evaluate)
    partition = wb.partition(MODEL, [engine], by="rules", host="interpreter")
    with pytest.raises(wb.errors.CallError, match=r"x: expected type float32\[n\]"):
        partition.evaluate(X.astype("float64"))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: wb.engine("a b"), "an engine's name is letters"),
        (lambda: wb.engine("e")(3), r"has no compile\(subgraph\)"),
        (lambda: wb.engine("e")(type("Half", (), {"compile": None, "save": print})), "no compile"),
        (lambda: wb.engine("e")(type("Half", (), {"compile": print, "save": print})), "needs both, or neither"),
        (lambda: wb.partition(MODEL, ["nothing"]), "unknown engine 'nothing'"),
        (lambda: wb.graph.engines.partition(3, []), "partition takes a model, not 3"),
    ],
)
def test_wrong_engines_are_refused_with_words(made, words):
    with pytest.raises(wb.errors.WorkbenchError, match=words):
        made()
